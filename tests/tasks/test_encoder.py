"""The verbs of a BERT: vectors of texts whatever the batch, states, hidden words, limits."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import regard
from regard.errors import ConfigError, DataError, LimitError
from regard.inside import masks
from regard.models.bert import BertConfig, BertEncoder, BertForPretraining
from regard.models.pretrained.networks import MASKED
from regard.tasks.embedding import EmbeddingConfig
from regard.tasks.encoder import Encoder
from regard.tasks.texts import OneTokenizer
from regard.text import TokenizerConfig, train_tokenizer
from tests.models.pretrained.checkpoints import VOCABULARY, theirs, write, write_words
from tests.text.corpus import TEXTS

MIXED = ["The lion saw the zebra.", "", "那只斑马", "a " * 12, "   ", "The cat.", "", "\x00\x07"]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    tokenizer = train_tokenizer(TEXTS, TokenizerConfig(kind="wordpiece", size=300, lowercase=True))
    torch.manual_seed(1)
    model = BertEncoder(BertConfig(width=24, heads=3, hidden=40, layers=2, limit=20), vocabulary=len(tokenizer))
    return Encoder(model, OneTokenizer(tokenizer), name="small")


@pytest.mark.parametrize("batch_tokens", [1, 25, 4096])
@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
def test_vectors_are_the_pooled_states_of_each_text_alone(pooling: str, batch_tokens: int, encoder: Encoder) -> None:
    pool = {"cls": lambda x: x[0], "mean": lambda x: x.mean(0), "max": lambda x: x.max(0)}[pooling]
    found = encoder.embed(MIXED, pooling=pooling, batch_tokens=batch_tokens)
    assert found.shape == (len(MIXED), 24)
    assert found.dtype == np.float32
    for text, vector in zip(MIXED, found, strict=True):
        np.testing.assert_allclose(vector, pool(encoder.hidden(text)), atol=1e-5)


def test_an_empty_text_is_its_marks(encoder: Encoder) -> None:
    found = encoder.embed(MIXED)
    assert np.isfinite(found).all()
    assert encoder.hidden("").shape == (2, 24)
    np.testing.assert_allclose(found[1], encoder.hidden("").mean(0), atol=1e-6)
    np.testing.assert_array_equal(found[1], found[6])
    assert encoder.embed([]).shape == (0, 24)


def test_normalized_vectors_point_the_same_way_and_have_length_one(encoder: Encoder) -> None:
    plain, unit = encoder.embed(MIXED), encoder.embed(MIXED, normalize=True)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(unit * np.linalg.norm(plain, axis=1, keepdims=True), plain, atol=1e-5)


def test_what_is_not_asked_for_is_done_as_the_model_was_made_for(encoder: Encoder) -> None:
    how = EmbeddingConfig(pooling="max", normalize=True, prefix="the ", limit=12)
    made = Encoder(encoder.model, encoder.tokenizers, embedding=how)
    wanted = encoder.embed(["the cat", "the dog"], pooling="max", normalize=True)
    np.testing.assert_array_equal(made.embed(["cat", "dog"]), wanted)
    np.testing.assert_array_equal(made.embed(["cat"], normalize=False), encoder.embed(["the cat"], pooling="max"))
    with pytest.raises(LimitError, match="at most 12"):
        made.embed(["a " * 10])
    assert Encoder(encoder.model, encoder.tokenizers, embedding=EmbeddingConfig(limit=99)).embedding.limit == 20


def test_vectors_come_with_the_numbers_of_their_texts(encoder: Encoder) -> None:
    wanted = encoder.embed(MIXED)
    found = dict(encoder.vectors(MIXED, batch_tokens=30))
    assert sorted(found) == list(range(len(MIXED)))
    for number, vector in found.items():
        np.testing.assert_allclose(vector, wanted[number], atol=1e-6)


def test_a_text_that_is_too_long_is_refused_or_cut(encoder: Encoder) -> None:
    long = "the lion saw " * 10
    with pytest.raises(
        LimitError, match=r"Text 3 is longer.*\n  found: 32 tokens\n  wanted: at most 20.*\n.*--truncate"
    ):
        encoder.embed(["a", "b", long])
    kept = " ".join(long.split()[:18])
    np.testing.assert_array_equal(encoder.embed([long], truncate=True), encoder.embed([kept]))
    for verb in (encoder.hidden, encoder.attention):
        with pytest.raises(LimitError, match=r"The text is longer"):
            verb(long)
    with pytest.raises(LimitError, match="found: 21 tokens"):
        encoder.hidden("the " * 9, "the " * 9)
    assert encoder.hidden("the " * 9, "the " * 8).shape == (20, 24)


def test_states_are_those_of_each_layer_with_the_segments_of_both_texts(encoder: Encoder) -> None:
    ids = [encoder.tokenizer.encode(text) for text in ("the cat", "a dog .")]
    start, end = encoder.tokenizer.start, encoder.tokenizer.end
    tokens = torch.tensor([[start, *ids[0], end, *ids[1], end]])
    segments = torch.tensor([[0] * (len(ids[0]) + 2) + [1] * (len(ids[1]) + 1)])
    model: Any = encoder.model
    with torch.inference_mode():
        wanted = list(model.bert.layers(tokens, torch.tensor([tokens.shape[1]]), segments))
    for layer in (0, 1, 2, -1, -3):
        found = encoder.hidden("the cat", "a dog .", layer=layer)
        np.testing.assert_allclose(found, wanted[layer][0].numpy(), atol=1e-6)
    with pytest.raises(ConfigError, match=r"no layer 3.\n  wanted: 0 \(the embedding\) to 2"):
        encoder.hidden("the cat", layer=3)


def test_a_pair_needs_two_segments(encoder: Encoder) -> None:
    config = BertConfig(width=24, heads=3, hidden=40, layers=1, limit=20, segments=1)
    alone = Encoder(BertEncoder(config, vocabulary=len(encoder.tokenizer)), encoder.tokenizers, name="alone")
    assert alone.hidden("the cat").shape[1] == 24
    for verb in (alone.hidden, alone.attention, partial(masks, alone)):
        with pytest.raises(DataError, match=r"alone takes single texts, not pairs.\n  found: one segment only"):
            verb("the cat", "a dog")


def test_faults_are_told(encoder: Encoder) -> None:
    with pytest.raises(DataError, match="takes a list of texts"):
        encoder.embed("one text")
    with pytest.raises(ConfigError, match=r"embed.pooling"):
        encoder.embed(["a"], pooling="sum")
    with pytest.raises(ConfigError, match=r"no setting called embed.poolin"):
        encoder.embed(["a"], poolin="max")
    with pytest.raises(ConfigError, match="small cannot fill in words"):
        encoder.fill("a [MASK]")


def test_only_tokens_are_filled_in_even_if_the_model_has_more_rows(encoder: Encoder) -> None:
    torch.manual_seed(2)
    rows = len(encoder.tokenizer) + 50
    model = BertForPretraining(BertConfig(width=24, heads=3, hidden=40, layers=1, limit=20), vocabulary=rows)
    filled = Encoder(model, encoder.tokenizers, parts=(MASKED,)).fill("the [MASK] saw [MASK]", top=10**6)
    assert [len(words) for words in filled] == [len(encoder.tokenizer)] * 2
    assert all(word.text != "None" for words in filled for word in words)


def test_a_vocabulary_that_repeats_a_line_keeps_its_last_words(tmp_path: Path) -> None:
    directory = write(tmp_path / "bert", theirs("BertForMaskedLM"))
    (directory / "tokenizer.json").unlink()
    words = [*VOCABULARY[:-1], "the", VOCABULARY[-1]]
    (filled,) = regard.load(write_words(directory, words)).fill("a [MASK]", top=10**6)
    assert sorted(word.text for word in filled) == sorted(word.removeprefix("##") for word in set(words))


def test_attention_of_a_model_of_others_has_its_tokens(tmp_path: Path) -> None:
    trace = regard.load(write(tmp_path, theirs("BertModel"))).attention("Unable dogs", "the [MASK]")
    assert trace.rows["text"].surfaces == ("[CLS]", "Un", "able", "dog", "s", "[SEP]", "the", "[MASK]", "[SEP]")
    assert trace.names == ("encoder.0.self", "encoder.1.self", "encoder.2.self")
    for name in trace.names:
        np.testing.assert_allclose(trace.weights[name].sum(-1), 1, atol=1e-5)
