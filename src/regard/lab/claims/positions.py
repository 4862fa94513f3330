"""Without positions, are lion and zebra the same? And which positions are best?

Attention treats a sentence as a set (Vaswani et al. 2017, arXiv:1706.03762, section 3.5): order must be put back in.
The paper adds sine waves and found learned vectors as good on sentences as long as those in training; it hoped that
waves would serve longer ones. Adding could be replaced by concatenating, at the price of width.

A small encoder reads sentences of two animals, a verb and other words, and points at the animal that does it: the one
before the verb. The control points at the tame one of the two, for which order does not matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import padding_mask
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.series import over_seeds
from regard.layers import POSITIONS, Block, Shape
from regard.report import Plot

STATISTIC = (
    "How often the animal that does it is found, with sine waves added minus without positions, in sentences as long "
    "as those in training (chance: 0.5)."
)
THRESHOLD = 0.4

WILD = ("lion", "wolf", "bear", "fox", "tiger", "eagle")
TAME = ("zebra", "dog", "horse", "cat", "goat", "hen")
VERBS = ("chased", "saw", "followed", "heard", "bit", "met")
OTHERS = ("yesterday", "the", "near", "old", "quietly", "again", "big", "by", "river", "today", "small", "often")
WORDS = (*WILD, *TAME, *VERBS, *OTHERS)
WIDTH, LONGEST = 48, 16
LENGTHS = ((4, 8), (9, 16), (17, 24), (25, 32), (33, 48))
"""From and to how many words; training has those up to LONGEST."""
WAYS = {
    "none": ("none", False),
    "waves, added": ("sinusoidal", False),
    "waves, concatenated": ("sinusoidal", True),
    "learned, added": ("learned", False),
    "learned, concatenated": ("learned", True),
}
"""Which positions, and whether they stand beside the word instead of in it."""


@dataclass(frozen=True)
class Batch:
    """Sentences of one length as numbers of words; where their two animals stand, and which of the two is asked for."""

    words: Tensor
    places: Tensor
    does: Tensor
    tame: Tensor


def sentences(count: int, length: int, chance: torch.Generator) -> Batch:
    """Animal … verb … animal with other words anywhere between."""
    words = torch.randint(len(WILD) + len(TAME) + len(VERBS), len(WORDS), (count, length), generator=chance)
    places = torch.rand(count, length, generator=chance).argsort(1)[:, :3].sort(1).values
    wild = torch.randint(0, len(WILD), (count,), generator=chance)
    tame = torch.randint(len(WILD), len(WILD) + len(TAME), (count,), generator=chance)
    verbs = torch.randint(12, 12 + len(VERBS), (count,), generator=chance)
    tame_first = torch.rand(count, generator=chance) < 0.5
    first, last = torch.where(tame_first, tame, wild), torch.where(tame_first, wild, tame)
    words.scatter_(1, places, torch.stack((first, verbs, last), 1))
    # the two animals in an order that tells nothing: the wild one, then the tame one
    animals = torch.where(tame_first[:, None], places[:, [2, 0]], places[:, [0, 2]])
    return Batch(words, animals, tame_first.long(), torch.ones(count, dtype=torch.long))


class Pointer(nn.Module):
    """Two blocks of the Transformer's encoder, and a score for each word."""

    def __init__(self, positions: str, *, beside: bool) -> None:
        super().__init__()
        share = WIDTH // 2 if beside else WIDTH
        self.beside = beside
        self.words = nn.Embedding(len(WORDS), share)
        self.positions = POSITIONS[positions](LENGTHS[-1][1], share)
        shape = Shape(width=WIDTH, heads=4, hidden=2 * WIDTH)
        self.blocks = nn.ModuleList(Block(shape, name=f"encoder.{i}") for i in range(2))
        self.norm, self.score = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 1)

    def encode(self, words: Tensor) -> Tensor:
        """(B S D): each word in the light of all others."""
        x = self.words(words)
        where = self.positions(0, words.shape[1]).expand_as(x)
        x = torch.cat((x, where), dim=-1) if self.beside else x + where
        mask = padding_mask(torch.full((len(words),), words.shape[1]), words.shape[1])
        for block in self.blocks:
            x, _ = block(x, mask=mask)
        states: Tensor = self.norm(x)
        return states

    def forward(self, batch: Batch) -> Tensor:
        """(B 2): a score for the wild animal and for the tame one."""
        scores: Tensor = self.score(self.encode(batch.words))
        return scores[..., 0].gather(1, batch.places)


