"""Where dropout falls in the recurrent models: there each entry is 0 with its probability, and nowhere else."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.draws import words
from tests.models.small import TARGET_WORDS, sentences, small

B, T = 30, 6
SOURCE, LENGTHS = sentences(*[7] * B)
TARGET = words(B, T, below=TARGET_WORDS, seed=1)
SHARE = 0.4
WORD, STATE = 9, 16  # widths of the embedding, and of a state of rnn and luong

Place = tuple[str, Callable[[tuple[Any, ...]], Tensor]]


def given(what: int = 0, part: slice = slice(None)) -> Callable[[tuple[Any, ...]], Tensor]:
    """That argument of a module, or some columns of it."""
    return lambda arguments: arguments[what][..., part]


DROPPED: dict[tuple[str, str], Place] = {
    ("bahdanau", "the words of the source"): ("encoder", given()),
    ("bahdanau", "the words of the target"): ("readout", given(2)),
    ("bahdanau", "the annotations that are scored"): ("align.score.keys", given()),
    ("bahdanau", "the annotations that are mixed"): ("align", lambda arguments: arguments[1].values),
    ("bahdanau", "what is read out"): ("output", given()),
    ("luong", "the words of the source"): ("encoder", given()),
    ("luong", "the words of the target"): ("decoder", given(part=slice(WORD))),
    ("luong", "what the encoder's first layer says to its second"): ("encoder.layers.1.0.input", given()),
    ("luong", "what the decoder's first layer says to its second"): ("decoder.layers.1.input", given()),
    ("luong", "what speaks"): ("output", given()),
    ("rnn", "the words of the source"): ("encoder", given()),
    ("rnn", "the words of the target"): ("decoder", given(part=slice(WORD))),
    ("rnn", "what the encoder's first layer says to its second"): ("encoder.layers.1.0.input", given()),
    ("rnn", "what the decoder's first layer says to its second"): ("decoder.layers.1.input", given()),
    ("rnn", "what the decoder says"): ("readout", given(part=slice(STATE))),
    ("rnn", "what speaks"): ("output", given()),
}

WHOLE: dict[tuple[str, str], Place] = {
    ("bahdanau", "the state that looks"): ("align.score.query", given()),
    ("bahdanau", "the state that is read out"): ("readout", given(1)),
    ("luong", "the annotations"): ("align", lambda arguments: arguments[1].values),
    ("luong", "the state that looks"): ("align", given()),
    ("luong", "what is looked at and the state that looked"): ("combine", given()),
    ("rnn", "the sentence given at every step"): ("decoder", given(part=slice(WORD, None))),
}


def zeros(family: str, place: Place, **settings: Any) -> float:
    """The share of exact zeros that arrives at a place."""
    layers = {} if family == "bahdanau" else {"layers": 2}
    model: nn.Module = small(family, dropout=SHARE, **layers, **settings).train()
    name, find = place
    seen: list[Tensor] = []
    model.get_submodule(name).register_forward_pre_hook(lambda _, arguments: seen.append(find(arguments).detach()))
    torch.manual_seed(0)
    model.output(model(SOURCE, LENGTHS, TARGET))
    return torch.cat([x.flatten() for x in seen]).eq(0).double().mean().item()


@pytest.mark.parametrize(("family", "what"), DROPPED)
def test_dropout_falls_on(family: str, what: str) -> None:
    assert zeros(family, DROPPED[family, what]) == pytest.approx(SHARE, abs=0.06)


@pytest.mark.parametrize(("family", "what"), WHOLE)
def test_dropout_does_not_fall_on(family: str, what: str) -> None:
    settings = {"input_feeding": False} if family == "luong" else {}  # at its start, feeding gives zeros of its own
    assert zeros(family, WHOLE[family, what], **settings) == 0


@pytest.mark.parametrize("what", ["the words of the target", "what speaks"])
def test_without_feeding_dropout_falls_on_the_same(what: str) -> None:
    assert zeros("luong", DROPPED["luong", what], input_feeding=False) == pytest.approx(SHARE, abs=0.06)
