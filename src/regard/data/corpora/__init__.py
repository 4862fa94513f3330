"""The corpus the package writes itself: English and Chinese from one grammar, with gold word alignments.

It is built around what attention is for (ambiguous words, who did what to whom, *it*, words that move), and every
sentence can be translated in one way only, from itself alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from regard.data.corpora.challenges import PHENOMENA, Contrast, draw_contrasts
from regard.data.corpora.families import FAMILIES, WEIGHTS
from regard.data.corpora.grammar import Draw, Pair, finish, held_out

__all__ = [
    "FAMILIES",
    "PHENOMENA",
    "Contrast",
    "Corpus",
    "Pair",
    "build",
    "held_out",
    "sentences",
]


@dataclass(frozen=True)
class Corpus:
    """Three sets that share no sentence, and the challenge sets by phenomenon."""

    train: tuple[Pair, ...]
    validation: tuple[Pair, ...]
    test: tuple[Pair, ...]
    challenges: Mapping[str, tuple[Contrast, ...]]


def sentences(seed: int) -> Iterator[Pair]:
    """Sentences without end, repetitions included."""
    draw = Draw(seed)
    names = tuple(FAMILIES)
    bounds = tuple(accumulate(WEIGHTS.get(name, 1.0) for name in names))
    while True:
        name = draw.random.choices(names, cum_weights=bounds)[0]
        yield finish(FAMILIES[name](draw), name)


def build(
    seed: int = 1, *, train: int = 40_000, validation: int = 500, test: int = 1_000, contrasts: int = 100
) -> Corpus:
    """The corpus of this seed: always the same for the same arguments."""
    challenges = {name: draw_contrasts(name, seed, contrasts) for name in PHENOMENA}
    seen = {side.source for pairs in challenges.values() for pair in pairs for side in (pair.first, pair.second)}
    unique: list[Pair] = []
    for pair in sentences(seed):
        if len(unique) == train + validation + test:
            break
        if pair.source not in seen:
            seen.add(pair.source)
            unique.append(pair)
    rest = validation + test
    return Corpus(tuple(unique[rest:]), tuple(unique[:validation]), tuple(unique[validation:rest]), challenges)
