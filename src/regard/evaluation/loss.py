"""How well a model foretells held-out targets: cross-entropy per token, not smoothed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from regard.data.batches import group_by_length
from regard.data.readers import ParallelText
from regard.errors import DataError
from regard.tasks.pairs import EncodedPairs, Tokenizers
from regard.tasks.translation import cross_entropy

BATCH_TOKENS = 4096


@dataclass(frozen=True)
class Loss:
    """Of so many target tokens together, end marks included."""

    total: float = 0.0
    tokens: int = 0

    def __add__(self, other: "Loss") -> "Loss":
        return Loss(self.total + other.total, self.tokens + other.tokens)

    @property
    def per_token(self) -> float:
        return self.total / self.tokens


def fitting(model: nn.Module, text: ParallelText, tokenizers: Tokenizers) -> EncodedPairs:
    """The pairs of a text that the model can take, as ids."""
    pairs = EncodedPairs.encode(text.sources, text.targets, tokenizers)
    config: Any = model.config
    rows = np.flatnonzero(pairs.lengths.max(axis=1) <= config.limit).tolist()
    if not rows:
        raise DataError(f"Every validation pair is longer than {config.limit} tokens.", do="raise model.limit")
    return EncodedPairs([pairs.sources[i] for i in rows], [pairs.targets[i] for i in rows])


@torch.inference_mode()
def held_out_loss(model: nn.Module, pairs: EncodedPairs, tokenizers: Tokenizers) -> Loss:
    """The loss of all pairs, of which there may be none."""
    loss, device = Loss(), next(model.parameters()).device
    model.eval()
    for group in group_by_length(pairs.lengths.reshape(-1, 2), BATCH_TOKENS, np.arange(len(pairs))):
        if len(group):
            summed, tokens = cross_entropy(model, pairs.batch(group, tokenizers).to(device))
            loss += Loss(float(summed), tokens)
    return loss
