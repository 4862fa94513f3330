"""What every model must be able to learn, and what it starts with."""

from math import log
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard import catalogue
from tests.draws import words
from tests.models.small import CHOICES, FAMILIES, TARGET_WORDS, chosen, sentences, untouched

B = 4
SOURCE, LENGTHS = sentences(7, 2, 6, 4)
TARGET = words(B, 5, below=TARGET_WORDS, seed=1)


def loss(model: Any, source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
    logits = model.output(model(source, lengths, target[:, :-1]))
    return nn.functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())


@pytest.mark.parametrize("tie", ["all", "target", "none"])
@pytest.mark.parametrize(
    ("family", "choice"), [*((family, {}) for family in FAMILIES), ("transformer", {"norm": "post"})]
)
def test_the_first_loss_is_that_of_guessing(family: str, choice: dict[str, str], tie: str) -> None:
    vocabulary = 1000
    torch.manual_seed(0)
    entry = catalogue.model_entry(family, "translation")
    model = untouched(family, {**catalogue.preset(entry, "tiny"), **choice, "tie": tie}, vocabulary)
    source, target = words(6, 9, below=vocabulary, seed=0), words(6, 11, below=vocabulary, seed=1)
    with torch.no_grad():
        first = loss(model, source, torch.full((6,), 9), target).item()
    assert first == pytest.approx(log(vocabulary), rel=0.15)


BY_HEART: dict[str, tuple[str, dict[str, Any]]] = {
    "transformer, pre-norm": ("transformer", {"norm": "pre"}),
    "transformer, post-norm": ("transformer", {"norm": "post"}),
    "rnn, gru from both sides": ("rnn", {"cell": "gru", "directions": 2}),
    "rnn, lstm, reversed": ("rnn", {"cell": "lstm", "reverse": True, "context": "start"}),
    "bahdanau": ("bahdanau", {}),
    "luong, general without feeding": ("luong", {"input_feeding": False, "window": "global"}),
    "luong, local-p, general": ("luong", {}),
}
FEW = {
    "transformer": {"heads": 4, "hidden": 48, "encoder_layers": 1, "decoder_layers": 2},
    "luong": {"layers": 1},
}


@pytest.mark.parametrize("name", BY_HEART)
def test_one_batch_is_learned_by_heart(name: str) -> None:
    family, choice = BY_HEART[name]
    torch.manual_seed(0)
    model = untouched(family, {"width": 32, "dropout": 0.0, "tie": "all", "limit": 12, **FEW.get(family, {}), **choice})
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3 if family == "transformer" else 1e-2)
    target = words(B, 8, below=TARGET_WORDS, seed=3)
    target[:, 0] = 1  # all start alike: what follows is known from the source alone
    for _ in range(150):
        optimizer.zero_grad()
        value = loss(model, SOURCE, LENGTHS, target)
        value.backward()
        if value.item() < 0.03:
            break
        optimizer.step()
    assert loss(model, SOURCE, LENGTHS, target).item() < 0.05


LEARNED = {"transformer, pre-norm": {"positions": "learned"}}


@pytest.mark.parametrize("name", CHOICES)
def test_every_parameter_gets_a_gradient(name: str) -> None:
    model = chosen(name, tie="none", **LEARNED.get(name, {})).train()
    loss(model, SOURCE, LENGTHS, TARGET).backward()
    for parameter_name, parameter in model.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.isfinite().all(), parameter_name
        assert parameter.grad.abs().max() > 0, parameter_name
