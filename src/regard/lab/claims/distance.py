"""How far may the clue be, and on which side?

A recurrent network carries what it has read from word to word, in one direction; two directions know both sides
(Schuster & Paliwal 1997; Bahdanau et al. 2015); attention reaches every word in one step, however far it is (Vaswani et
al. 2017, arXiv:1706.03762, table 1: the length of the path between two words).

A word with two meanings stands somewhere in a long sentence, its clue at some distance before or after it, and between
them clues to other words with two meanings. What does the word mean? Asked at the word itself, of four networks of the
same width, two of which attend: the Transformer, and an RNN in two directions that looks at all words once.

At first the worst place of the Transformer was compared with the worst of the RNN, which cannot know what follows: that
judged the direction alone. Both are judged since, the distance against an RNN that knows both sides; and since the
title says "attention", both networks that attend must be ahead. This was written before the full run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import Attends, attend
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.series import over_seeds
from regard.layers import POSITIONS, Block, Encoder, Shape
from regard.report import Plot

STATISTIC = (
    "How often the meaning is found (chance: 0.5), the smaller of two differences. Direction: attention minus the RNN "
    "in one direction, where the clue is the next word. Distance: attention minus the RNN in two directions, where the "
    "clue is 20 words away (on the side where the difference is smaller). Attention: the Transformer or the RNN with "
    "attention, whichever finds less."
)
THRESHOLD = 0.3

AMBIGUOUS, FILLERS = 6, 30
"""Words with two meanings, each with a clue to either; and words that mean nothing."""
FIRST_CLUE, FIRST_FILLER = AMBIGUOUS, 3 * AMBIGUOUS
VOCABULARY = FIRST_FILLER + FILLERS
WIDTH, LENGTH = 48, 41
DISTANCES = (-20, -12, -6, -2, -1, 1, 2, 6, 12, 20)
"""Where the clue stands, seen from the word: below 0 before it."""
BEFORE, AFTER = -1, 1
"""The nearest places."""


@dataclass(frozen=True)
class Batch:
    """Sentences whose word in the middle is asked for; which of its two meanings it has."""

    words: Tensor
    meanings: Tensor


def sentences(count: int, distance: int, chance: torch.Generator) -> Batch:
    """With the clue so far away, and clues to all other words scattered about."""
    words = torch.randint(FIRST_FILLER, VOCABULARY, (count, LENGTH), generator=chance)
    asked = torch.randint(0, AMBIGUOUS, (count,), generator=chance)
    others = (asked[:, None] + torch.arange(1, AMBIGUOUS)) % AMBIGUOUS
    scattered = torch.rand(count, LENGTH, generator=chance).argsort(1)[:, : AMBIGUOUS - 1]
    words.scatter_(1, scattered, FIRST_CLUE + 2 * others + torch.randint(0, 2, others.shape, generator=chance))
    meanings = torch.randint(0, 2, (count,), generator=chance)
    middle = LENGTH // 2
    words[:, middle] = asked
    words[:, middle + distance] = FIRST_CLUE + 2 * asked + meanings
    return Batch(words, meanings)


class Recurrent(nn.Module):
    """A recurrent network in one direction or two; what it knows at the word."""

    def __init__(self, directions: int) -> None:
        super().__init__()
        self.encoder = Encoder("gru", inputs=WIDTH, width=WIDTH, directions=directions)

    def forward(self, x: Tensor) -> Tensor:
        return self.encoder(x, torch.full((len(x),), x.shape[1]))[0][:, LENGTH // 2]  # type: ignore[no-any-return]


class Looking(Attends):
    """The same in two directions; at the word it looks at all others once."""

    def __init__(self) -> None:
        super().__init__("align")
        self.encoder = Encoder("gru", inputs=WIDTH, width=WIDTH, directions=2)
        self.query, self.keys = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.join = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        states, _ = self.encoder(x, torch.full((len(x),), x.shape[1]))
        middle = states[:, LENGTH // 2]
        asks = self.query(middle)[:, None, None]
        found = attend(asks, self.keys(states)[:, None], states[:, None], tap=self.tap())[:, 0, 0]
        return torch.tanh(self.join(torch.cat((middle, found), dim=-1)))


class Blocks(nn.Module):
    """Two blocks of the Transformer's encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.positions = POSITIONS["sinusoidal"](LENGTH, WIDTH)
        shape = Shape(width=WIDTH, heads=4, hidden=2 * WIDTH)
        self.blocks = nn.ModuleList(Block(shape, name=f"encoder.{i}") for i in range(2))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.positions(0, LENGTH)
        for block in self.blocks:
            x, _ = block(x)
        return self.norm(x)[:, LENGTH // 2]  # type: ignore[no-any-return]


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "RNN": lambda: Recurrent(1),
    "RNN in two directions": lambda: Recurrent(2),
    "RNN with attention": Looking,
    "Transformer": Blocks,
}


