"""Which sentences go together into a batch, and in which order batches come: a function of (seed, step) alone.

Sentences of like length share a batch, so that little is padded; a batch holds as many as fit a budget of tokens. Every
epoch groups and orders anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from pydantic import Field
from torch import Tensor

from regard.errors import ConfigError
from regard.sections import Section
from regard.seeds import derive

Lengths = np.ndarray


class BatchConfig(Section):
    """How much goes into one update."""

    tokens: Annotated[int, Field(gt=0)] | Literal["auto"] = Field(
        4096, description="most tokens on either side of a batch, padding included; auto: as many as fit into memory"
    )

    @property
    def budget(self) -> int:
        """The number, once it is known."""
        if self.tokens == "auto":
            raise ConfigError("batch.tokens=auto is for `regard train`.", do="give a number")
        return self.tokens


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


def pad(
    rows: Sequence[Sequence[int] | np.ndarray], filler: int, *, before: Sequence[int] = (), behind: Sequence[int] = ()
) -> tuple[Int[Tensor, "B S"], Int[Tensor, "B"]]:
    """Rows of unequal length as one rectangle, and their lengths; `before` and `behind` are added to each row."""
    first = len(before)
    ends = first + np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    lengths = ends + len(behind)
    block = np.full((len(rows), int(lengths.max(initial=1))), filler, dtype=np.int64)
    for line, row, end, length in zip(block, rows, ends.tolist(), lengths.tolist(), strict=True):
        line[:first], line[first:end], line[end:length] = before, row, behind
    return torch.from_numpy(block), torch.from_numpy(lengths)


def group_by_length(lengths: Lengths, budget: int, order: np.ndarray) -> list[np.ndarray]:
    """Groups of row numbers whose padded size stays within the budget on every side. lengths: (rows, sides).

    `order` decides among rows of equal length, and nothing else: the sizes of the groups are the same for every order.
    """
    ranked = order[_ranked(lengths[order])]
    longest = lengths[ranked].max(axis=1)
    return np.split(ranked, _cuts(longest, np.ones_like(longest), budget))


class Order:
    """The endless sequence of groups: `order[step]` is the same for the same seed, whatever was asked before.

    Where the groups of an epoch begin is settled once; every epoch has other rows of the same length there, and the
    groups in another order. A row of weight 2 comes twice in an epoch, one of weight 0.5 in every other, by chance.
    Made for ten million rows: it holds eight bytes for each.
    """

    def __init__(self, lengths: Lengths, budget: int, seed: int, *, weights: Sequence[tuple[int, float]] = ()) -> None:
        """weights: (rows, weight) of each corpus, as they follow each other in `lengths`; if not given, all count 1."""
        self.seed = seed
        uneven = any(weight != 1 for _, weight in weights)
        self._slots = _Slots.of(lengths, weights) if uneven else None
        sizes = self._slots.lengths(lengths) if self._slots else lengths
        self._ranked = _ranked(sizes).astype(np.uint32)
        sizes = sizes[self._ranked]
        starts = np.concatenate(([0], np.flatnonzero((sizes[1:] != sizes[:-1]).any(axis=1)) + 1))
        self._cells = [*starts.tolist(), len(sizes)]  # between two of them, all lengths are equal
        self._cuts = _cuts(sizes[starts].max(axis=1), np.diff(starts, append=len(sizes)), budget)
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
            self._planned = -1, []  # two epochs need not be held at once
            random = np.random.default_rng(derive(self.seed, "data", epoch))
            groups = np.split(self._rows(random), self._cuts)
            self._planned = epoch, [groups[i] for i in random.permutation(len(groups))]
        return self._planned[1][place]

    def _rows(self, random: np.random.Generator) -> np.ndarray:
        """The rows of an epoch by length, those of equal lengths in any order."""
        rows = self._slots.drawn(random)[self._ranked] if self._slots else self._ranked.copy()
        for first, end in pairwise(self._cells):
            random.shuffle(rows[first:end])
        return rows


class _Slots(NamedTuple):
    """The places of an epoch. Most hold a certain row; where a weight is no whole number, others hold one out of a few
    rows of like length, by lot: pool[first : first + width]."""

    fixed: np.ndarray
    pool: np.ndarray
    firsts: np.ndarray
    widths: np.ndarray

    @classmethod
    def of(cls, lengths: Lengths, weights: Sequence[tuple[int, float]]) -> "_Slots":
        fixed, pool, firsts, widths = [], [], [], []
        begin = held = 0
        for rows, weight in weights:
            whole, rest = divmod(weight, 1)
            fixed.append(np.tile(np.arange(begin, begin + rows, dtype=np.uint32), int(whole)))
            if lots := round(rest * rows):
                edges = np.linspace(0, rows, lots + 1).astype(np.int64)
                pool.append(begin + _ranked(lengths[begin : begin + rows]).astype(np.uint32))
                firsts.append(held + edges[:-1])
                widths.append(np.diff(edges))
                held += rows
            begin += rows
        nothing = np.empty(0, dtype=np.int64)
        return cls(np.concatenate(fixed), *(np.concatenate(parts or [nothing]) for parts in (pool, firsts, widths)))

    def lengths(self, lengths: Lengths) -> Lengths:
        """Of the row in each slot; of the longest of those that may be there."""
        longest = [np.maximum.reduceat(lengths[self.pool], self.firsts)] if len(self.firsts) else []
        return np.concatenate([lengths[self.fixed], *longest])

    def drawn(self, random: np.random.Generator) -> np.ndarray:
        """A row for each slot."""
        lots = self.firsts + (random.random(len(self.firsts)) * self.widths).astype(np.int64)
        return np.concatenate([self.fixed, self.pool[lots]])


def _ranked(lengths: Lengths) -> np.ndarray:
    """The rows by their longest side; within one length, the first side grows as the last one shrinks and, in the next,
    the other way round: no jump to pad for."""
    longest = lengths.max(axis=1)
    slant = lengths[:, 0].astype(np.int32) - lengths[:, -1]
    return np.lexsort((np.where(longest % 2, -slant, slant), longest))


def _cuts(longest: np.ndarray, counts: np.ndarray, budget: int) -> list[int]:
    """Where a new group must begin so that none outgrows the budget. counts: how many rows of each length follow."""
    cuts, first, place, widest = [], 0, 0, 0
    for length, count in zip(longest.tolist(), counts.tolist(), strict=True):
        grown = max(widest, length) if count else widest
        if count and place > first and grown * (place - first + 1) > budget:
            cuts.append(place)
            first, grown = place, length
        place += count
        while place - first > max(1, budget // max(1, grown)):
            first += max(1, budget // max(1, grown))
            cuts.append(first)
            grown = length
        widest = grown
    return cuts
