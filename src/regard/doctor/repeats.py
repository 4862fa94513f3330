"""The same sentence twice: within a split, or in two of them. Compared by hash, sorted rather than looked up."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from regard.doctor.places import Place
from regard.doctor.survey import Survey

STRETCH = 1 << 20
"""Rows that are compared at a time."""


@dataclass(frozen=True)
class Split:
    """All that was read for one purpose: one survey, or those of several corpora."""

    name: str
    surveys: Sequence[Survey]

    def __len__(self) -> int:
        return sum(map(len, self.surveys))

    @property
    def bad_rows(self) -> int:
        return sum(survey.bad.count for survey in self.surveys)

    @cached_property
    def sources(self) -> np.ndarray:
        return _joined([survey.sources for survey in self.surveys])

    @cached_property
    def pairs(self) -> np.ndarray:
        return _joined([survey.pairs for survey in self.surveys])

    def place(self, row: int) -> Place:
        for survey in self.surveys:
            if row < len(survey):
                return Place(survey.paths, int(survey.lines[row]))
            row -= len(survey)
        raise IndexError(row)

    def repeats(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows whose pair has been there before, and the first row of each source that has more than one target."""
        return self._repeats

    @cached_property
    def _repeats(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.lexsort((self.pairs, self.sources))
        again, same = _as_before(self.sources, order), _as_before(self.pairs, order)
        begins, others = np.flatnonzero(~again), np.flatnonzero(again & ~same)
        firsts = begins[np.searchsorted(begins, others) - 1]
        rows = np.sort(order[np.concatenate((firsts, others))])
        return np.sort(order[again & same]), np.sort(rows[np.unique(self.sources[rows], return_index=True)[1]])


def _as_before(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Which of the values, in this order, are the same as the one before."""
    ordered = values[order]
    return np.concatenate(([False], ordered[1:] == ordered[:-1]))


def shared(held: Split, train: Split) -> tuple[np.ndarray, np.ndarray]:
    """The rows of `held` whose source is also in `train`, and those whose pair is."""
    return _rows_in(held.sources, train.sources), _rows_in(held.pairs, train.pairs)


def _rows_in(few: np.ndarray, many: np.ndarray) -> np.ndarray:
    """The places of those of `few` that are among `many`, which may be a great many."""
    ordered = np.unique(few)
    found = np.zeros(len(ordered), dtype=bool)
    for first in range(0, len(many), STRETCH):
        stretch = many[first : first + STRETCH]
        places = np.searchsorted(ordered, stretch).clip(max=len(ordered) - 1)
        found[places[ordered[places] == stretch]] = True
    return np.flatnonzero(np.isin(few, ordered[found]))


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
