"""Masks as they are, and positions as they are added."""

import numpy as np
import pytest

from regard.attention import capture
from regard.errors import ConfigError, DataError, LimitError
from regard.inside import masks, positions, trace
from regard.inside.reading import read
from regard.inside.scene import script
from regard.layers.positions import sinusoids
from tests.inside.models import CHINESE, ENGLISH, TEXTS, loaded

ATTENDS = [*TEXTS]


@pytest.mark.parametrize("name", ATTENDS)
def test_weights_are_where_the_masks_let_them_be(name: str) -> None:
    seen, found = trace(loaded(name), *TEXTS[name]), masks(loaded(name), *TEXTS[name])
    assert found.masks.keys() == seen.weights.keys()
    for attention, mask in found.masks.items():
        assert mask.axes == seen.axes[attention]
        assert not seen.weights[attention][:, ~mask.may_look].any()
        asks, reads = (found.rows[row] for row in mask.axes)
        assert mask.may_look.shape == (len(asks), len(reads))


@pytest.mark.parametrize("name", ATTENDS)
def test_padding_is_hidden_and_changes_nothing(name: str) -> None:
    model, texts, count = loaded(name), TEXTS[name], 3
    given = script(model, *texts)
    with capture(model.model) as recording:
        found = read(model, given, padding=count)
    seen = trace(model, *texts)
    told = masks(model, *texts, padding=count)
    for attention, mask in told.masks.items():
        asks, reads = (found.padding.get(row, range(0)) for row in mask.axes)
        assert ("padding" in mask.kinds) == bool(reads)
        weights = recording.joined(attention)[0].numpy()
        real = np.delete(np.delete(weights, list(asks), axis=1), list(reads), axis=2)
        np.testing.assert_allclose(real, seen.weights[attention], atol=1e-5)
        rows = [row for row in range(weights.shape[1]) if row not in asks]
        assert not weights[:, rows][:, :, list(reads)].any()
        assert not mask.may_look[rows][:, list(reads)].any()


def test_each_mask_is_called_by_what_it_hides() -> None:
    kinds = {
        "transformer, pre-norm": {"encoder.0.self": (), "decoder.1.self": ("look-ahead",), "decoder.0.cross": ()},
        "gpt2": {"decoder.0.self": ("look-ahead",)},
        "bert": {"encoder.2.self": ()},
        "bahdanau": {"decoder.align": ()},
        "luong, local-m, general": {"decoder.align": ("window",)},
        "pooling": {"pooling": ()},
    }
    for name, wanted in kinds.items():
        found = masks(loaded(name), *TEXTS[name]).masks
        assert {attention: found[attention].kinds for attention in wanted} == wanted
    padded = masks(loaded("gpt2"), *TEXTS["gpt2"], padding=2)
    assert padded.masks["decoder.0.self"].kinds == ("padding", "look-ahead")
    assert [token.special for token in padded.rows["text"].tokens[:3]] == [True, True, False]


def test_a_classifier_of_single_texts_reads_no_pairs() -> None:
    with pytest.raises(DataError, match=r"another number of texts.\n  found: 2\n  wanted: 1"):
        masks(loaded("pooling"), "the cat", "a dog")


def test_a_model_without_attention_has_no_masks() -> None:
    with pytest.raises(ConfigError, match="no attention, and so no masks"):
        masks(loaded("rnn"), ENGLISH, CHINESE)


def test_positions_are_what_the_model_adds() -> None:
    waves = positions(loaded("transformer, pre-norm"), 7)
    assert (waves.kind, waves.limit) == ("sinusoidal", 200)
    np.testing.assert_array_equal(waves.numbers, sinusoids(7, 12).numpy())
    for name in ("gpt2", "transformer, post-norm, learned positions, untied"):
        learned = positions(loaded(name), 5)
        assert learned.kind == "learned"
        np.testing.assert_allclose(learned.numbers, loaded(name).model.positions.weight[:5].detach().numpy(), atol=1e-6)
    assert positions(loaded("bert")).numbers.shape == (20, 24)
    absent = positions(loaded("bag of words"), 4)
    assert (absent.kind, absent.numbers.shape, absent.numbers.any()) == ("none", (4, 12), False)


def test_what_has_no_such_positions_says_so() -> None:
    with pytest.raises(ConfigError, match="reads one word after the other"):
        positions(loaded("bahdanau"))
    with pytest.raises(LimitError, match=r"no 21 positions.\n  wanted: 1 to 20"):
        positions(loaded("bert"), 21)
