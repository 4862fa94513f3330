"""Which sentences go together into a batch, and in which order batches come: a function of (seed, step) alone.

Sentences of like length share a batch, so that little is padded; a batch holds as many as fit a budget of tokens. Every
epoch groups and orders anew.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
from jaxtyping import Int
from pydantic import Field
from torch import Tensor

from regard.sections import Section
from regard.seeds import derive

Lengths = np.ndarray


class BatchConfig(Section):
    """How much goes into one update."""

    tokens: int = Field(4096, gt=0, description="most tokens on either side of a batch, padding included")


@dataclass(frozen=True)
class PairBatch:
    """Source and target sentences, padded on the right. The decoder reads target[:, :-1] and predicts target[:, 1:]."""

    source: Int[Tensor, "B S"]
    source_lengths: Int[Tensor, "B"]
    target: Int[Tensor, "B T"]
    target_lengths: Int[Tensor, "B"]

    def to(self, device: torch.device | str) -> "PairBatch":
        moved = {field.name: getattr(self, field.name).to(device, non_blocking=True) for field in fields(self)}
        return PairBatch(**moved)


def pad(rows: Sequence[Sequence[int]], filler: int) -> tuple[Int[Tensor, "B S"], Int[Tensor, "B"]]:
    """Rows of unequal length as one rectangle, and their lengths."""
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    block = np.full((len(rows), int(lengths.max(initial=1))), filler, dtype=np.int64)
    for line, row in zip(block, rows, strict=True):
        line[: len(row)] = row
    return torch.from_numpy(block), torch.from_numpy(lengths)


def group_by_length(lengths: Lengths, budget: int, order: np.ndarray) -> list[np.ndarray]:
    """Groups of row numbers whose padded size stays within the budget on every side. lengths: (rows, sides).

    `order` decides among rows of equal length, so that an epoch's groups differ from the last one's. By target length
    first; within one, source lengths go up and, in the next, down again: no jump from long to short to pad for.
    """
    *others, last = lengths[order].T
    keys = [np.where(last % 2, -side, side) for side in others]
    ranked = order[np.lexsort((*keys, last))]
    groups, first, widest = [], 0, np.zeros(lengths.shape[1], dtype=np.int64)
    for place, row in enumerate(ranked):
        grown = np.maximum(widest, lengths[row])
        if place > first and int(grown.max()) * (place - first + 1) > budget:
            groups.append(ranked[first:place])
            first, grown = place, lengths[row]
        widest = grown
    return [*groups, ranked[first:]]


class Order:
    """The endless sequence of groups: `order[step]` is the same for the same seed, whatever was asked before."""

    def __init__(self, lengths: Lengths, budget: int, seed: int) -> None:
        self.lengths, self.budget, self.seed = lengths, budget, seed
        self._first_steps = [0]  # of each epoch counted so far, and of the next
        self._planned: tuple[int, list[np.ndarray]] = (-1, [])  # the epoch that was asked for last

    def __getitem__(self, step: int) -> np.ndarray:
        epoch = self.epoch(step)
        return self._plan(epoch)[step - self._first_steps[epoch]]

    def epoch(self, step: int) -> int:
        """The epoch that a step belongs to."""
        while self._first_steps[-1] <= step:
            last = len(self._first_steps) - 1
            self._first_steps.append(self._first_steps[last] + len(self._plan(last)))
        return bisect_right(self._first_steps, step) - 1

    def updates_per_epoch(self) -> int:
        """Of the first epoch; later ones differ by a few."""
        self.epoch(0)
        return self._first_steps[1]

    def _plan(self, epoch: int) -> list[np.ndarray]:
        if self._planned[0] != epoch:
            random = np.random.default_rng(derive(self.seed, "data", epoch))
            groups = group_by_length(self.lengths, self.budget, random.permutation(len(self.lengths)))
            self._planned = epoch, [groups[i] for i in random.permutation(len(groups))]
        return self._planned[1]
