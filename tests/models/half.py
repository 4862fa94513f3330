"""Loss and gradients of every small model in full and in half precision; run as a program, it prints their distances.

A program of its own, because some virtual machines claim AMX and then refuse it: oneDNN must be told before torch is
imported.
"""

import json
import sys

import torch
from torch import Tensor

from regard.data.batches import PairBatch
from regard.tasks.translation import cross_entropy
from tests.draws import words
from tests.models.small import CHOICES, TARGET_WORDS, chosen

LENGTHS = torch.tensor([5, 3, 4])
BATCH = PairBatch(
    words(3, 5, below=TARGET_WORDS, seed=1), LENGTHS, words(3, 6, below=TARGET_WORDS, seed=2), LENGTHS + 1
)


def loss_and_gradients(name: str, dtype: torch.dtype | None) -> tuple[float, dict[str, Tensor]]:
    model = chosen(name)
    model.train()
    with torch.autocast("cpu", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
        total, count = cross_entropy(model, BATCH, label_smoothing=0.1)
    (total / count).backward()
    return float(total.detach() / count), {key: p.grad for key, p in model.named_parameters() if p.grad is not None}


def distances(name: str, dtype: torch.dtype) -> dict[str, float]:
    """How far loss and gradients are from those in float32, relatively."""
    (full, wanted), (half, found) = loss_and_gradients(name, None), loss_and_gradients(name, dtype)
    assert found.keys() == wanted.keys()
    assert all(gradient.dtype is torch.float32 for gradient in found.values())
    apart = sum(float((found[key] - wanted[key]).square().sum()) for key in wanted) ** 0.5
    return {
        "loss": abs(half - full) / full,
        "gradients": apart / sum(float(gradient.square().sum()) for gradient in wanted.values()) ** 0.5,
    }


if __name__ == "__main__":
    formats = {word: getattr(torch, word) for word in sys.argv[1:]}
    print(json.dumps({word: {name: distances(name, kind) for name in CHOICES} for word, kind in formats.items()}))
