"""A vector for a sentence: what BERT has at [CLS], the mean of its words, the mean of static word vectors, or trained.

Reimers & Gurevych 2019, "Sentence-BERT", arXiv:1908.10084, table 1: cosines of BERT's [CLS] hardly agree with people's
judgement of likeness (29 on average over seven tasks), the mean of its words somewhat (55), the mean of static word
vectors more (61), and a BERT that was trained on pairs of sentences best (75).

Here a pair of sentences is as alike as their Chinese translations: the share of Chinese words that both have. A BERT
reads English; some pairs train its [CLS] to be near that of like sentences, others, of other sentences, examine it.

This BERT was trained on hidden words alone, without the question whether one sentence follows another (as RoBERTa, Liu
et al. 2019, arXiv:1907.11692): what its last layer says at [CLS] never had a loss. That alone may be why it says
little, and is another reason than in the paper, whose BERT was asked this question. By how much [CLS] is the worst of
the four is told, not judged.
"""

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

import regard
from regard.bundle import CARD
from regard.config import Tree
from regard.data.corpora import Pair, sentences
from regard.evaluation.similarity import cosines, spearman
from regard.files import write_text
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.series import over_seeds
from regard.lab.shop import Shop
from regard.report import Plot
from regard.seeds import derive

STATISTIC = (
    "Spearman's correlation of the cosines with how alike the sentences are: that of [CLS] of the BERT that was "
    "trained on pairs minus that of [CLS] of the plain BERT."
)
THRESHOLD = 0.2
MARKS = frozenset("。，？！、")
CLS, MEAN, STATIC, TRAINED, RANDOM = (
    "[CLS] of BERT", "mean of BERT", "mean of word2vec", "[CLS], trained on pairs", "[CLS], trained on shuffled pairs",
)  # fmt: skip


class Likeness(NamedTuple):
    """Two sentences, and how alike they are, from 0 to 1."""

    first: str
    second: str
    score: float


def alike(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of words that two sentences have in common (Dice), marks left aside."""
    first, second = set(one) - MARKS, set(other) - MARKS
    return 2 * len(first & second) / (len(first) + len(second))


def distinct(given: Iterable[Pair]) -> Iterator[Pair]:
    """Each sentence once: none of the examination's may have been in a lesson."""
    seen = set[str]()
    for pair in given:
        if pair.source not in seen:
            seen.add(pair.source)
            yield pair


def pairs(drawn: Sequence[Pair], count: int, seed: int) -> list[Likeness]:
    """Half of them of one kind of sentence, so that all degrees of likeness occur, half of any two."""
    chance = random.Random(derive(seed, "pairs"))
    shelves: dict[str, list[Pair]] = {}
    for pair in drawn:
        shelves.setdefault(pair.family, []).append(pair)
    several = [shelf for shelf in shelves.values() if len(shelf) > 1]
    found = []
    for number in range(count):
        one, other = chance.sample(chance.choice(several) if number % 2 else list(drawn), 2)
        found.append(Likeness(one.source, other.source, alike(one.target_words, other.target_words)))
    return found


def shuffled(given: Sequence[Likeness], seed: int) -> list[Likeness]:
    """The same pairs, with each other's scores."""
    scores = [pair.score for pair in given]
    random.Random(derive(seed, "shuffled")).shuffle(scores)
    return [pair._replace(score=score) for pair, score in zip(given, scores, strict=True)]


def agreement(vectors: np.ndarray, given: Sequence[Likeness]) -> float:
    """How well cosines agree with likeness; the vectors are those of all first sentences, then of all second ones."""
    return spearman(cosines(vectors[: len(given)], vectors[len(given) :]), np.array([pair.score for pair in given]))


def trained(shop: Shop, name: str, given: Sequence[Likeness], epochs: float) -> Path:
    """The shop's BERT, taught with pairs of sentences, unless it has been: with these, in this way."""
    lessons = "".join(f"{pair.first}\t{pair.second}\t{pair.score:.4f}\n" for pair in given)
    settings: Tree = {
        "task": "similarity",
        "embedding": {"pooling": "cls", "normalize": True},
        "similarity": {"highest": 1.0},
        "training": {"epochs": epochs},
    }
    name = f"{name}-{fingerprint(lessons, settings)}"
    if (shop.place(name) / CARD).exists():
        return shop.place(name)
    file = shop.directory / "data" / f"{name}.{shop.seed}.tsv"
    write_text(file, lessons)
    data: Tree = {"train": [str(file)], "too_long": "cut"}
    return shop.train(name, {**settings, "init": str(shop.made("bert")), "data": data})


def fingerprint(lessons: str, settings: Tree) -> str:
    """Another one for other lessons or settings."""
    return hashlib.sha256((lessons + json.dumps(settings)).encode()).hexdigest()[:8]


def measure(setting: Setting) -> Measured:
    shop, count = setting.shop, setting.of(1500, 4000)
    drawn = list(islice(distinct(sentences(derive(setting.seed, "sentences"))), 2 * count))
    lessons, examination = pairs(drawn[:count], count, setting.seed), pairs(drawn[count:], 1000, setting.seed)
    texts = [pair.first for pair in examination] + [pair.second for pair in examination]
    epochs = setting.of(3.0, 5.0)
    bert, words = shop.load("bert"), shop.load("words-en")
    taught = regard.load(trained(shop, "sentence-vectors", lessons, epochs))
    misled = regard.load(trained(shop, "sentence-vectors-shuffled", shuffled(lessons, setting.seed), epochs))
    found = {
        CLS: bert.embed(texts, pooling="cls", truncate=True),
        MEAN: bert.embed(texts, pooling="mean", truncate=True),
        STATIC: words.embed(texts),
        TRAINED: taught.embed(texts, truncate=True),
        RANDOM: misled.embed(texts, truncate=True),
    }
    agreements = {name: agreement(vectors, examination) for name, vectors in found.items()}
    return Measured(
        value=agreements[TRAINED] - agreements[CLS],
        control=agreements[RANDOM] - agreements[CLS],
        numbers={
            **{f"Spearman: {name}": one for name, one in agreements.items()},
            "[CLS] of BERT is the worst of the four by": behind(agreements),
        },
        series={"agreements": list(agreements.values())},
    )


def behind(agreements: Mapping[str, float]) -> float:
    """By how much [CLS] of the plain BERT agrees less than the worst of the other three; below 0 if it is not the
    worst."""
    return min(agreements[name] for name in (MEAN, STATIC, TRAINED)) - agreements[CLS]


def draw(measured: Sequence[Measured]) -> list[Figure]:
    bars = over_seeds("Spearman's correlation", [one.series["agreements"] for one in measured])
    names = [
        name.replace(" of ", "\nof ").replace(", trained on ", ",\ntrained on\n")
        for name in (CLS, MEAN, STATIC, TRAINED, RANDOM)
    ]
    return [Plot("bars", names, [bars], "vector of a sentence", "correlation", "Cosines and likeness of 1,000 pairs.")]


CLAIM = Claim(
    name="sentence_vectors",
    title="Training on pairs makes [CLS] of BERT a much better vector of a sentence",
    question="What should stand for a whole sentence: [CLS], the mean of its words, the mean of static word vectors, "
    "or a vector that was trained to?",
    source="Reimers & Gurevych 2019, table 1",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    control="trained in the same way on the same pairs, whose scores were shuffled.",
    measure=measure,
    draw=draw,
    models=("bert", "words-en"),
)
