"""Looking hard: one place at a time, but only after training."""

from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import capture
from tests.draws import assert_near, words
from tests.models.small import TARGET_WORDS, sentences, small

B, T, S = 4, 5, 7
SOURCE, LENGTHS = sentences(7, 2, 6, 4)
TARGET = words(B, T, below=TARGET_WORDS, seed=1)
PADDING = torch.arange(S) >= LENGTHS[:, None]


def weights_of(model: Any) -> Tensor:
    with torch.no_grad(), capture(model) as recording:
        model(SOURCE, LENGTHS, TARGET)
    return recording.joined("decoder.align")[:, 0]


@pytest.mark.parametrize(
    ("family", "settings"), [("bahdanau", {}), ("luong", {"window": "global"}), ("luong", {"window": "local-m"})]
)
def test_a_hard_model_learns_softly_and_looks_hard_afterwards(family: str, settings: dict[str, Any]) -> None:
    soft, ours = small(family, **settings), small(family, **settings, normalise="hard")
    assert torch.equal(weights_of(ours.train()), weights_of(soft))
    looked = weights_of(ours.eval())
    assert set(looked.flatten().tolist()) == {0.0, 1.0}
    assert_near(looked.sum(-1), weights_of(soft).sum(-1))  # 1, or 0 where a window has left the sentence
    assert not looked[PADDING[:, None].expand_as(looked)].any()
    assert torch.equal(looked[:, 0].argmax(-1), weights_of(soft)[:, 0].argmax(-1))  # until then nothing differed


def test_looking_hard_in_a_predicted_window_takes_the_best_place_under_the_gaussian() -> None:
    settings = {"window": "local-p", "radius": 1, "input_feeding": False}  # so narrow that the Gaussian decides
    looked, soft = weights_of(small("luong", **settings, normalise="hard")), weights_of(small("luong", **settings))
    seen = soft.sum(-1) > 0
    assert torch.equal(looked.sum(-1), seen.float())
    assert torch.equal(looked.argmax(-1)[seen], soft.argmax(-1)[seen])


def test_a_hard_model_is_trained_through_its_soft_weights() -> None:
    model = small("bahdanau", normalise="hard").train()
    model(SOURCE, LENGTHS, TARGET).sum().backward()
    assert model.align.score.v.grad.abs().max() > 0
