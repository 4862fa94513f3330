"""The vocabulary of WordPiece (Schuster & Nakajima 2012, "Japanese and Korean Voice Search"; Devlin 2018).

Words begin as characters, all but the first written with ## before it. Then, again and again, the two neighbours are
joined that make the text likelier than any others would: for a pair seen n(ab) times among N pieces, by

    n(ab) · log( n(ab) N / (n(a) n(b)) )

(byte-pair encoding takes the largest n(ab), whatever the parts are worth alone). Same counts, same vocabulary.

Differs from the paper: in a round, all pairs that have no piece in common with a better one are joined, up to a share
of what is still wanted, so that a vocabulary takes some hundred rounds and not thirty thousand.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

PREFIX = "##"
LONGEST_WORD = 64  # characters; longer ones teach nothing
SHARE = 0.02  # of the entries that are still wanted, in one round
BREAK = -1  # stands between two words


def train_wordpiece(counts: Counter[str], size: int, *, seen: int = 2) -> list[str]:
    """`size` pieces, the characters first. seen: how often a pair must occur to be joined."""
    words = sorted(word for word in counts if 0 < len(word) <= LONGEST_WORD)
    pieces = _alphabet(words, counts, size)
    text = _Text.of(words, counts, {piece: id for id, piece in enumerate(pieces)})
    known = set(pieces)
    while len(pieces) < size:
        most = max(1, int(SHARE * (size - len(pieces))))
        pairs = [pair for pair in text.best(len(pieces), seen) if _joined(pieces, *pair) not in known]
        chosen = _apart(pairs, most)
        if not chosen:
            break
        for pair in chosen:
            piece = _joined(pieces, *pair)
            known.add(piece)
            pieces.append(piece)
        text = text.joined(chosen, len(pieces) - len(chosen))
    return pieces


def _alphabet(words: list[str], counts: Counter[str], size: int) -> list[str]:
    """The characters, at the beginning of a word and inside; if they are too many, the commonest."""
    found: Counter[str] = Counter()
    for word in words:
        for place, character in enumerate(word):
            found[character if place == 0 else PREFIX + character] += counts[word]
    ranked = sorted(found, key=lambda piece: (-found[piece], piece))
    return sorted(ranked[:size])


def _joined(pieces: list[str], first: int, second: int) -> str:
    return pieces[first] + pieces[second].removeprefix(PREFIX)


def _apart(pairs: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """The best pairs of which no two share a piece."""
    chosen: list[tuple[int, int]] = []
    taken: set[int] = set()
    for pair in pairs:
        if len(chosen) == most:
            break
        if taken.isdisjoint(pair):
            chosen.append(pair)
            taken.update(pair)
    return chosen


@dataclass(frozen=True)
class _Text:
    """All words in pieces, one after the other with a BREAK behind each, and how often each piece's word occurs."""

    ids: Ints
    times: Ints

    @classmethod
    def of(cls, words: list[str], counts: Counter[str], index: dict[str, int]) -> "_Text":
        ids: list[int] = []
        times: list[int] = []
        for word in words:
            spelt = [index.get(character if place == 0 else PREFIX + character) for place, character in enumerate(word)]
            if None not in spelt:  # a word with a rare character is unknown as a whole
                ids += [*(id for id in spelt if id is not None), BREAK]
                times += [counts[word]] * (len(spelt) + 1)
        return cls(np.array(ids, dtype=np.int64), np.array(times, dtype=np.int64))

    def best(self, vocabulary: int, seen: int) -> list[tuple[int, int]]:
        """Pairs of neighbours, the one that makes the text likeliest first."""
        within = (self.ids[:-1] != BREAK) & (self.ids[1:] != BREAK)
        keys, places = np.unique((self.ids[:-1] * vocabulary + self.ids[1:])[within], return_inverse=True)
        together = np.bincount(places, weights=self.times[:-1][within], minlength=len(keys))
        real = self.ids != BREAK
        alone = np.bincount(self.ids[real], weights=self.times[real], minlength=vocabulary)
        first, second = keys // vocabulary, keys % vocabulary
        gains = together * np.log(np.maximum(together, 1) * alone.sum() / (alone[first] * alone[second]))
        fit = np.flatnonzero((together >= seen) & (gains > 0))
        ranked = fit[np.lexsort((keys[fit], -np.round(gains[fit], 6)))]
        return list(zip(first[ranked].tolist(), second[ranked].tolist(), strict=True))

    def joined(self, pairs: list[tuple[int, int]], next_id: int) -> "_Text":
        """With the pairs as single pieces, numbered from next_id on."""
        ids, keep = self.ids.copy(), np.ones(len(self.ids), dtype=bool)
        partner = np.full(next_id + 1, -2, dtype=np.int64)  # of a piece that comes first; the last entry is for BREAK
        new = np.full(next_id + 1, -2, dtype=np.int64)
        for number, (first, second) in enumerate(pairs):
            partner[first], new[first] = second, next_id + number
        places = np.flatnonzero(partner[ids[:-1]] == ids[1:])
        places = _no_overlap(places)
        ids[places] = new[ids[places]]
        keep[places + 1] = False
        return _Text(ids[keep], self.times[keep])


def _no_overlap(places: Ints) -> Ints:
    """Of a run such as aaa, joined as aa, every other place."""
    chosen, last = [], -2
    if not np.any(np.diff(places) == 1):
        return places
    for place in places.tolist():
        if place > last + 1:
            chosen.append(place)
            last = place
    return np.array(chosen, dtype=np.int64)
