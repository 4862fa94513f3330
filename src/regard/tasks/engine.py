"""Who computes searches: the seam between a translator and its engines, and torch, which is always there."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Protocol, runtime_checkable

import numpy as np

from regard.data.batches import group_by_length
from regard.decoding import Hypothesis
from regard.layers.packed import Packing
from regard.tasks.pairs import Tokenizers
from regard.tasks.searching import Asked, Habits, Search, Searcher

BATCH_TOKENS = 2048
Found = tuple[list[int], list[list[Hypothesis]]]
"""Numbers of texts, and of each of them what was found, best first."""


@runtime_checkable
class Engine(Protocol):
    """The texts are the same, whoever searches, but for what float rounding decides."""

    name: str

    def search(self, asked: Sequence[Asked], how: Search) -> Iterator[Found]:
        """What was found for each text, in the order in which it comes."""
        ...

    def aside(self, what: str) -> None:
        """Hears of what is asked of the model besides searches: torch computes that."""
        ...


class TorchEngine:
    """The model as it is: it can do all that may be asked, and others are measured by it."""

    name = "torch"

    def __init__(self, model: Any, tokenizers: Tokenizers, habits: Habits) -> None:
        self.model, self.tokenizers, self.habits = model, tokenizers, habits
        self._packing = Packing(model)

    def search(self, asked: Sequence[Asked], how: Search) -> Iterator[Found]:
        """The short ones come first."""
        searcher = Searcher(self.model, self.tokenizers, self.habits, how)
        for batch in batches(asked, max(BATCH_TOKENS // how.rows, int(self.model.config.limit))):
            with self._packing.used():
                found = searcher([asked[i] for i in batch])
            yield batch, found

    def aside(self, what: str) -> None:
        """That is its work, too."""


def batches(asked: Sequence[Asked], budget: int) -> Iterator[list[int]]:
    """Texts that are searched together: of like length, their translations begun by equally many tokens. budget: most
    tokens of their sources, padding included."""
    if len(asked) == 1:  # sorting it would take as long as a small model takes for a token
        yield [0]
        return
    begun = sorted(range(len(asked)), key=lambda i: len(asked[i].prefix))
    for _, alike in groupby(begun, key=lambda i: len(asked[i].prefix)):
        numbers = np.array(list(alike))
        lengths = np.array([[len(asked[i].source)] for i in numbers.tolist()], dtype=np.int64)
        for group in group_by_length(lengths, budget, np.arange(len(numbers))):
            yield numbers[group].tolist()
