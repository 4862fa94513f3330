"""How well vectors tell which texts mean the same: the rank correlation of their cosines with what people say."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from regard.errors import DataError

Floats = npt.NDArray[np.floating[Any]]


@runtime_checkable
class Embeds(Protocol):
    """Makes a vector of each text."""

    def embed(self, texts: Sequence[str]) -> np.ndarray: ...


def score_similarity(
    encoder: Embeds, firsts: Sequence[str], seconds: Sequence[str], gold: Sequence[float]
) -> dict[str, Any]:
    """Spearman's correlation of the cosines of pairs of texts with the scores that people gave them."""
    if not len(firsts) == len(seconds) == len(gold):
        raise DataError(
            "Each pair needs two texts and a score.",
            found=f"{len(firsts)} first texts, {len(seconds)} second texts, {len(gold)} scores",
        )
    found = encoder.embed([*firsts, *seconds])
    correlation = spearman(cosines(found[: len(firsts)], found[len(firsts) :]), np.asarray(gold, dtype=np.float64))
    headline = f"Spearman {100 * correlation:.2f} of {len(gold)} pairs"
    return {"score": correlation, "spearman": correlation, "pairs": len(gold), "headline": headline}


def cosines(a: Floats, b: Floats) -> Floats:
    """Of each row of a with the same row of b; 0 where a row is zero."""
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    products = (a * b).sum(axis=1)
    found: Floats = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    return found


def spearman(a: Floats, b: Floats) -> float:
    """The correlation of the ranks; equal values share the mean of their ranks."""
    if len(a) != len(b) or len(a) < 2 or a.min() == a.max() or b.min() == b.max():
        raise DataError(
            "A rank correlation needs two columns of equal length, each with different values.",
            found=f"{len(a)} and {len(b)} values, {len(np.unique(a))} and {len(np.unique(b))} different ones",
        )
    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _ranks(values: Floats) -> Floats:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared: Floats = (last - (counts - 1) / 2)[places]
    return shared
