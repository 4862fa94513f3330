"""Two languages that are learned apart do not line up; cross-attention brings them together.

Vectors of words say which words are used alike, and nothing more: turned by any rotation they say the same. So two
languages that were learned apart have no directions in common, and the word nearest to an English one is a chance one
among the Chinese. At best one space is a rotation of the other (Mikolov, Le & Sutskever 2013, arXiv:1309.4168; Xing et
al. 2015), which a dictionary finds (orthogonal Procrustes). In a translator the decoder asks, the source answers:
queries of one language meet keys of the other in one space.

Here Chinese words look for their English ones: by vectors that were learned apart, after a rotation found with half of
the dictionary, and by the queries and keys of a Transformer's cross-attention.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from regard.attention import capture
from regard.evaluation.alignment import Gold
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.series import over_seeds
from regard.report import Plot
from regard.seeds import derive
from regard.tasks.pairs import EncodedPairs
from regard.tasks.word_texts import WordPair, WordText
from regard.text import Tokenizer

STATISTIC = (
    "The share of Chinese words whose English word is the first of all by the queries and keys of cross-attention (the "
    "head that is best for the other half of the dictionary)."
)
THRESHOLD = 0.3
SEEN = 3
"""How often two words must have been linked to stand in the dictionary."""
TOGETHER = 50
Vectors = Float[np.ndarray, "N D"]
Entry = tuple[str, str]


class Meeting(NamedTuple):
    """For each entry of a dictionary (a row each) the vector of the Chinese word and that of the English one."""

    chinese: Vectors
    english: Vectors

    def of(self, rows: Sequence[int]) -> "Meeting":
        return Meeting(self.chinese[list(rows)], self.english[list(rows)])


def first(meeting: Meeting, rows: Sequence[int]) -> float:
    """The share of these rows whose own English word has the highest score of all English words."""
    scores = meeting.chinese[list(rows)] @ meeting.english.T
    return float((scores.argmax(axis=1) == np.array(rows)).mean())


def units(vectors: Vectors) -> Vectors:
    """All of length 1, around zero: a dot product is then a cosine."""
    centred = vectors - vectors.mean(axis=0)
    return centred / np.linalg.norm(centred, axis=1, keepdims=True)


def rotated(meeting: Meeting, known: Sequence[int]) -> Meeting:
    """The Chinese vectors after the rotation that brings the known ones nearest to their English words."""
    chinese, english = meeting.of(known)
    left, _, right = np.linalg.svd(chinese.T @ english)
    return meeting._replace(chinese=meeting.chinese @ (left @ right))


def dictionary(pairs: Sequence[WordPair], gold: Sequence[Gold]) -> list[Entry]:
    """(Chinese, English) words that are each other's most frequent partner, by sure links of one word with one."""
    links = Counter(entry for pair, known in zip(pairs, gold, strict=True) for entry in linked(pair, known))
    best: tuple[dict[str, Entry], dict[str, Entry]] = ({}, {})
    for entry, _ in links.most_common():
        for side, word in zip(best, entry, strict=True):
            side.setdefault(word, entry)
    found = [entry for entry, count in links.items() if count >= SEEN]
    return sorted(entry for entry in found if all(s[word] == entry for s, word in zip(best, entry, strict=True)))


def linked(pair: WordPair, known: Gold) -> Iterator[Entry]:
    """The words of a pair that belong to each other and to no other."""
    sources, targets = (Counter(link[side] for link in known.sure) for side in (0, 1))
    for i, j in sorted(known.sure):
        if sources[i] == targets[j] == 1:
            yield pair.target.words[j], pair.source.words[i].lower()


