"""GPT-2s small enough for a test, all of whose sizes differ, and prompts for them."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from regard.models.gpt2 import GPT2, GPT2Config
from tests import oracles

WORDS, END = 17, 16
LIMIT = 64
SIZES: dict[str, Any] = {
    "width": 12, "heads": 3, "hidden": 20, "layers": 2, "limit": LIMIT,
    "dropout": 0.0, "embedding_dropout": 0.0, "attention_dropout": 0.0,
}  # fmt: skip
CHOICES: dict[str, dict[str, Any]] = {
    "as GPT-2": {},
    "without biases": {"bias": False, "activation": "gelu"},
    "one head, relu": {"heads": 1, "activation": "relu", "layers": 3},
}
PROMPTS = ([3, 1, 4, 1, 5, 9, 2], [6, 5], [3, 5, 8, 9, 7, 9], [3])


def gpt2(*, seed: int = 0, dtype: torch.dtype = torch.float32, **settings: Any) -> GPT2:
    """No parameter at its starting value; ready for use."""
    torch.manual_seed(seed)
    model = GPT2(GPT2Config.parse({**SIZES, **settings}), vocabulary=WORDS)
    oracles.shake(model, seed=seed + 1)
    return model.to(dtype).eval()


def before(prompts: Sequence[Sequence[int]], filler: int = 0) -> tuple[Tensor, Tensor]:
    """Prompts as one rectangle with padding before the shorter ones, and how much of it."""
    longest = max(map(len, prompts))
    padding = [longest - len(prompt) for prompt in prompts]
    rows = [[filler] * some + list(prompt) for some, prompt in zip(padding, prompts, strict=True)]
    return torch.tensor(rows), torch.tensor(padding)
