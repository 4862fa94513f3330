"""Which sentences go together into a batch, and in which order batches come: a function of (seed, step) alone.

Sentences of like length share a batch, so that little is padded; a batch holds as many as fit a budget of tokens. Every
epoch groups and orders anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

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


class Share(NamedTuple):
    """One part of a batch: every of-th row from this one on. The whole batch is Share()."""

    part: int = 0
    of: int = 1


WHOLE = Share()


class Sentences(NamedTuple):
    """Token ids, padded on the right, and how many of each row are real."""

    tokens: Int[Tensor, "B S"]
    lengths: Int[Tensor, "B"]


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

    `order` decides among rows of equal length, and nothing else: the sizes of the groups are the same for every order.
    """
    ranked = _ranked(lengths, order)
    return np.split(ranked, _cuts(lengths[ranked], budget))


class Order:
    """The endless sequence of groups: `order[step]` is the same for the same seed, whatever was asked before."""

    def __init__(self, lengths: Lengths, budget: int, seed: int) -> None:
        self.lengths, self.seed = lengths, seed
        self._cuts = _cuts(lengths[_ranked(lengths, np.arange(len(lengths)))], budget)
        self._planned: tuple[int, list[np.ndarray]] = (-1, [])  # the epoch that was asked for last

    @property
    def updates_per_epoch(self) -> int:
        return len(self._cuts) + 1

    def epoch(self, step: int) -> int:
        """The epoch that a step belongs to."""
        return step // self.updates_per_epoch

    def __getitem__(self, step: int) -> np.ndarray:
        epoch, place = divmod(step, self.updates_per_epoch)
        if self._planned[0] != epoch:
            random = np.random.default_rng(derive(self.seed, "data", epoch))
            groups = np.split(_ranked(self.lengths, random.permutation(len(self.lengths))), self._cuts)
            self._planned = epoch, [groups[i] for i in random.permutation(len(groups))]
        return self._planned[1][place]


def _ranked(lengths: Lengths, order: np.ndarray) -> np.ndarray:
    """The rows by target length; within one, source lengths go up and, in the next, down again: no jump to pad for."""
    *others, last = lengths[order].T
    keys = [np.where(last % 2, -side, side) for side in others]
    return order[np.lexsort((*keys, last))]


def _cuts(ranked: Lengths, budget: int) -> list[int]:
    """Where a new group must begin so that none outgrows the budget."""
    cuts, first, widest = [], 0, 0
    for place, longest in enumerate(ranked.max(axis=1).tolist()):
        grown = max(widest, longest)
        if place > first and grown * (place - first + 1) > budget:
            cuts.append(place)
            first, grown = place, longest
        widest = grown
    return cuts
