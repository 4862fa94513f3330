"""How good sentence vectors are: while they are trained, and when they are."""

from typing import Any

import numpy as np
from torch import nn

from regard.evaluation.similarity import cosines, spearman
from regard.tasks.encoder import Encoder
from regard.tasks.similarity import ScoredPairs, SimilarityTask


def validate(task: SimilarityTask, model: nn.Module, *, sentences: int) -> dict[str, Any]:
    """Spearman's correlation of cosines and scores on the validation pairs, and their squared error as "loss". Nothing
    if the run has no validation set."""
    if "val" not in task.texts:
        return {}
    encoder = Encoder(model, task.tokenizers, parts=(), embedding=task.config.embedding)
    return _figures(encoder, task.texts["val"])


def evaluate(encoder: Encoder, task: SimilarityTask) -> dict[str, dict[str, Any]]:
    """The same for a finished model on the validation and the test pairs."""
    return {split: _figures(encoder, pairs) for split, pairs in task.texts.items() if split != "train"}


def _figures(encoder: Encoder, pairs: ScoredPairs) -> dict[str, Any]:
    wanted: np.ndarray = np.empty(0) if pairs.scores is None else pairs.scores
    vectors = encoder.embed([*pairs.firsts, *pairs.seconds], truncate=True)
    likeness = cosines(vectors[: len(pairs)], vectors[len(pairs) :])
    found = spearman(likeness, wanted)
    return {
        "score": found,
        "headline": f"Spearman {100 * found:.2f} of {len(pairs)} pairs",
        "loss": float(np.mean((likeness - wanted) ** 2)),
        "spearman": found,
        "pairs": len(pairs),
    }
