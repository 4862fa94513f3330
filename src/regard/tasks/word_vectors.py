"""A vector for each word, the same wherever it stands: neighbours, similarities, and texts as the mean of their
words."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Float32
from torch import nn

from regard.config import Tree, nearest
from regard.errors import ConfigError, DataError
from regard.tasks.embedding import Vector, listed
from regard.tasks.texts import OneTokenizer, Place, numbered
from regard.text.tokenizer import SPECIALS
from regard.text.words import words_of

POOLINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "mean": lambda rows: rows.mean(axis=0),
    "max": lambda rows: rows.max(axis=0),
}


@dataclass(frozen=True)
class Neighbour:
    """A word, and the cosine of its vector with the one that was asked for."""

    text: str
    similarity: float


class WordVectors:
    """What `regard.load` gives for a word2vec. `words` and `matrix`: all words and their vectors, row by row."""

    def __init__(self, model: nn.Module, tokenizers: OneTokenizer, *, name: str = "") -> None:
        self.model, self.tokenizers, self.name = model.eval(), tokenizers, name
        self.tokenizer = tokenizers.tokenizer
        self.words = words_of(self.tokenizer)[len(SPECIALS) :]
        trained: Any = model
        self.matrix: Float32[np.ndarray, "V D"] = trained.vectors()[len(SPECIALS) :].cpu().numpy()

    @classmethod
    def assemble(cls, model: nn.Module, tokenizers: OneTokenizer, config: Tree, name: str) -> "WordVectors":
        """From the parts of a bundle."""
        return cls(model, tokenizers, name=name)

    def __contains__(self, word: object) -> bool:
        """Whether this is a word, and one that is known."""
        return isinstance(word, str) and len(self._all(word)) == len(self._known(word)) == 1

    def vector(self, word: str) -> Vector:
        """The vector of a word."""
        if word not in self:
            count = len(self._all(word))
            raise DataError(
                f"{word!r} is not in the vocabulary.",
                found="a rare or unheard word" if count == 1 else f"{count} words",
                wanted=f"one of the {len(self.words):,} words that the training text has often enough",
                do="see .words" if count == 1 else "use embed for texts",
            )
        row: Vector = self.matrix[self._known(word)[0]]
        return row

    def nearest(self, word: str | Float[np.ndarray, "D"], *, top: int = 10) -> list[Neighbour]:
        """The words whose vectors point where that of a word points, or where a vector does; the word itself is left
        out."""
        asked = self.vector(word) if isinstance(word, str) else word
        cosines = _units(self.matrix) @ _units(asked[None])[0]
        if isinstance(word, str):
            cosines[self._known(word)] = -np.inf
        best = np.argsort(-cosines, kind="stable")[: min(top, np.count_nonzero(cosines > -np.inf))]
        return [Neighbour(self.words[id], float(cosines[id])) for id in best.tolist()]

    def similarity(self, a: str, b: str) -> float:
        """The cosine of two words, or of two texts (the means of their words)."""
        for text in (a, b):
            if not self._known(text):
                raise DataError("There is no known word to compare.", found=repr(text[:80]))
        first, second = _units(self.embed([a, b]))
        return float(first @ second)

    def embed(self, texts: Sequence[str], *, truncate: bool = False, **how: Any) -> Float32[np.ndarray, "N D"]:
        """A vector for each text, in their order: its known words, pooled; zeros if there is none. pooling: "mean", or
        "max", the largest of each number; normalize: to length 1. No text is too long, so nothing is truncated."""
        rows = [row for _, row in self.vectors(texts, truncate=truncate, **how)]
        return np.array(rows, dtype=np.float32).reshape(-1, self.matrix.shape[1])

    def vectors(
        self,
        texts: Sequence[str],
        *,
        pooling: str | None = None,
        normalize: bool | None = None,
        truncate: bool = False,
        place: Place = numbered,
    ) -> Iterator[tuple[int, Vector]]:
        """The same as (number of the text, its vector), as they come. None: mean, not normalized."""
        pooling = pooling or "mean"
        if pooling not in POOLINGS:
            raise ConfigError(f"Words cannot be pooled by {pooling!r}.", do=nearest(pooling, POOLINGS))
        for number, text in enumerate(listed(texts)):
            rows = self.matrix[self._known(text)]
            row = POOLINGS[pooling](rows) if len(rows) else np.zeros(rows.shape[1], np.float32)
            yield number, _units(row[None])[0] if normalize else row

    def _all(self, text: str) -> list[int]:
        return self.tokenizer.encode(text)

    def _known(self, text: str) -> list[int]:
        """The rows of the words of a text that have one."""
        return [id - len(SPECIALS) for id in self._all(text) if id != self.tokenizer.unknown]


def _units(rows: Float[np.ndarray, "N D"]) -> Float[np.ndarray, "N D"]:
    """Of length 1; zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units: np.ndarray = rows / np.maximum(lengths, np.finfo(rows.dtype).tiny)
    return units
