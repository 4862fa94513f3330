"""Vectors of texts that CTranslate2 reads are those of torch."""

from pathlib import Path

import numpy as np
import pytest

import regard
from regard import engines
from regard.attention import capture
from tests.models.pretrained.checkpoints import TEXTS, minilm, theirs, write


@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
@pytest.mark.parametrize("activation", ["gelu", "relu", "gelu_new"])
def test_vectors_are_those_of_torch(activation: str, pooling: str, tmp_path: Path) -> None:
    encoder = regard.load(write(tmp_path, theirs("BertModel", hidden_act=activation)))
    wanted = encoder.embed(TEXTS, pooling=pooling)
    found = engines.use(encoder, "ctranslate2", place=tmp_path).embed(TEXTS, pooling=pooling)
    np.testing.assert_allclose(found, wanted, atol=2e-5)


def test_minilm_gives_the_same_vectors() -> None:
    encoder = regard.load(minilm())
    texts = ["A cat sits on the mat.", "Two dogs.", "", "The bank of the river was muddy after the long rain."]
    wanted = encoder.embed(texts)
    exact = engines.use(encoder, "ctranslate2").embed(texts)
    np.testing.assert_allclose(exact, wanted, atol=1e-5)
    rounded = engines.use(encoder, "ctranslate2-int8").embed(texts)
    assert (np.einsum("nd,nd->n", rounded, wanted) > 0.98).all()
    assert np.abs(rounded - wanted).max() > 1e-4


def test_torch_is_taken_back_and_fills_in_words_all_the_time(tmp_path: Path) -> None:
    encoder = regard.load(write(tmp_path, theirs("BertForPreTraining")))
    filled = encoder.fill("a river [MASK]")
    engines.use(encoder, "ctranslate2", place=tmp_path)
    assert encoder.engine is not encoder.bert
    assert encoder.fill("a river [MASK]") == filled
    assert engines.use(encoder, "torch").engine is encoder.bert


def test_what_torch_computes_instead_is_said_once_and_can_be_watched(tmp_path: Path) -> None:
    told: list[str] = []
    encoder = engines.load(write(tmp_path, theirs("BertForPreTraining")), "ctranslate2", say=told.append)
    plain = encoder.embed(TEXTS)
    assert told == []
    with capture(encoder.model) as recording:
        np.testing.assert_allclose(encoder.embed(TEXTS), plain, atol=2e-5)
    assert recording.names
    for _ in range(2):
        encoder.attention("a river")
        encoder.fill("a river [MASK]")
    assert told == [f"{what}: computed by torch, ctranslate2 cannot" for what in ("attention", "fill")]
