"""A Transformer small enough for a test, all of whose sizes differ, and sentences for it."""

from typing import Any

import torch
from torch import Tensor

from regard.models.transformer import Transformer, TransformerConfig
from tests import oracles
from tests.draws import words

SOURCE_WORDS, TARGET_WORDS = 13, 11
START, END = 1, 2
LAYERS = {"encoder": 2, "decoder": 3}
NAMES = [
    "encoder.0.self", "encoder.1.self",
    "decoder.0.self", "decoder.0.cross", "decoder.1.self", "decoder.1.cross", "decoder.2.self", "decoder.2.cross",
]  # fmt: skip


def small(*, seed: int = 0, dtype: torch.dtype = torch.float32, **settings: Any) -> Transformer:
    """Width 12 in 3 heads of 4; 2 layers read, 3 write. No parameter at its starting value; ready for use."""
    defaults = {
        "width": 12, "heads": 3, "hidden": 20, "encoder_layers": 2, "decoder_layers": 3,
        "dropout": 0.0, "norm": "pre", "tie": "target", "limit": 24,
    }  # fmt: skip
    torch.manual_seed(seed)
    config = TransformerConfig(**{**defaults, **settings})
    same = config.tie == "all"
    model = Transformer(
        config, source_vocabulary=TARGET_WORDS if same else SOURCE_WORDS, target_vocabulary=TARGET_WORDS
    )
    oracles.shake(model, seed=seed + 1)
    return model.to(dtype).eval()


def sentences(*lengths: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """A source of that many sentences, their padding filled with words that must not matter, and their lengths."""
    return words(len(lengths), max(lengths), below=TARGET_WORDS, seed=seed), torch.tensor(lengths)
