"""A word in several sentences."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.errors import DataError, LimitError
from regard.insight import Contexts, draw_contexts
from regard.insight.contexts import cosines, plane, table
from regard.models.bert import BertConfig, BertForPretraining
from regard.tasks.contexts import word_contexts
from regard.tasks.encoder import Encoder
from regard.tasks.texts import OneTokenizer, WordPieceConfig
from regard.text import train_tokenizer

SENTENCES = ["the bank of the river", "money in the Bank", "他去银行"]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    texts = [*SENTENCES, "rivers banking money"] * 6
    tokenizer = train_tokenizer(texts, WordPieceConfig(size=60))
    torch.manual_seed(1)
    config = BertConfig(width=16, heads=2, hidden=32, layers=3, limit=24)
    return Encoder(BertForPretraining(config, vocabulary=len(tokenizer)), OneTokenizer(tokenizer))


def test_the_vectors_are_the_states_of_the_model(encoder: Any) -> None:
    found = word_contexts(encoder, "bank", SENTENCES[:2])
    assert found.layers.shape == (2, 4, 16)
    pieces = encoder.tokenizer.encode("bank")
    assert np.allclose(found.alone, encoder.model.bert.words.weight[pieces].mean(0).detach().numpy())
    ids = [encoder.tokenizer.start, *encoder.tokenizer.encode(SENTENCES[0]), encoder.tokenizer.end]
    first = 1 + len(encoder.tokenizer.encode("the"))
    hidden = encoder.model.bert(torch.tensor([ids]), torch.tensor([len(ids)]))[0, first : first + len(pieces)]
    assert np.allclose(found.layers[0, -1], hidden.mean(0).detach().numpy(), atol=1e-6)


def test_a_word_is_found_as_a_word_in_any_case_and_in_chinese_as_it_stands(encoder: Any) -> None:
    assert len(word_contexts(encoder, "BANK", SENTENCES[:2]).layers) == 2
    assert len(word_contexts(encoder, "银行", SENTENCES[2:]).layers) == 1
    with pytest.raises(DataError, match=r"(?s)Sentence 1 does not have the word 'ban'.*the bank of"):
        word_contexts(encoder, "ban", SENTENCES)
    with pytest.raises(LimitError, match="Sentence 2 is longer"):
        word_contexts(encoder, "bank", ["a bank", "bank " * 40])
    with pytest.raises(DataError, match="empty"):
        word_contexts(encoder, " ", SENTENCES)


def test_the_plane_is_that_of_the_largest_eigenvalues() -> None:
    points = np.random.default_rng(1).normal(size=(12, 5)) * [5, 1, 3, 1, 1]
    places, shares = plane(points)
    values, vectors = np.linalg.eigh(np.cov(points.T))
    assert shares == pytest.approx([values[-1] / values.sum(), values[-2] / values.sum()])
    wanted = (points - points.mean(0)) @ vectors[:, [-1, -2]]
    assert np.allclose(np.abs(places), np.abs(wanted))
    assert plane(points[:1])[0].shape == (1, 2)


def test_cosines_by_hand() -> None:
    assert np.allclose(cosines(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[0.0, 2.0]])), [[0.0], [2**-0.5]])


def test_the_picture_and_the_numbers(encoder: Any, tmp_path: Path) -> None:
    found = word_contexts(encoder, "bank", SENTENCES[:2])
    drawn = draw_contexts(found, tmp_path / "word.svg").read_text()
    assert "money in the Bank" in drawn
    assert "without context" in drawn
    lines = table(found)
    assert len(lines) == 9
    assert lines[-1].split()[-1] == "1.00"
    assert isinstance(found, Contexts)
