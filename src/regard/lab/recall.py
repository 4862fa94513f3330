"""The smallest task that needs attention: a row of pairs, name and value, then a name; which value was its?

Whoever does not look at the right place can only guess. `Finder` does nothing but attend, so that what is learned, and
how fast, depends on the score and the normaliser alone.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import SCORES, Attends, Normaliser, attend, softmax
from regard.seeds import derive

NAMES, VALUES, PAIRS = 64, 16, 16
"""Different names and values, and how many pairs there are to choose from."""


class Riddle(NamedTuple):
    """Pairs, the name that is asked for, the value that is right, and the place where it stands."""

    names: Int[Tensor, "B S"]
    values: Int[Tensor, "B S"]
    asked: Int[Tensor, "B"]
    answer: Int[Tensor, "B"]
    place: Int[Tensor, "B"]


def riddles(count: int, generator: torch.Generator) -> Riddle:
    """No name stands twice in a row of pairs."""
    names = torch.rand(count, NAMES, generator=generator).argsort(-1)[:, :PAIRS]
    values = torch.randint(VALUES, (count, PAIRS), generator=generator)
    place = torch.randint(PAIRS, (count,), generator=generator)
    rows = torch.arange(count)
    return Riddle(names, values, names[rows, place], values[rows, place], place)


def endless(seed: int, count: int) -> Iterator[Riddle]:
    """Batches without end, the same for the same seed."""
    generator = torch.Generator().manual_seed(derive(seed, "riddles"))
    while True:
        yield riddles(count, generator)


class Finder(Attends):
    """scores(value) = W attend(W_q E asked, W_k E names, V values). Queries and keys start with variance 1."""

    def __init__(self, width: int, *, score: str = "scaled-dot", seed: int = 0) -> None:
        super().__init__("finder")
        torch.manual_seed(derive(seed, "finder"))
        self.names, self.values = nn.Embedding(NAMES, width), nn.Embedding(VALUES, width)
        self.query, self.key = (nn.Linear(width, width, bias=False) for _ in range(2))
        for projection in (self.query, self.key):
            nn.init.xavier_uniform_(projection.weight)
        self.score = SCORES[score](query=width, key=width, limit=PAIRS)
        self.output = nn.Linear(width, VALUES)

    def forward(self, riddle: Riddle, *, normalise: Normaliser = softmax) -> Float[Tensor, "B V"]:
        query = self.query(self.names(riddle.asked))[:, None, None]
        keys = self.score.prepare(self.key(self.names(riddle.names)))[:, None]
        values = self.values(riddle.values)[:, None]
        context = attend(query, keys, values, score=self.score, normalise=normalise, tap=self.tap())
        found: Tensor = self.output(context[:, 0, 0])
        return found

    def looking(self) -> list[nn.Parameter]:
        """The parameters by which it chooses where to look."""
        parts = (self.query, self.key, self.score)
        return [parameter for part in parts for parameter in part.parameters()]


Loss = Callable[[Finder, Riddle], Tensor]


def answered(finder: Finder, riddle: Riddle) -> Float[Tensor, ""]:
    """How surprising the right answers are, in nats."""
    return F.cross_entropy(finder(riddle), riddle.answer)


def taught(finder: Finder, *, seed: int, updates: int, loss: Loss = answered, rate: float = 1e-3) -> Finder:
    """The finder after so many updates, with Adam, of 64 riddles each."""
    optimiser = torch.optim.Adam(finder.parameters(), lr=rate)
    for _, riddle in zip(range(updates), endless(seed, 64), strict=False):
        optimiser.zero_grad()
        loss(finder, riddle).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return finder


@torch.no_grad()
def accuracy(finder: Finder, *, normalise: Normaliser = softmax, count: int = 4000) -> float:
    """The share of riddles that it solves, among some that it has not been taught with."""
    riddle = riddles(count, torch.Generator().manual_seed(derive(0, "examination")))
    found = finder(riddle, normalise=normalise).argmax(-1)
    return float((found == riddle.answer).float().mean())
