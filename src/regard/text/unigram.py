"""The vocabulary of a unigram language model (Kudo 2018, "Subword Regularization", section 3.2).

A spelling of a word in pieces is as likely as the product of its pieces; a word is as likely as all its spellings
together. Begin with too many frequent substrings; fit their probabilities by EM; drop those that the text would miss
least; repeat. Same counts, same vocabulary.

Differs from the paper: the loss of dropping a piece is estimated, as its expected count times what spelling it in other
pieces costs, instead of fitting again without it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LONGEST_PIECE = 16  # characters
LONGEST_WORD = 64  # characters; a longer one (Thai, a web address) is learned in parts
MOST_CHARACTERS = 2_000_000  # in all words that are learned, the commonest first
SEEDS = 8  # pieces to begin with, for each that is wanted,
FEWEST_SEEDS = 10_000  # or this many, if that is more
KEPT = 0.75  # of the pieces, in each round
ITERATIONS = 2  # of EM, in each round
UNUSED = 0.01  # counted for a character that the other pieces have made superfluous


def train_unigram(counts: Counter[str], size: int) -> list[tuple[str, float]]:
    """`size` pieces and their log-probabilities, likeliest first. Single characters all stay, even if beyond `size`."""
    words = _learned(counts)
    characters = dict.fromkeys(sorted(set().union(*counts)), 1)
    seeds = characters | _frequent_substrings(words, max(SEEDS * size, FEWEST_SEEDS))
    pieces, expected = list(seeds), np.array(list(seeds.values()), dtype=np.float64)
    index = {piece: id for id, piece in enumerate(pieces)}
    spellings = Lattice.build(list(words), index)
    detours = Lattice.build(pieces, index, whole=False)
    frequency = np.array(list(words.values()), dtype=np.float64)
    alive = np.arange(len(pieces))  # the characters come first
    while True:
        for _ in range(ITERATIONS):
            scores = _log_shares(expected, alive)
            expected = spellings.expected_counts(scores, frequency)
        spare = alive[len(characters) :]
        room = max(0, size - len(characters))
        if len(spare) <= room:
            break
        loss = expected[spare] * (scores[spare] - detours.log_totals(scores)[spare])
        kept = spare[np.argsort(-loss, kind="stable")][: max(room, int(KEPT * len(spare)))]
        alive = np.concatenate([alive[: len(characters)], np.sort(kept)])
        spellings, detours = spellings.only(alive), detours.only(alive)
    scores = _log_shares(expected, alive)
    chosen = [(pieces[id], round(float(scores[id]), 6)) for id in alive]
    return sorted(chosen, key=lambda entry: (-entry[1], entry[0]))


def _learned(counts: Counter[str]) -> Counter[str]:
    """The commonest words, cut to a bounded length: more would cost time and hardly change the vocabulary."""
    words: Counter[str] = Counter()
    left = MOST_CHARACTERS
    for word in sorted(counts, key=lambda word: (-counts[word], word)):
        left -= len(word)
        if left < 0:
            break
        for start in range(0, len(word), LONGEST_WORD):
            words[word[start : start + LONGEST_WORD]] += counts[word]
    return words


def _frequent_substrings(words: Counter[str], most: int) -> dict[str, int]:
    """Of two characters and more, with their counts; those first that cover most of the text."""
    found: Counter[str] = Counter()
    for word, count in words.items():
        for start, end in _spans(word, shortest=2):
            found[word[start:end]] += count
    repeated = [piece for piece, count in found.items() if count > 1]
    ranked = sorted(repeated, key=lambda piece: (-found[piece] * len(piece), piece))
    return {piece: found[piece] for piece in ranked[:most]}


def _spans(word: str, shortest: int = 1) -> Iterator[tuple[int, int]]:
    for start in range(len(word)):
        for end in range(start + shortest, min(start + LONGEST_PIECE, len(word)) + 1):
            yield start, end


def _log_shares(expected: Floats, alive: Ints) -> Floats:
    """The M step: a piece is as likely as its share of all pieces that are expected in the text."""
    counts = np.maximum(expected[alive], UNUSED)
    scores = np.full(len(expected), -np.inf)
    scores[alive] = np.log(counts / counts.sum())
    return scores


@dataclass(frozen=True)
class Lattice:
    """All spellings of all words: a word of n letters has n + 1 places in a row, a piece leads from one to another.

    Place t of every word is reached in the same step, so that numpy does the work. Every letter is a piece, so that
    every place is reached.
    """

    piece: Ints  # of each edge
    tail: Ints
    head: Ints
    first: Ints  # place of each word
    last: Ints

    @classmethod
    def build(cls, words: Sequence[str], index: Mapping[str, int], *, whole: bool = True) -> "Lattice":
        """`whole`: may a word be spelt by the one piece that is the word itself?"""
        edges: list[tuple[int, int, int]] = []
        lengths = np.array([len(word) for word in words], dtype=np.int64)
        last = np.cumsum(lengths + 1) - 1
        for word, first in zip(words, (last - lengths).tolist(), strict=True):
            for start, end in _spans(word):
                id = index.get(word[start:end])
                if id is not None and (whole or end - start < len(word)):
                    edges.append((id, first + start, first + end))
        piece, tail, head = np.array(edges, dtype=np.int64).reshape(-1, 3).T
        return cls(piece, tail, head, last - lengths, last)

    def only(self, alive: Ints) -> "Lattice":
        """The spellings in these pieces."""
        stays = np.isin(self.piece, alive)
        return replace(self, piece=self.piece[stays], tail=self.tail[stays], head=self.head[stays])

    def expected_counts(self, scores: Floats, frequency: Floats) -> Floats:
        """The E step: how often each piece is used, over all spellings of all words."""
        before = self._log_sums(scores, self.tail, self.head, self.first)
        after = self._log_sums(scores, self.head, self.tail, self.last)
        word = np.searchsorted(self.last, self.tail)
        used = np.exp(before[self.tail] + scores[self.piece] + after[self.head] - before[self.last][word])
        return np.bincount(self.piece, weights=frequency[word] * used, minlength=len(scores)).astype(np.float64)

    def log_totals(self, scores: Floats) -> Floats:
        """The log-probability of each word, over all its spellings."""
        return self._log_sums(scores, self.tail, self.head, self.first)[self.last]

    def _log_sums(self, scores: Floats, origin: Ints, goal: Ints, begin: Ints) -> Floats:
        """For each place, the log of the summed probability of all ways to it from where its word begins: the forward
        algorithm, and the backward one if origin, goal and beginning are turned round."""
        sums = np.full(int(self.last.max(initial=-1)) + 1, -np.inf)
        sums[begin] = 0.0
        distance = np.abs(goal - begin[np.searchsorted(self.last, goal)])
        order = np.lexsort((goal, distance))
        for edges in np.split(order, np.flatnonzero(np.diff(distance[order])) + 1):
            ways = sums[origin[edges]] + scores[self.piece[edges]]
            places, starts = np.unique(goal[edges], return_index=True)
            sums[places] = np.logaddexp.reduceat(ways, starts)
        return sums
