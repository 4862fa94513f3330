"""How a model came to its weights: from the numbers that are told, numpy comes to the same ones."""

from itertools import product
from math import sqrt

import numpy as np
import pytest
import torch

from regard.attention import SCORES, MultiHead
from regard.errors import ConfigError
from regard.inside import Workings, trace, workings
from regard.inside.terms import TERMS
from tests.inside.models import CHINESE, ENGLISH, TEXTS, loaded


def recomputed(found: Workings) -> np.ndarray:
    """The weights, from the scores before they were scaled."""
    scores = found.raw if found.scale is None else found.raw * found.scale
    exponents = np.where(found.mask, np.exp(scores - scores.max()), 0.0)
    weights = exponents / exponents.sum() if exponents.any() else exponents
    if found.focus is not None:
        weights = weights * found.focus
    if found.normalise == "hard":
        return np.where(found.mask, np.arange(len(weights)) == np.where(found.mask, weights, -1.0).argmax(), 0.0)
    return np.asarray(weights)


def formula(found: Workings) -> float:
    """The score of the cell before it is scaled, from its vectors."""
    vectors = {name: vector.astype(float) for name, vector in found.vectors.items()}
    if found.score == "additive":
        np.testing.assert_allclose(vectors["tanh"], np.tanh(vectors["Wq"] + vectors["Uk"]), atol=1e-6)
        return float(vectors["va"] @ vectors["tanh"])
    if found.score == "location":
        return float(vectors["Wq"][found.column])
    return float(vectors["q"] @ vectors["Wk" if found.score == "general" else "k"])


