"""The encoder–decoder without attention against its equations in numpy, one sentence at a time; what it cannot do."""

from typing import Any

import numpy as np
import pytest
import torch

from regard.attention import NothingRecordedError, capture
from regard.models.recurrent import Recurrent
from tests.draws import assert_near, words
from tests.layers.in_numpy import Array, Lstms, array, cho_gru, embedded, read_cho, softmax
from tests.models.small import CHOICES, TARGET_WORDS, ready, sentences, small

B, T = 4, 5
SOURCE, LENGTHS = sentences(7, 2, 6, 4)
TARGET = words(B, T, below=TARGET_WORDS, seed=1)


def spoken(model: Recurrent, *read: Array) -> Array:
    """softmax(W_o tanh(W [s; y; …]))."""
    t = np.tanh(array(model.readout.weight) @ np.concatenate(read) + array(model.readout.bias))
    return softmax(array(model.output.weight) @ t)


def as_cho(model: Recurrent, source: Array, target: Array) -> list[Array]:
    """c is the last state; s_0 = tanh(V c), s_i = f(s_i-1, y_i-1, c), p = g(s_i, y_i-1, c)."""
    ((encoder,),), (decoder,) = model.encoder.layers, model.decoder.layers
    c = read_cho(encoder, embedded(model.source_embedding, source), np.zeros(model.config.width))[-1]
    s = np.tanh(array(model.begin.weight) @ c + array(model.begin.bias))
    said = []
    for y in embedded(model.target_embedding, target):
        s = cho_gru(decoder, np.concatenate([y, c]), s)
        said.append(spoken(model, s, y, c))
    return said


def as_sutskever(model: Recurrent, source: Array, target: Array) -> list[Array]:
    """LSTMs read the source from its end; the decoder's go on from their states."""
    encoder = Lstms([cell for (cell,) in model.encoder.layers])
    for x in embedded(model.source_embedding, source)[::-1]:
        encoder.step(x)
    decoder = Lstms(list(model.decoder.layers), encoder.states)
    return [spoken(model, decoder.step(y), y) for y in embedded(model.target_embedding, target)]


@pytest.mark.parametrize(
    ("transcribed", "settings"),
    [
        (as_cho, {"cell": "gru-cho", "context": "every-step"}),
        (as_sutskever, {"cell": "lstm", "context": "start", "reverse": True, "layers": 3}),
    ],
    ids=["cho", "sutskever"],
)
def test_a_whole_sentence_is_the_paper_word_by_word(transcribed: Any, settings: dict[str, Any]) -> None:
    model = small("rnn", dtype=torch.float64, **settings)
    with torch.no_grad():
        found = model.output(model(SOURCE, LENGTHS, TARGET)).softmax(-1).numpy()
    for b, length in enumerate(LENGTHS.tolist()):
        expected = transcribed(model, SOURCE[b, :length].numpy(), TARGET[b].numpy())
        np.testing.assert_allclose(found[b], np.stack(expected), rtol=0, atol=1e-10)


@pytest.mark.parametrize("directions", [1, 2])
def test_reversed_it_reads_the_mirrored_sentence(directions: int) -> None:
    there = small("rnn", dtype=torch.float64, reverse=False, directions=directions)
    back = small("rnn", dtype=torch.float64, reverse=True, directions=directions)
    for b, length in enumerate(LENGTHS.tolist()):
        sentence, rest = SOURCE[b : b + 1, :length], (LENGTHS[b : b + 1], TARGET[b : b + 1])
        assert_near(back(sentence, *rest), there(sentence.flip(1), *rest))


def test_begun_from_the_context_every_layer_begins_alike_and_an_lstm_with_an_empty_memory() -> None:
    state = small("rnn", cell="lstm", layers=2).encode(SOURCE, LENGTHS)
    (first, memory), (second, other) = state.layers
    assert torch.equal(first, second)
    assert not memory.any()
    assert not other.any()


@pytest.mark.parametrize("name", [name for name, (family, _) in CHOICES.items() if family == "rnn"])
def test_without_attention_there_is_nothing_to_capture_and_that_is_said(name: str) -> None:
    with (
        pytest.raises(NothingRecordedError, match="0 attentions in Recurrent.*a model without attention has nothing"),
        capture(ready(name)),
    ):
        ready(name)(SOURCE, LENGTHS, TARGET)