def halves(count: int, seed: int) -> tuple[list[int], list[int]]:
    """The rows of a dictionary in two parts, by chance."""
    rows = random.Random(derive(seed, "halves")).sample(range(count), count)
    return sorted(rows[: count // 2]), sorted(rows[count // 2 :])


def met(translator: Any, pairs: Sequence[WordPair], entries: Sequence[Entry]) -> dict[str, Meeting]:
    """By head of cross-attention: the mean query with which each Chinese word is looked for, and the mean key of each
    English one. A word is met at its first piece."""
    queries, keys = Means({chinese for chinese, _ in entries}), Means({english for _, english in entries})
    source, target = translator.tokenizers.source, translator.tokenizers.target
    for begin in range(0, len(pairs), TOGETHER):
        some = pairs[begin : begin + TOGETHER]
        asked, answered = looked(translator, some)
        for number, pair in enumerate(some):
            queries.add(asked[number], pair.target, places(pair.target, target))
            keys.add(answered[number], pair.source, places(pair.source, source))
    found = Meeting(
        np.stack([queries.mean(chinese) for chinese, _ in entries]),
        np.stack([keys.mean(english) for _, english in entries]),
    )
    return {f"head {h + 1}": Meeting(*(side[:, h] for side in found)) for h in range(found.english.shape[1])}


class Means:
    """The mean of the vectors (heads, width) that some words have met."""

    def __init__(self, words: set[str]) -> None:
        self.words = words
        self.sums: dict[str, np.ndarray] = {}
        self.counts: Counter[str] = Counter()

    def add(self, vectors: np.ndarray, text: WordText, at: Sequence[int | None]) -> None:
        for word, place in zip(text.words, at, strict=True):
            if place is not None and word.lower() in self.words:
                self.sums[word.lower()] = self.sums.get(word.lower(), 0.0) + vectors[:, place]
                self.counts[word.lower()] += 1

    def mean(self, word: str) -> np.ndarray:
        """Zeros if it was never met."""
        if not self.counts[word]:
            return np.zeros_like(next(iter(self.sums.values())))
        return self.sums[word] / self.counts[word]


def looked(translator: Any, pairs: Sequence[WordPair]) -> tuple[np.ndarray, np.ndarray]:
    """The queries (B heads T K) and keys (B heads S K) of all heads of all layers, while the translations are read."""
    texts = [pair.source.text for pair in pairs], [pair.target.text for pair in pairs]
    batch = EncodedPairs.encode(*texts, translator.tokenizers).batch(range(len(pairs)), translator.tokenizers)
    with torch.no_grad(), capture(translator.model, keep=("queries", "keys")) as recording:
        translator.model(batch.source, batch.source_lengths, batch.target[:, :-1])
    cross = [name for name in recording.names if name.endswith(".cross")]
    asked, answered = (torch.cat([recording.last(name, what) for name in cross], dim=1) for what in ("queries", "keys"))
    return asked.numpy(), answered.numpy()


def places(text: WordText, tokenizer: Tokenizer) -> list[int | None]:
    """The number of the piece that each word begins with; None if the piece begins with another word."""
    pieces = tokenizer.pieces(text.text)
    begins: dict[int, int] = {}
    for number, piece in enumerate(pieces):
        surface = text.text[piece.start : piece.end]
        begins.setdefault(piece.end - len(surface.lstrip()), number)
    return [begins.get(start) for start, _ in text.spans]


APART, ROTATED, CROSS, CHANCE = "learned apart", "apart, then rotated", "cross-attention", "chance"


def measure(setting: Setting) -> Measured:
    english, chinese = setting.shop.load("words-en"), setting.shop.load("words-zh")
    pairs, gold = setting.shop.gold("test")
    entries = [
        entry for entry in dictionary(pairs, gold) if entry[1] in english and all(sign in chinese for sign in entry[0])
    ]
    apart = Meeting(
        units(chinese.embed([entry[0] for entry in entries])), units(english.embed([entry[1] for entry in entries]))
    )
    known, asked = halves(len(entries), setting.seed)
    heads = met(setting.shop.load("transformer"), pairs, entries)
    best = max(heads, key=lambda head: first(heads[head], known))
    shares = {
        APART: first(apart, asked),
        ROTATED: first(rotated(apart, known), asked),
        CROSS: first(heads[best], asked),
        CHANCE: 1 / len(entries),
    }
    numbers = {"words in the dictionary": len(entries), **{f"found first: {name}": one for name, one in shares.items()}}
    return Measured(shares[CROSS], shares[APART], numbers, {"shares": list(shares.values())})


def draw(measured: Sequence[Measured]) -> list[Figure]:
    bars = over_seeds("found first", [one.series["shares"] for one in measured])
    names = [APART, ROTATED, CROSS, CHANCE]
    return [
        Plot("bars", names, [bars], "how Chinese words look for English ones", "share found", "The right one first.")
    ]


CLAIM = Claim(
    name="languages",
    title="Two languages learned apart do not line up; cross-attention brings them together",
    question="Is the English word nearest to a Chinese one its translation, if both languages were learned apart, and "
    "if a translator learned them together?",
    source="Mikolov, Le & Sutskever 2013; Bahdanau et al. 2015, section 5.2",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    control="vectors of words that were learned from each language alone.",
    measure=measure,
    draw=draw,
    models=("transformer", "words-en", "words-zh"),
)