@pytest.mark.parametrize("name", TEXTS)
def test_the_weights_follow_from_the_numbers_that_are_told(name: str) -> None:
    model, texts = loaded(name), TEXTS[name]
    seen = trace(model, *texts)
    for attention in seen.names:
        heads, rows, columns = seen.weights[attention].shape
        for head, row in product(range(heads), sorted({0, rows // 2, rows - 1})):
            found = workings(model, *texts, name=attention, head=head, row=row, column=columns // 2)
            np.testing.assert_allclose(recomputed(found), seen.weights[attention][head, row], atol=1e-6)
            np.testing.assert_allclose(found.weights, seen.weights[attention][head, row], atol=1e-6)
            assert found.raw[found.column] == pytest.approx(formula(found), abs=1e-4)
            assert (found.scale is None) == (found.score != "scaled-dot")
            assert found.context_norm == pytest.approx(float(np.linalg.norm(found.vectors["context"])), abs=1e-5)
            norm = float(np.linalg.norm(found.vectors["v"]))
            assert found.value_norms[found.column] == pytest.approx(norm, abs=1e-5)


def test_heads_tell_what_their_projections_make_of_a_row() -> None:
    """Beside the products, made anew from the states that the attention was given."""
    model = loaded("transformer, pre-norm")
    (attention,) = [m for m in model.model.modules() if isinstance(m, MultiHead) and m.name == "encoder.0.self"]
    given = []
    handle = attention.project.register_forward_pre_hook(lambda module, args: given.append(args[0]))
    try:
        found = workings(model, ENGLISH, CHINESE, name="encoder.0.self", head=1, row=2, column=3)
    finally:
        handle.remove()
    with torch.inference_mode():
        query, keys, values = attention.project(given[0])[0].chunk(3, dim=-1)
    width = query.shape[1] // attention.heads
    part = slice(width, 2 * width)
    assert found.scale == pytest.approx(1 / sqrt(width))
    np.testing.assert_allclose(found.vectors["q"], query[2, part], atol=1e-6)
    np.testing.assert_allclose(found.vectors["k"], keys[3, part], atol=1e-6)
    np.testing.assert_allclose(found.raw, (keys[:, part] @ query[2, part]).numpy(), atol=1e-5)
    adds = values[:, part] @ attention.output.weight.detach()[:, part].T
    np.testing.assert_allclose(found.reach, adds.norm(dim=-1).numpy(), atol=1e-5)


def test_tokens_stand_beside_their_numbers() -> None:
    found = workings(loaded("bahdanau"), ENGLISH, CHINESE, name="decoder.align", row=1)
    seen = trace(loaded("bahdanau"), ENGLISH, CHINESE)
    assert (found.asks, found.keys) == (seen.rows["prediction"].tokens[1], seen.rows["source"].tokens)
    assert found.column == int(found.weights.argmax())


def test_stages_are_those_that_the_attention_has() -> None:
    plain = ("raw", "masked", "softmax", "weights", "context")
    stages = {
        "transformer, pre-norm": ("raw", "scaled", *plain[1:]),
        "bahdanau": plain,
        "luong, location": plain,
        "luong, local-p, general": (*plain[:3], "focused", *plain[3:]),
        "luong, local-p, hard": (*plain[:3], "focused", "hard", *plain[3:]),
    }
    for name, wanted in stages.items():
        attention = "decoder.0.cross" if name.startswith("transformer") else "decoder.align"
        assert workings(loaded(name), *TEXTS[name], name=attention).stages == wanted


def test_a_window_shows_its_middle() -> None:
    moves = workings(loaded("luong, local-m, general"), ENGLISH, CHINESE, name="decoder.align", row=1)
    seen = np.flatnonzero(moves.mask)
    assert moves.centre == 1
    assert (seen.min(), seen.max()) == (0, 1 + loaded("luong, local-m, general").model.config.radius)
    guessed = workings(loaded("luong, local-p, general"), ENGLISH, CHINESE, name="decoder.align", row=1)
    assert guessed.centre is not None
    assert guessed.focus is not None
    away = np.arange(len(guessed.keys)) - guessed.centre
    radius = loaded("luong, local-p, general").model.config.radius
    np.testing.assert_allclose(guessed.focus, np.exp(-(away**2) / (2 * (radius / 2) ** 2)), atol=1e-5)
    assert (np.abs(away[guessed.mask]) <= radius).all()
    assert workings(loaded("bahdanau"), ENGLISH, CHINESE, name="decoder.align").centre is None


def test_the_look_ahead_mask_is_told() -> None:
    found = workings(loaded("gpt2"), "The river bank", name="decoder.0.self", row=2)
    assert found.mask.tolist() == [place <= 2 for place in range(len(found.keys))]


def test_a_token_that_is_chosen_tells_the_moment_of_its_choice() -> None:
    model = loaded("gpt2")
    seen = trace(model, "The river", generate=3)
    for row in range(3):
        found = workings(model, "The river", generate=3, name="decoder.1.self", head=2, row=row)
        size = len(seen.rows["text"]) - 2 + row
        assert len(found.weights) == len(found.keys) == size
        np.testing.assert_allclose(recomputed(found), seen.weights["decoder.1.self"][2, row, :size], atol=1e-6)


def test_a_translators_own_translation_is_looked_at_if_none_is_given() -> None:
    model = loaded("bahdanau")
    own = workings(model, ENGLISH, name="decoder.align", row=0)
    given = workings(model, ENGLISH, model.translate(ENGLISH), name="decoder.align", row=0)
    np.testing.assert_array_equal(own.weights, given.weights)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"name": "decoder.cross"}, "no attention called 'decoder.cross'"),
        ({"name": "decoder.0.cross", "head": 3}, r"no head 3.\n  found: 3\n  wanted: 0 to 2"),
        ({"name": "decoder.0.cross", "row": -1}, "no row -1"),
        ({"name": "decoder.0.cross", "row": 99}, "no row 99"),
        ({"name": "decoder.0.cross", "column": 99}, "no column 99"),
        ({"name": "decoder.0.cross", "generate": 2}, "Only a language model adds tokens"),
    ],
)
def test_what_is_not_there_is_told(asked: dict[str, int], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        workings(loaded("transformer, pre-norm"), ENGLISH, CHINESE, **asked)  # type: ignore[arg-type]


def test_every_score_is_written_down() -> None:
    assert set(TERMS) == set(SCORES.values())


def test_a_language_model_has_no_second_text() -> None:
    with pytest.raises(ConfigError, match="looks at one text"):
        workings(loaded("gpt2"), "The", "river", name="decoder.0.self")


def test_a_model_without_attention_says_so() -> None:
    with pytest.raises(ConfigError, match="no attention"):
        workings(loaded("rnn"), ENGLISH, CHINESE, name="decoder.align")
