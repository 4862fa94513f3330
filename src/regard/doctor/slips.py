"""Where do lines belong to other lines? Found without a dictionary, from what a translation keeps.

A translation of a long sentence is long, that of a question has a question mark, names and numbers stay. How telling
each of these is, the text itself says: lines that belong together are compared with lines that cannot, because they are
far apart. Each line then has a score (a log-likelihood ratio, in nats) for belonging to the line k further on,
k = -3 … 3, and 0 for belonging to none; the best path through blocks of lines says where k changes (Viterbi 1967), and
the change is then found to a line or so. Lengths are compared as Gale & Church (1993) do.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from regard.doctor.sides import PUNCTUATION, Side

SLIPS = tuple(range(-3, 4))
FAR = (-12, -7, 9, 14)
SPAN = 100_000
"""Lines that are looked at together: memory stays flat, and each part of a large file is measured by itself."""
FEWEST, BLOCK, BINS = 200, 50, 24
CHANGE = 20.0
"""What a change of k costs: it must pay by 20 nats."""
PROOF, TELLING = 50.0, 0.1
"""Nats that a stretch, and each line of it on average, must have."""
UNRELATED = 0.3
"""Correlation of the lengths below which a stretch may be one of lines that belong to none."""


class Kept(NamedTuple):
    """What a translation keeps of each line."""

    lengths: np.ndarray
    punctuation: np.ndarray
    names: np.ndarray

    @classmethod
    def of(cls, side: Side) -> "Kept":
        return cls(side.lengths, side.punctuation, side.names)

    def cut(self, first: int, end: int | None) -> "Kept":
        return Kept(*(array[first:end] for array in self))


class Stretch(NamedTuple):
    """Lines `first` to `end` (not included) belong to the target `slip` lines further on, or to none (None).
    telling: three of them where that is seen best."""

    first: int
    end: int
    slip: int | None
    telling: tuple[int, ...] = ()


@dataclass(frozen=True)
class Scores:
    """Of each line for each of SLIPS, and what far lines score: (slips, lines) and (lines,)."""

    near: np.ndarray
    far: np.ndarray

    def sum(self, slip: int, rows: slice) -> float:
        return float(self.near[SLIPS.index(slip), rows].sum())


class SlipFinder:
    """Is given the lines in chunks, and finds the stretches that are shifted."""

    def __init__(self) -> None:
        self._held: list[tuple[Kept, Kept]] = []
        self._count = self._first = 0
        self._found: list[Stretch] = []

    def add(self, source: Side, target: Side) -> None:
        self._held.append((Kept.of(source), Kept.of(target)))
        self._count += len(source.texts)
        if self._count >= 2 * SPAN:
            self._look(SPAN)

    def stretches(self) -> list[Stretch]:
        """All that were found; no more lines will come."""
        if self._held:
            self._look(self._count)
        return self._found

    def _look(self, count: int) -> None:
        source, target = (_joined([both[side] for both in self._held]) for side in (0, 1))
        for stretch in find(source.cut(0, count), target.cut(0, count)):
            self._keep(_moved(stretch, self._first))
        self._held = [(source.cut(count, None), target.cut(count, None))]
        self._first += count
        self._count -= count

    def _keep(self, stretch: Stretch) -> None:
        """Two windows may each have a part of it."""
        last = self._found[-1] if self._found else None
        if last and last.end == self._first == stretch.first and last.slip == stretch.slip:
            self._found[-1] = last._replace(end=stretch.end)
        else:
            self._found.append(stretch)


def find(source: Kept, target: Kept) -> list[Stretch]:
    """The stretches of lines that do not belong to the target of the same number."""
    if len(source.lengths) < FEWEST:
        return []
    scores = score(source, target)
    lengths = np.log([source.lengths, target.lengths])
    found = [each for each in _path(scores) if each[2] != 0 and _is_sure(scores, lengths, *each)]
    if not found and _are_strangers(scores, lengths):
        found = [(0, len(source.lengths), None)]
    return [Stretch(first, end, slip, _telling(scores, first, end, slip)) for first, end, slip in found]


def score(source: Kept, target: Kept) -> Scores:
    """How well each source line goes with the target lines around it."""
    ratio = float(np.median(target.lengths / source.lengths))
    rows = np.arange(len(source.lengths))
    features = {slip: _features(source, target, (rows + slip) % len(rows), ratio) for slip in (*SLIPS, *FAR)}
    edges = np.quantile(np.concatenate([features[k][0] for k in (0, *FAR)]), np.linspace(0, 1, BINS + 1)[1:-1])
    codes = {k: [np.searchsorted(edges, first).astype(np.uint8), *others] for k, (first, *others) in features.items()}
    chance = _frequencies([codes[k] for k in FAR])
    telling = [_frequencies([codes[k]]) for k in SLIPS]
    together = max(
        telling, key=lambda tables: sum(float(p @ np.log(p / q)) for p, q in zip(tables, chance, strict=True))
    )
    weights = [np.log(p / q) for p, q in zip(together, chance, strict=True)]
    totals = {k: sum(weight[code] for weight, code in zip(weights, codes[k], strict=True)) for k in codes}
    return Scores(np.stack([totals[k] for k in SLIPS]), np.mean([totals[k] for k in FAR], axis=0))


def _features(source: Kept, target: Kept, rows: np.ndarray, ratio: float) -> list[np.ndarray]:
    """Of each source line and the target line of `rows`: how far the lengths are apart, then small numbers that say who
    has which mark, and whether a name is shared."""
    expected, lengths = ratio * source.lengths, target.lengths[rows]
    punctuation, theirs = source.punctuation, target.punctuation[rows]
    both = [2 * (punctuation >> bit & 1) + (theirs >> bit & 1) for bit in range(len(PUNCTUATION))]
    names = (source.names != 0).astype(np.uint8) + (source.names & target.names[rows] != 0)
    return [(lengths - expected) / np.sqrt(lengths + expected), *both, names]


def _frequencies(codes: list[list[np.ndarray]]) -> list[np.ndarray]:
    """How often each value of each feature is seen, as shares; none is 0."""
    sizes = [BINS, *[4] * len(PUNCTUATION), 3]
    seen = [np.concatenate([code[i] for code in codes]) for i in range(len(sizes))]
    counts = [np.bincount(values, minlength=size) + 1.0 for values, size in zip(seen, sizes, strict=True)]
    return [count / count.sum() for count in counts]


def _path(scores: Scores) -> list[tuple[int, int, int | None]]:
    """(first, end, slip) of the stretches that the lines fall into."""
    lines = np.vstack([scores.near, np.zeros_like(scores.far)])
    count = lines.shape[1]
    starts = np.arange(0, max(1, count - BLOCK + 1), BLOCK)
    states = _best_states(np.add.reduceat(lines, starts, axis=1))
    changes = [0, *np.flatnonzero(np.diff(states)) + 1, len(states)]
    bounds = [0]
    for place in changes[1:-1]:
        first, end = max(bounds[-1], starts[place] - BLOCK), min(count, starts[place] + BLOCK)
        before, behind = states[place - 1], states[place]
        gains = np.cumsum(lines[before, first:end] - lines[behind, first:end])
        bounds.append(int(first + np.concatenate(([0.0], gains)).argmax()))
    slips = [*SLIPS, None]
    ends = [*bounds[1:], count]
    return [(bounds[i], ends[i], slips[states[place]]) for i, place in enumerate(changes[:-1])]


def _best_states(blocks: np.ndarray) -> np.ndarray:
    """The state of each block on the best path, where every change costs. blocks: (states, blocks)"""
    states, count = blocks.shape
    stay = np.arange(states)
    came = np.zeros((count, states), dtype=np.int64)
    best = blocks[:, 0]
    for block in range(1, count):
        top = int(best.argmax())
        kept = best >= best[top] - CHANGE
        came[block] = np.where(kept, stay, top)
        best = np.where(kept, best, best[top] - CHANGE) + blocks[:, block]
    path = [int(best.argmax())]
    for block in range(count - 1, 0, -1):
        path.append(int(came[block, path[-1]]))
    return np.array(path[::-1])


def _is_sure(scores: Scores, lengths: np.ndarray, first: int, end: int, slip: int | None) -> bool:
    """lengths: (2, lines), as logarithms"""
    rows = slice(first, end)
    here = scores.sum(0, rows)
    if slip is None:
        return -here >= PROOF and _correlation(lengths[:, rows]) < UNRELATED
    there = scores.sum(slip, rows)
    return there >= max(PROOF, TELLING * (end - first)) and there - here >= PROOF


def _are_strangers(scores: Scores, lengths: np.ndarray) -> bool:
    """Nowhere do the lengths of one side say anything of the other's, though they differ; nor does anything else."""
    if lengths.std(axis=1).min() < 0.2 or scores.near[SLIPS.index(0)].mean() > TELLING:
        return False
    return abs(_correlation(lengths)) < 0.05 + 3 / math.sqrt(lengths.shape[1])


def _correlation(lengths: np.ndarray) -> float:
    apart = lengths - lengths.mean(axis=1, keepdims=True)
    return float((apart[0] * apart[1]).sum() / max(1e-9, np.sqrt((apart**2).sum(axis=1)).prod()))


def _telling(scores: Scores, first: int, end: int, slip: int | None) -> tuple[int, ...]:
    """Three lines near the beginning where it is seen best."""
    rows = slice(first, min(end, first + 2 * BLOCK))
    there = scores.near[SLIPS.index(slip), rows] if slip is not None else scores.far[rows]
    gains = there - scores.near[SLIPS.index(0), rows]
    return tuple(sorted((first + np.argsort(-gains)[:3]).tolist()))


def _joined(parts: list[Kept]) -> Kept:
    return Kept(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _moved(stretch: Stretch, by: int) -> Stretch:
    telling = tuple(by + row for row in stretch.telling)
    return Stretch(by + stretch.first, by + stretch.end, stretch.slip, telling)
