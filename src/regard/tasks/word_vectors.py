"""A vector for each word, the same wherever it stands: neighbours, similarities, and texts as the mean of their
words."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import nn

from regard.config import Tree, nearest
from regard.errors import BundleError, ConfigError, DataError
from regard.insight import Neighbourhood
from regard.models.word2vec import GivenVectors
from regard.tasks.embedding import Vector, listed
from regard.tasks.texts import OneTokenizer, Place, numbered
from regard.text import word_vectors as files
from regard.text.tokenizer import SPECIALS
from regard.text.words import tokenizer_of, words_of

POOLINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "mean": lambda rows: rows.mean(axis=0),
    "max": lambda rows: rows.max(axis=0),
}
ALIKE, COMMON = 3, 50_000
"""So many spellings are proposed, of so many words: the commonest, which stand first."""


@dataclass(frozen=True)
class Neighbour:
    """A word, and the cosine of its vector with the one that was asked for."""

    text: str
    similarity: float


class WordVectors:
    """What `regard.load` gives for a word2vec, or for a file of word vectors. `words` and `matrix`: all words and their
    vectors, row by row."""

    def __init__(self, model: nn.Module, tokenizers: OneTokenizer, *, name: str = "") -> None:
        self.model, self.tokenizers, self.name = model.eval(), tokenizers, name
        self.tokenizer = tokenizers.tokenizer
        self.words = words_of(self.tokenizer)[len(SPECIALS) :]
        trained: Any = model
        self.matrix: Float32[np.ndarray, "V D"] = trained.vectors()[len(SPECIALS) :].cpu().numpy()
        self._places = {word: row for row, word in enumerate(self.words)}

    @classmethod
    def assemble(cls, model: nn.Module, tokenizers: OneTokenizer, config: Tree, name: str) -> "WordVectors":
        """From the parts of a bundle."""
        return cls(model, tokenizers, name=name)

    @classmethod
    def read(cls, path: Path) -> "WordVectors":
        """From a file as word2vec writes it. Marks, such as the </s> of word2vec, are no words; of a word that is there
        twice, the first counts."""
        words, vectors = files.read(path)
        first = {word: row for row, word in reversed([*enumerate(words)]) if word not in SPECIALS}
        rows = sorted(first.values())
        marks = np.zeros((len(SPECIALS), vectors.shape[1]), np.float32)
        model = GivenVectors(torch.from_numpy(np.concatenate((marks, vectors[rows]))))
        return cls(model, OneTokenizer(tokenizer_of([words[row] for row in rows])), name=path.resolve().name)

    def write(self, path: Path) -> str:
        """As word2vec does it: binary if the name ends in .bin, else text; gzipped if .gz follows. Tells what it is."""
        if path.is_file() or path.is_dir():
            raise BundleError(f"{path} is there already.", do="give a new file")
        binary = path.name.removesuffix(".gz").endswith(".bin")
        files.write(path, self.words, self.matrix, binary=binary)
        count, width = self.matrix.shape
        return f"{count:,} words of width {width}, as {'binary' if binary else 'text'}"

    def __contains__(self, word: object) -> bool:
        """Whether this is a word, and one that is known."""
        return isinstance(word, str) and len(self._rows(word)) == len(self._known(word)) == 1

    def vector(self, word: str) -> Vector:
        """The vector of a word."""
        if word not in self:
            count = len(self._rows(word))
            raise DataError(
                f"{word!r} is not in the vocabulary.",
                found={0: "no word", 1: "a rare or unheard word"}.get(count, f"{count} words"),
                wanted=f"one of the {len(self.words):,} words that have a vector",
                do="use embed for texts" if len(word.split()) > 1 else self._alike(word),
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

    def neighbourhood(self, word: str, *, top: int = 10) -> Neighbourhood:
        """A word and its nearest, with their vectors: what `regard word` draws."""
        found = self.nearest(word, top=top)
        rows = [*self._known(word), *(self._places[one.text] for one in found)]
        return Neighbourhood(tuple(self.words[row] for row in rows), self.matrix[rows])

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

    def _rows(self, text: str) -> list[int]:
        """The row of each word of a text, below 0 if it has none. What stands between spaces may be a word as it is,
        such as C++ or 北京 in a file of others; else it is split as texts to train on are."""
        rows: list[int] = []
        for part in self.tokenizer.normal(text).split():
            whole = self._places.get(part)
            rows += [id - len(SPECIALS) for id in self.tokenizer.encode(part)] if whole is None else [whole]
        return rows

    def _known(self, text: str) -> list[int]:
        """The rows of the words of a text that have one."""
        return [row for row in self._rows(text) if row >= 0]

    def _alike(self, word: str) -> str:
        """What may have been meant: the same word in other letters, then words that are spelt alike."""
        asked = self.tokenizer.normal(word).strip()
        same = [known for known in self.words if known.casefold() == asked.casefold()]
        close = same + get_close_matches(asked, self.words[:COMMON], n=ALIKE)
        return (
            f"did you mean {' or '.join(dict.fromkeys(close[:ALIKE]))}?"
            if close
            else "check the spelling; .words has them all"
        )


def export_word2vec(loaded: Any, path: Path) -> str:
    """Writes what `regard.load` gave as word2vec does it; tells what it is."""
    if not isinstance(loaded, WordVectors):
        raise ConfigError(
            "Only vectors of words can be written as word2vec does it.",
            found=type(loaded.model).__name__,
            wanted="a model that was trained with --task words",
            do="take another --to; or make vectors of texts with regard embed",
        )
    return loaded.write(path)


def _units(rows: Float[np.ndarray, "N D"]) -> Float[np.ndarray, "N D"]:
    """Of length 1; zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units: np.ndarray = rows / np.maximum(lengths, np.finfo(rows.dtype).tiny)
    return units
