"""Models small enough for a test, all of whose sizes differ, and sentences for them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import torch
from torch import Tensor

from regard import catalogue
from tests import oracles
from tests.draws import words

SOURCE_WORDS, TARGET_WORDS = 13, 11
START, END = 1, 2
LAYERS = {"encoder": 2, "decoder": 3}
NAMES = [
    "encoder.0.self", "encoder.1.self",
    "decoder.0.self", "decoder.0.cross", "decoder.1.self", "decoder.1.cross", "decoder.2.self", "decoder.2.cross",
]  # fmt: skip

SIZES: dict[str, dict[str, Any]] = {
    "transformer": {
        "width": 12, "heads": 3, "hidden": 20, "encoder_layers": 2, "decoder_layers": 3,
        "dropout": 0.0, "norm": "pre", "tie": "target", "limit": 24,
    },
    "rnn": {"width": 16, "embedding": 9, "dropout": 0.0, "limit": 24},
    "bahdanau": {"width": 8, "embedding": 9, "alignment": 10, "readout": 12, "dropout": 0.0, "limit": 24},
    "luong": {"width": 16, "embedding": 9, "layers": 1, "radius": 2, "dropout": 0.0, "limit": 24},
}  # fmt: skip
"""Width 12 in 3 heads of 4, 2 layers read, 3 write; recurrent ones have annotations of 16, or of 8 from each side."""

CHOICES: dict[str, tuple[str, dict[str, Any]]] = {
    "transformer, pre-norm": ("transformer", {"norm": "pre"}),
    "transformer, post-norm, learned positions, untied": (
        "transformer", {"norm": "post", "positions": "learned", "tie": "none"},
    ),
    "transformer, no positions, all tied": ("transformer", {"positions": "none", "tie": "all"}),
    "rnn, gru": ("rnn", {"cell": "gru"}),
    "rnn, cho's gru, reversed, all tied": ("rnn", {"cell": "gru-cho", "reverse": True, "tie": "all"}),
    "rnn, cho's gru from both sides": ("rnn", {"cell": "gru-cho", "directions": 2, "context": "start"}),
    "rnn, two lstms from both sides": ("rnn", {"cell": "lstm", "layers": 2, "directions": 2, "tie": "target"}),
    "rnn, two lstms, reversed": ("rnn", {"cell": "lstm", "layers": 2, "context": "start", "reverse": True}),
    "bahdanau": ("bahdanau", {}),
    "bahdanau, all tied": ("bahdanau", {"tie": "all", "readout": 0}),
    "bahdanau, hard": ("bahdanau", {"normalise": "hard"}),
    "luong, dot": ("luong", {"score": "dot", "window": "global", "reverse": False}),
    "luong, general without feeding": ("luong", {"window": "global", "input_feeding": False, "layers": 2}),
    "luong, concat from both sides": (
        "luong", {"score": "concat", "window": "global", "cell": "gru", "directions": 2, "reverse": False},
    ),
    "luong, location": ("luong", {"score": "location", "window": "global", "cell": "gru-cho"}),
    "luong, hard, all tied": ("luong", {"window": "global", "normalise": "hard", "tie": "all", "embedding": 0}),
    "luong, local-m, dot without feeding": ("luong", {"score": "dot", "window": "local-m", "input_feeding": False}),
    "luong, local-m, general": ("luong", {"window": "local-m", "cell": "gru", "reverse": False, "layers": 2}),
    "luong, local-m, concat": ("luong", {"score": "concat", "window": "local-m", "directions": 2}),
    "luong, local-p, dot": ("luong", {"score": "dot", "cell": "gru-cho", "reverse": False}),
    "luong, local-p, general": ("luong", {"layers": 2}),
    "luong, local-p, concat without feeding": ("luong", {"score": "concat", "input_feeding": False, "directions": 2}),
    "luong, local-p, hard": ("luong", {"normalise": "hard"}),
}  # fmt: skip
"""A good choice of what the settings allow: each model, and each value of each setting of a recurrent one."""

FAMILIES = tuple(SIZES)
ATTENDING = [name for name, (family, _) in CHOICES.items() if family in ("bahdanau", "luong")]
"""The recurrent models that attend."""
SEARCHED = [
    "transformer, pre-norm", "rnn, two lstms, reversed", "bahdanau",
    "luong, local-p, general", "luong, local-m, dot without feeding",
]  # fmt: skip
"""Those that searches are tried with: one of each kind of state."""


def small(family: str = "transformer", *, seed: int = 0, dtype: torch.dtype = torch.float32, **settings: Any) -> Any:
    """No parameter at its starting value; ready for use."""
    torch.manual_seed(seed)
    model = untouched(family, {**SIZES[family], **settings})
    oracles.shake(model, seed=seed + 1)
    return model.to(dtype).eval()


def chosen(name: str, *, seed: int = 0, dtype: torch.dtype = torch.float32, **settings: Any) -> Any:
    """One of CHOICES."""
    family, choice = CHOICES[name]
    return small(family, seed=seed, dtype=dtype, **{**choice, **settings})


@cache
@torch.inference_mode(False)  # whoever asks first: made in inference mode, its parameters would be of no use to others
def ready(name: str) -> Any:
    """The same, made once: for tests that only ask."""
    return chosen(name)


def untouched(family: str, settings: Mapping[str, Any], vocabulary: int = TARGET_WORDS) -> Any:
    """A model as it is before training; the source has a vocabulary of its own unless all is tied."""
    entry = catalogue.model_entry(family, "translation")
    config = catalogue.find(entry.config).parse(settings)
    source = vocabulary if config.tie == "all" else vocabulary + SOURCE_WORDS - TARGET_WORDS
    return catalogue.find(entry.model)(config, source_vocabulary=source, target_vocabulary=vocabulary)


def sentences(*lengths: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """A source of that many sentences, their padding filled with words that must not matter, and their lengths."""
    return words(len(lengths), max(lengths), below=TARGET_WORDS, seed=seed), torch.tensor(lengths)