def trained(way: str, asked: str, *, seed: int, updates: int) -> Pointer:
    """A pointer that has learned to find `asked`, "does" or "tame", in sentences up to LONGEST words."""
    torch.manual_seed(seed)
    positions, beside = WAYS[way]
    model, chance = Pointer(positions, beside=beside), torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(updates):
        length = int(torch.randint(LENGTHS[0][0], LONGEST + 1, (1,), generator=chance))
        batch = sentences(64, length, chance)
        loss = F.cross_entropy(model(batch), getattr(batch, asked))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return model.eval()


@torch.inference_mode()
def accuracy(model: Pointer, asked: str, lengths: tuple[int, int], *, count: int = 100) -> float:
    """How often it is right, over new sentences of these lengths."""
    chance = torch.Generator().manual_seed(999)
    batches = [sentences(count, length, chance) for length in range(lengths[0], lengths[1] + 1)]
    right = [model(batch).argmax(1) == getattr(batch, asked) for batch in batches]
    return float(torch.cat(right).float().mean())


@torch.inference_mode()
def difference(model: Pointer) -> float:
    """How far the vectors of *lion* lie apart in "lion chased zebra" and "zebra chased lion"."""
    lion, chased, zebra = (WORDS.index(word) for word in ("lion", "chased", "zebra"))
    states = model.encode(torch.tensor([[lion, chased, zebra], [zebra, chased, lion]]))
    return float((states[0, 0] - states[1, 2]).abs().max())


def measure(setting: Setting) -> Measured:
    updates = setting.of(400, 2000)
    models = {way: trained(way, "does", seed=setting.seed, updates=updates) for way in WAYS}
    tame = {way: trained(way, "tame", seed=setting.seed, updates=updates // 2) for way in ("none", "waves, added")}
    known = (LENGTHS[0][0], LONGEST)
    found = {way: [accuracy(model, "does", lengths) for lengths in LENGTHS] for way, model in models.items()}
    right = {way: accuracy(model, "does", known) for way, model in models.items()}
    return Measured(
        value=right["waves, added"] - right["none"],
        control=accuracy(tame["waves, added"], "tame", known) - accuracy(tame["none"], "tame", known),
        numbers={
            "the two lions' vectors differ by, without positions": difference(models["none"]),
            "the two lions' vectors differ by, with waves": difference(models["waves, added"]),
            **{f"right: {way}": share for way, share in right.items()},
            **{f"right, twice to thrice as long: {way}": shares[-1] for way, shares in found.items()},
        },
        series={"lengths": [f"{low}–{high}" for low, high in LENGTHS], "found": found},
    )


def draw(measured: Sequence[Measured]) -> list[Figure]:
    lengths = measured[0].series["lengths"]
    found = measured[0].series["found"]
    series = [over_seeds(way, [one.series["found"][way] for one in measured]) for way in found]
    caption = f"Who does it? Training had sentences of up to {LONGEST} words; chance is 0.5."
    return [Plot("lines", lengths, series, "words", "right", caption)]


CLAIM = Claim(
    name="positions",
    title="Without positions, lion and zebra are the same",
    question="Who chased whom, if a sentence is a set of words? Are waves or learned vectors better, added or "
    "concatenated, and how far beyond the training's lengths do they reach?",
    source="Vaswani et al. 2017, section 3.5",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    control="the same difference where the tame one of the two animals is asked for: no order is needed.",
    measure=measure,
    draw=draw,
)
