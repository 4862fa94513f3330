"""Documents cut into passages of several sentences, and the examples that BERT is pretrained on (Devlin 2018, A.2).

An example is [CLS] A [SEP] B [SEP]. A is the beginning of a passage; B is, half of the time, the rest of it, otherwise
a piece of another document. Which it is, where the passage is cut, and which words are hidden is drawn anew in every
epoch, from (seed, epoch, passage) alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from regard.data.store import Store

MARKS = 3


@dataclass(frozen=True)
class Example:
    """Ids with their marks, which sentence each belongs to (0 or 1), and whether B comes from elsewhere."""

    ids: np.ndarray
    segments: np.ndarray
    elsewhere: bool


@dataclass(frozen=True, eq=False)
class Passages:
    """Passage i: counts[i] sentences from firsts[i] on, of document owners[i]; sizes[i] tokens with its marks."""

    sentences: Store
    firsts: np.ndarray
    counts: np.ndarray
    owners: np.ndarray
    sizes: np.ndarray
    length: int
    pairs: bool

    @classmethod
    def of(cls, sentences: Store, documents: Sequence[int], *, length: int, pairs: bool) -> "Passages":
        """documents: how many sentences each has. pairs: a passage has at least two sentences, and three marks."""
        sizes = sentences.lengths()[:, 0].astype(np.int64)
        room = length - (MARKS if pairs else MARKS - 1)
        lengths = np.minimum(sizes, room // 2 if pairs else room).tolist()
        rows: list[tuple[int, int, int, int]] = []
        for owner, (count, end) in enumerate(zip(documents, accumulate(documents), strict=True)):
            for first, taken in _packed(lengths[end - count : end], room):
                if taken > 1 or not pairs:
                    begin = end - count + first
                    rows.append((begin, taken, owner, sum(lengths[begin : begin + taken]) + length - room))
        firsts, counts, owners, filled = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        return cls(sentences, firsts, counts, owners, filled, length, pairs)

    def __len__(self) -> int:
        return len(self.firsts)

    def example(self, row: int, start: int, end: int, random: np.random.Generator) -> Example:
        """start, end: the ids of [CLS] and [SEP]."""
        first, count = int(self.firsts[row]), int(self.counts[row])
        texts = self._texts(first, count)
        if not self.pairs:
            ids = np.concatenate([[start], *texts, [end]])
            return Example(ids, np.zeros_like(ids), elsewhere=False)
        cut = int(random.integers(1, count))
        a, b = np.concatenate(texts[:cut]), np.concatenate(texts[cut:])
        elsewhere = bool(random.random() < 0.5 and self.owners[0] != self.owners[-1])
        if elsewhere:
            b = self._from_elsewhere(row, len(b), random)
        ids = np.concatenate([[start], a, [end], b, [end]])
        return Example(ids, (np.arange(len(ids)) > len(a) + 1).astype(np.int64), elsewhere)

    def _from_elsewhere(self, row: int, most: int, random: np.random.Generator) -> np.ndarray:
        """The beginning of a sentence of another document, and what follows it, no longer than what it replaces."""
        other = row
        while self.owners[other] == self.owners[row]:
            other = int(random.integers(len(self)))
        skipped = int(random.integers(self.counts[other]))
        texts = self._texts(int(self.firsts[other]) + skipped, int(self.counts[other]) - skipped)
        return np.concatenate(texts)[:most]

    def _texts(self, first: int, count: int) -> list[np.ndarray]:
        (texts,) = self.sentences.rows(range(first, first + count))
        most = (self.length - MARKS) // 2 if self.pairs else self.length - MARKS + 1
        return [text[:most].astype(np.int64) for text in texts]


def _packed(lengths: Sequence[int], room: int) -> list[tuple[int, int]]:
    """(first, count) of stretches of sentences that fit into the room, one after the other."""
    found: list[tuple[int, int]] = []
    first = filled = 0
    for place, length in enumerate(lengths):
        if filled + length > room:
            found.append((first, place - first))
            first, filled = place, 0
        filled += length
    return [*found, (first, len(lengths) - first)]
