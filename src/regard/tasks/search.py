"""Search by meaning: the lines whose vectors point where the vector of a question points. Exact: every line is
compared."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.errors import DataError

SCORES = 1 << 23
"""Scores that are held at a time: with many questions those of all lines would not fit into memory."""
MANY = 1 << 14
"""Lines that are worth sharing out among threads."""
SMALLEST = 1e-12
MATRIX = ".npy"


@dataclass(frozen=True)
class Hit:
    """A line that was found: its number from 0, and the cosine of its vector with the question's."""

    line: int
    score: float


class Index:
    """A vector for each line, of any length. They are not copied: those of a file stay in the file, and the system
    keeps in memory what is read of it."""

    def __init__(self, vectors: Float[np.ndarray, "N D"]) -> None:
        self.vectors = torch.from_numpy(np.ascontiguousarray(vectors, dtype=np.float32))
        self.lengths = torch.linalg.vector_norm(self.vectors, dim=1)
        if len(odd := (~self.lengths.isfinite()).nonzero()):
            raise DataError("The vectors have entries that are not numbers.", found=f"row {int(odd[0])}")
        self.lengths.clamp_(min=SMALLEST)

    def __len__(self) -> int:
        return len(self.vectors)

    @classmethod
    def read(cls, path: Path | str) -> "Index":
        """The vectors that `regard embed --output x.npy` wrote."""
        try:
            found = np.load(path, mmap_mode="c", allow_pickle=False)  # "c": torch wants what it could write to
        except (OSError, ValueError, EOFError) as error:
            raise _unreadable(Path(path), error) from None
        if not isinstance(found, np.ndarray) or found.ndim != 2 or not np.issubdtype(found.dtype, np.floating):
            held = f"{found.dtype} of shape {found.shape}" if isinstance(found, np.ndarray) else "several arrays"
            raise DataError(f"{path} holds no vectors.", found=held, wanted="a row for each line")
        return cls(found)

    @torch.inference_mode()
    def top(self, questions: Float[np.ndarray, "Q D"], most: int = 10) -> list[list[Hit]]:
        """The best lines for each question, the best first; of equal ones the earlier."""
        wanted = torch.from_numpy(np.ascontiguousarray(questions, dtype=np.float32))
        if wanted.shape[1:] != self.vectors.shape[1:]:
            raise DataError(
                "The vectors and the question are of different widths.",
                found=f"{self.vectors.shape[1]} and {wanted.shape[1]}",
                do="embed both with the same model",
            )
        if not len(wanted) or not len(self):
            return [[] for _ in wanted]
        count = max(1, SCORES // len(wanted))
        best: list[list[Found]] = [[] for _ in wanted]
        for first in range(0, len(self), count):
            found = _best(self._scores(wanted, first, first + count), most)
            for so_far, (scores, lines) in zip(best, found, strict=True):
                so_far.append((scores, lines + first))
        lengths = torch.linalg.vector_norm(wanted, dim=1).clamp_min(SMALLEST).tolist()
        return [_joined(found, most, length) for found, length in zip(best, lengths, strict=True)]

    def _scores(self, wanted: Tensor, first: int, end: int) -> Float[Tensor, "Q N"]:
        """Of some lines: the cosine, times the length of the question, which orders nothing. A single question is a
        product with a vector: it takes as long as reading the vectors does."""
        block = self.vectors[first:end]
        products = _products(wanted[0], block)[None] if len(wanted) == 1 else wanted @ block.T
        return products.div_(self.lengths[first:end])


def _products(question: Float[Tensor, "D"], lines: Float[Tensor, "N D"]) -> Float[Tensor, "N"]:
    """A part of many lines for each thread: where the processor is not Intel's, MKL leaves them all to one."""
    if len(lines) < MANY:
        return lines @ question
    threads = torch.get_num_threads()
    shared = len(lines) - len(lines) % threads
    parts = lines[:shared].view(threads, -1, lines.shape[1])
    found = torch.bmm(question.expand(threads, 1, -1), parts.mT).flatten()
    return found if shared == len(lines) else torch.cat((found, lines[shared:] @ question))


def _unreadable(path: Path, error: Exception) -> DataError:
    other = path.suffix != MATRIX and not isinstance(error, OSError)
    return DataError(
        f"{path} cannot be read as vectors.",
        found=f"a file that ends in {path.suffix or 'nothing'}" if other else str(error)[:120],
        wanted=f"a matrix with a row for each line ({MATRIX})",
        do=f"make it: regard embed MODEL --input LINES --output {path.with_suffix(MATRIX).name}",
    )


Found = tuple[Tensor, Tensor]
"""Scores and their lines, the best first."""


def _best(scores: Float[Tensor, "Q N"], most: int) -> list[Found]:
    """For each question. topk may choose any of several equal ones: it says how good the worst is, and all that are as
    good are sorted."""
    worst = scores.topk(min(most, scores.shape[1]), dim=1).values[:, -1:]
    asked, lines = (scores >= worst).nonzero(as_tuple=True)
    counts = asked.bincount(minlength=len(scores)).tolist()
    parts = (torch.split_with_sizes(found, counts) for found in (scores[asked, lines], lines))
    return [_sorted(values, places, most) for values, places in zip(*parts, strict=True)]


def _sorted(scores: Tensor, lines: Tensor, most: int) -> Found:
    """Lines that come in their order: equal ones stay in it."""
    order = scores.sort(descending=True, stable=True).indices[:most]
    return scores[order], lines[order]


def _joined(found: list[Found], most: int, length: float) -> list[Hit]:
    """Of all parts, each with its best."""
    values, places = (torch.cat(parts) for parts in zip(*found, strict=True))
    scores, lines = _sorted(values, places, most)
    return [Hit(line, score / length) for line, score in zip(lines.tolist(), scores.tolist(), strict=True)]