ATTENDING = ("RNN with attention", "Transformer")


class Reader(nn.Module):
    """Words, a network over them, and a score for either meaning of the word in the middle."""

    def __init__(self, network: str) -> None:
        super().__init__()
        self.words, self.network, self.score = nn.Embedding(VOCABULARY, WIDTH), NETWORKS[network](), nn.Linear(WIDTH, 2)

    def forward(self, words: Tensor) -> Tensor:
        scores: Tensor = self.score(self.network(self.words(words)))
        return scores


def trained(network: str, *, seed: int, updates: int) -> Reader:
    """On clues at all distances alike."""
    torch.manual_seed(seed)
    model, chance = Reader(network), torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(updates):
        batches = [sentences(8, distance, chance) for distance in DISTANCES]
        words, meanings = torch.cat([b.words for b in batches]), torch.cat([b.meanings for b in batches])
        loss = F.cross_entropy(model(words), meanings)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return model.eval()


@torch.inference_mode()
def accuracy(model: nn.Module, distance: int, *, count: int = 400) -> float:
    batch = sentences(count, distance, torch.Generator().manual_seed(999))
    return float((model(batch.words).argmax(1) == batch.meanings).float().mean())


def measure(setting: Setting) -> Measured:
    found = {}
    for network in NETWORKS:
        model = trained(network, seed=setting.seed, updates=setting.of(400, 1500))
        found[network] = [accuracy(model, distance) for distance in DISTANCES]
    far = (min(DISTANCES), max(DISTANCES))
    direction = {who: ahead(found, who, "RNN", AFTER) for who in ATTENDING}
    distance = {who: min(ahead(found, who, "RNN in two directions", at) for at in far) for who in ATTENDING}
    near = [ahead(found, who, network, BEFORE) for who in ATTENDING for network in ("RNN", "RNN in two directions")]
    return Measured(
        value=min(*direction.values(), *distance.values()),
        control=max(near),
        numbers={
            **{f"direction: {who} ahead of the RNN, the clue is the next word": lead
               for who, lead in direction.items()},
            **{f"distance: {who} ahead of the RNN in two directions, the clue is 20 words away": lead
               for who, lead in distance.items()},
            **{
                f"{place(at)}: {network}": shares[DISTANCES.index(at)]
                for at in far
                for network, shares in found.items()
            },
        },
        series={"distances": list(DISTANCES), "found": found},
    )  # fmt: skip


def ahead(found: Mapping[str, Sequence[float]], who: str, network: str, distance: int) -> float:
    """By how much one network finds more than another, where the clue is so far away."""
    at = DISTANCES.index(distance)
    return found[who][at] - found[network][at]


def place(distance: int) -> str:
    return f"{abs(distance)} words {'before' if distance < 0 else 'after'}"


def draw(measured: Sequence[Measured]) -> list[Figure]:
    found = measured[0].series["found"]
    series = [over_seeds(network, [one.series["found"][network] for one in measured]) for network in found]
    caption = "Below 0 the clue stands before the word, above 0 behind it; chance is 0.5."
    distances = measured[0].series["distances"]
    return [Plot("lines", distances, series, "where the clue stands, in words from the word", "right", caption)]


CLAIM = Claim(
    name="distance",
    title="Attention finds a clue however far it is, and on either side",
    question="At which distance, before or behind a word, is the clue to its meaning still found, by what?",
    source="Bahdanau et al. 2015; Vaswani et al. 2017, table 1",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    control="the largest of these differences where the clue is the word just before: all know what was before, and "
    "nothing need be carried far.",
    measure=measure,
    draw=draw,
)
