"""Search by meaning: the lines whose vectors point where the vector of a question points. Exact: every line is
compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.errors import DataError

BLOCK = 262_144
"""Rows that are compared at a time: with many questions the scores of all rows would not fit into memory."""


@dataclass(frozen=True)
class Hit:
    """A line that was found: its number from 0, and the cosine of its vector with the question's."""

    line: int
    score: float


class Index:
    """Vectors of length 1, one for each line."""

    def __init__(self, vectors: Float[np.ndarray, "N D"]) -> None:
        long = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(long).all():
            row = int(np.argmin(np.isfinite(long)))
            raise DataError("The vectors have entries that are not numbers.", found=f"row {row}")
        if np.abs(long - 1).max(initial=0.0) > 1e-3:
            vectors = vectors / np.maximum(long, 1e-12)
        self.vectors = torch.from_numpy(np.ascontiguousarray(vectors, dtype=np.float32))

    def __len__(self) -> int:
        return len(self.vectors)

    @classmethod
    def read(cls, path: Path | str) -> "Index":
        """The vectors that `regard embed --output x.npy` wrote."""
        try:
            found = np.load(path, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise DataError(f"{path} cannot be read.", found=str(error)[:120], do="make it with regard embed") from None
        if found.ndim != 2 or not np.issubdtype(found.dtype, np.floating):
            raise DataError(
                f"{path} holds no vectors.", found=f"{found.dtype} of shape {found.shape}", wanted="a row for each line"
            )
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
        wanted = wanted / wanted.norm(dim=1, keepdim=True).clamp_min(1e-12)
        scores, lines = torch.empty(len(wanted), 0), torch.empty(len(wanted), 0, dtype=torch.long)
        for first in range(0, len(self), BLOCK):
            found = self._scores(self.vectors[first : first + BLOCK], wanted)
            best = found.topk(min(most, found.shape[1]), dim=1)
            scores = torch.cat((scores, best.values), dim=1)
            lines = torch.cat((lines, best.indices + first), dim=1)
        return [_best(row, places, most) for row, places in zip(scores.tolist(), lines.tolist(), strict=True)]

    def _scores(self, block: Tensor, wanted: Tensor) -> Tensor:
        """(Q N). A single question is a product with a vector, which reads the block once."""
        return (block @ wanted[0])[None] if len(wanted) == 1 else wanted @ block.T


def _best(scores: Sequence[float], lines: Sequence[int], most: int) -> list[Hit]:
    ranked = sorted(zip(scores, lines, strict=True), key=lambda found: (-found[0], found[1]))
    return [Hit(line, score) for score, line in ranked[:most]]
