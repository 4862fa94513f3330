"""The texts of one side as numbers: code points in one array, and what each line has of everything.

Nothing here goes through a line character by character: numpy does all lines at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from regard.doctor.characters import NAMES, POINTS, SPACE, kinds

PUNCTUATION = ("?？؟", "!！", '"“”„«»「」『』', ":：", "()（）", ",，、،", ";；؛", "-–—…")
"""What a translation keeps, characters that mean the same together."""
NAMED = 0x250
"""Names and numbers that a translation keeps are looked for among the characters below this one."""


@dataclass(frozen=True)
class Side:
    """Some texts, one after the other: `codes[starts[i] : starts[i] + lengths[i]]` is text i. None of them is empty."""

    texts: Sequence[str]
    lengths: np.ndarray
    codes: np.ndarray

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Side":
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        return cls(texts, lengths, np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.uint32))

    @cached_property
    def starts(self) -> np.ndarray:
        return np.asarray(np.cumsum(self.lengths) - self.lengths)

    @cached_property
    def rows(self) -> np.ndarray:
        """The text that each character belongs to."""
        return np.repeat(np.arange(len(self.texts)), self.lengths)

    @cached_property
    def counts(self) -> np.ndarray:
        """How many characters of each kind (see NAMES) each text has: (texts, kinds)."""
        cells = np.bincount(self.rows * len(NAMES) + self._kinds, minlength=len(self.texts) * len(NAMES))
        return cells.reshape(-1, len(NAMES))

    @cached_property
    def words(self) -> np.ndarray:
        """What stands between spaces, counted."""
        return np.bincount(self.rows[self._begins(self._kinds != SPACE)], minlength=len(self.texts))

    @cached_property
    def punctuation(self) -> np.ndarray:
        """Which of PUNCTUATION each text has, a bit for each."""
        return np.asarray(np.bitwise_or.reduceat(_punctuation()[self.codes], self.starts))

    @cached_property
    def names(self) -> np.ndarray:
        """Which names and numbers each text has, as a set of 64 bits: each sets the bit that its letters add up to."""
        weights, telling = _letters()
        near = np.minimum(self.codes, NAMED)
        letters = weights[near]
        begins = np.flatnonzero(self._begins(letters > 0))
        if not len(begins):
            return np.zeros(len(self.texts), dtype=np.uint64)
        sums = np.add.reduceat(letters, begins)
        chosen = telling[near[begins]]
        rows, bits = self.rows[begins[chosen]], np.uint64(1) << (sums[chosen] % 64).astype(np.uint64)
        found = np.zeros(len(self.texts), dtype=np.uint64)
        firsts = np.flatnonzero(np.diff(rows, prepend=-1))
        if len(firsts):
            found[rows[firsts]] = np.bitwise_or.reduceat(bits, firsts)
        return found

    @cached_property
    def _kinds(self) -> np.ndarray:
        return np.asarray(kinds()[self.codes])

    def _begins(self, inside: np.ndarray) -> np.ndarray:
        """Where a run of characters begins; none goes from one text into the next."""
        before = np.concatenate(([False], inside[:-1]))
        before[self.starts] = False
        return np.asarray(inside & ~before)


@cache
def _punctuation() -> np.ndarray:
    table = np.zeros(POINTS, dtype=np.uint8)
    for bit, characters in enumerate(PUNCTUATION):
        table[list(map(ord, characters))] = 1 << bit
    return table


@cache
def _letters() -> tuple[np.ndarray, np.ndarray]:
    """A weight for each letter and digit, the same for large and small, 0 for what is neither; and which of them a name
    or a number begins with."""
    characters = list(map(chr, range(NAMED)))
    random = np.random.default_rng(0).integers(1, 1 << 40, POINTS, dtype=np.int64)
    weights = [int(random[ord(char.lower()[0])]) if char.isalnum() else 0 for char in characters]
    return np.array([*weights, 0]), np.array([*(char.isupper() or char.isdigit() for char in characters), False])
