"""Luong 2015 against its equations, written out in numpy for one sentence at a time; its windows; its feeding."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.attention import capture
from regard.models.luong import Luong
from tests.draws import assert_near, words
from tests.layers.in_numpy import Array, Lstms, array, embedded, sigmoid, softmax
from tests.models.small import TARGET_WORDS, sentences, small

B, T, D = 4, 6, 2
SOURCE, LENGTHS = sentences(7, 2, 6, 4)
TARGET = words(B, T, below=TARGET_WORDS, seed=1)

FORMS: dict[str, dict[str, Any]] = {
    "global": {"window": "global"},
    "global without feeding": {"window": "global", "input_feeding": False},
    "global, read forwards": {"window": "global", "reverse": False},
    "local-m": {"window": "local-m"},
    "local-m without feeding": {"window": "local-m", "input_feeding": False},
    "local-p": {"window": "local-p"},
    "local-p without feeding": {"window": "local-p", "input_feeding": False},
}


def model_of(form: str, **settings: Any) -> Luong:
    """General score and two LSTMs on each side."""
    model: Luong = small("luong", dtype=torch.float64, layers=2, radius=D, **FORMS[form], **settings)
    if model.position is not None:
        with torch.no_grad():  # so that the predicted places differ
            model.position.v.weight *= 6
    return model


def weighted(model: Luong, h: Array, annotations: list[Array], t: int) -> Array:
    """a_t(s) by the general score, globally or in a window (sections 3.1 and 3.2)."""
    W, S = array(model.align.score.matrix.weight), len(annotations)
    scores = np.array([h @ W @ annotation for annotation in annotations])
    if model.config.window == "global":
        return softmax(scores)
    p = float(t)
    if model.config.window == "local-p":
        v_p, W_p = array(model.position.v.weight)[0], array(model.position.hidden.weight)
        p = float(S * sigmoid(v_p @ np.tanh(W_p @ h)))
    inside = [s for s in range(S) if p - D <= s <= p + D]
    a = np.zeros(S)
    if inside:
        a[inside] = softmax(scores[inside])
    sigma = D / 2
    if model.config.window == "local-p":
        a = a * np.array([np.exp(-((s - p) ** 2) / (2 * sigma**2)) for s in range(S)])
    return a


def transcribed(model: Luong, source: Array, target: Array) -> tuple[list[Array], list[Array]]:
    """Of each step the probabilities of the next word, and the weights."""
    xs = embedded(model.source_embedding, source)
    encoder = Lstms([cell for (cell,) in model.encoder.layers])
    order = -1 if model.config.reverse else 1
    annotations = [encoder.step(x) for x in xs[::order]][::order]
    decoder = Lstms(list(model.decoder.layers), encoder.states)
    W_c, W_s = array(model.combine.weight), array(model.output.weight)
    attentional = np.zeros(model.config.width)
    probabilities, weights = [], []
    for t, y in enumerate(embedded(model.target_embedding, target)):
        h = decoder.step(np.concatenate([y, attentional]) if model.config.input_feeding else y)
        a = weighted(model, h, annotations, t)
        c = sum(a[s] * annotations[s] for s in range(len(annotations)))
        attentional = np.tanh(W_c @ np.concatenate([c, h]))
        probabilities.append(softmax(W_s @ attentional))
        weights.append(a)
    return probabilities, weights


def seen(model: Luong, *what: str) -> dict[str, Tensor]:
    """What passed in one forward pass, (B T S)."""
    with torch.no_grad(), capture(model, keep=what) as recording:
        model(SOURCE, LENGTHS, TARGET)
    return {one: recording.joined("decoder.align", one)[:, 0] for one in what}


@pytest.mark.parametrize("form", FORMS)
def test_a_whole_sentence_is_the_paper_word_by_word(form: str) -> None:
    model = model_of(form)
    weights = seen(model, "weights")["weights"]
    with torch.no_grad():
        found = model.output(model(SOURCE, LENGTHS, TARGET)).softmax(-1).numpy()
    for b, length in enumerate(LENGTHS.tolist()):
        probabilities, looked = transcribed(model, SOURCE[b, :length].numpy(), TARGET[b].numpy())
        np.testing.assert_allclose(found[b], np.stack(probabilities), rtol=0, atol=1e-10)
        np.testing.assert_allclose(weights[b, :, :length], np.stack(looked), rtol=0, atol=1e-10)
        assert not weights[b, :, length:].any()


# Windows


def centres(model: Luong) -> Tensor:
    """p(t) of each step, as the model predicts them."""
    predicted: list[Tensor] = []
    handle = model.position.register_forward_hook(lambda _, __, result: predicted.append(result))
    with torch.no_grad():
        model(SOURCE, LENGTHS, TARGET)
    handle.remove()
    return torch.cat(predicted, dim=1)


@pytest.mark.parametrize("form", ["local-p", "local-p without feeding"])
def test_predicted_weights_are_a_softmax_in_the_window_times_a_gaussian_and_vanish_outside(form: str) -> None:
    model = model_of(form)
    p, passed = centres(model), seen(model, "scores", "weights")
    assert p.shape == (B, T)
    assert ((p > 0) & (p < LENGTHS[:, None])).all()
    assert p[0].max() - p[0].min() > 0.1
    outside = 0
    for b, t in np.ndindex(B, T):
        places = range(int(LENGTHS[b]))
        inside = [s for s in places if abs(s - float(p[b, t])) <= D]
        outside += len(places) - len(inside)
        expected = torch.zeros(SOURCE.shape[1], dtype=torch.float64)
        away = torch.tensor([s - float(p[b, t]) for s in inside], dtype=torch.float64)
        expected[inside] = passed["scores"][b, t, inside].softmax(-1) * torch.exp(-(away**2) / (2 * (D / 2) ** 2))
        assert_near(passed["weights"][b, t], expected)
    assert outside > T


def test_the_predicted_place_moves_with_what_is_learned() -> None:
    """Through the Gaussian, the one way by which a gradient can reach it."""
    model = model_of("local-p").train()
    model(SOURCE, LENGTHS, TARGET).sum().backward()
    for parameter in model.position.parameters():
        assert parameter.grad is not None
        assert parameter.grad.abs().max() > 1e-6


@pytest.mark.parametrize("form", ["local-m", "local-m without feeding"])
def test_a_window_that_runs_in_step_shows_its_places_and_no_others(form: str) -> None:
    weights = seen(model_of(form), "weights")["weights"]
    for b, t in np.ndindex(B, T):
        inside = {s for s in range(int(LENGTHS[b])) if t - D <= s <= t + D}
        assert set(weights[b, t].nonzero().flatten().tolist()) == inside


@pytest.mark.parametrize("form", ["local-m", "local-m without feeding"])
def test_where_the_window_has_left_the_sentence_nothing_is_looked_at_and_all_stays_finite(form: str) -> None:
    model = model_of(form).train()
    contexts: list[Tensor] = []
    model.align.register_forward_hook(lambda _, __, result: contexts.append(result.detach()))
    hidden = model(SOURCE, LENGTHS, TARGET)
    model.output(hidden).sum().backward()
    context = torch.cat(contexts, dim=1)
    gone = torch.arange(T) - D >= LENGTHS[:, None]
    assert gone.sum() == 2  # the sentence of two words, from place 4 on
    assert (context[gone] == 0).all()
    assert (context[~gone].abs().amax(-1) > 0).all()
    assert hidden.isfinite().all()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


@pytest.mark.parametrize("window", ["local-m", "local-p"])
def test_a_window_wider_than_the_sentence_hides_nothing(window: str) -> None:
    wide = small("luong", dtype=torch.float64, window=window, radius=20)
    weights = seen(wide, "scores", "weights")
    for b, length in enumerate(LENGTHS.tolist()):
        whole = weights["scores"][b, :, :length].softmax(-1)
        ratio = weights["weights"][b, :, :length] / whole
        assert (ratio > 0.7).all()  # exp(−7² / 2·10²) at the least
        if window == "local-m":
            assert_near(ratio, torch.ones_like(ratio))


# Feeding, reading


def test_the_vector_that_spoke_is_fed_undropped_beside_the_next_word() -> None:
    model = model_of("global", dropout=0.5).train()
    fed: list[Tensor] = []
    made: list[Tensor] = []
    model.decoder.register_forward_pre_hook(lambda _, given: fed.append(given[0][:, 0]))
    model.combine.register_forward_hook(lambda _, __, result: made.append(torch.tanh(result[:, 0])))
    torch.manual_seed(0)
    model(SOURCE, LENGTHS, TARGET)
    width = model.config.width
    assert not fed[0][:, -width:].any()
    for before, after in zip(made, fed[1:], strict=False):
        assert torch.equal(after[:, -width:], before)


def test_without_feeding_the_decoder_reads_words_alone_and_all_at_once() -> None:
    model = model_of("global without feeding")
    shapes: list[tuple[int, ...]] = []
    model.decoder.register_forward_pre_hook(lambda _, given: shapes.append(tuple(given[0].shape)))
    model(SOURCE, LENGTHS, TARGET)
    assert shapes == [(B, T, model.config.embedding)]


@pytest.mark.parametrize("directions", [1, 2])
def test_read_from_its_end_each_word_keeps_its_own_annotation(directions: int) -> None:
    """A sentence read backwards is the mirrored sentence read forwards, but its annotations stand in its own order."""
    there = small("luong", dtype=torch.float64, reverse=False, directions=directions)
    back = small("luong", dtype=torch.float64, reverse=True, directions=directions)
    back.load_state_dict(there.state_dict())
    for b, length in enumerate(LENGTHS.tolist()):
        sentence, one = SOURCE[b : b + 1, :length], LENGTHS[b : b + 1]
        mirrored, turned = there.encode(sentence.flip(1), one), back.encode(sentence, one)
        assert_near(turned.memory.values, mirrored.memory.values.flip(2))
        for mine, other in zip(turned.layers, mirrored.layers, strict=True):
            for part, reference in zip(mine, other, strict=True):
                assert_near(part, reference)


def test_only_what_the_paper_has_is_learned_beside_the_recurrent_layers() -> None:
    width = 16

    def learned(**settings: Any) -> dict[str, tuple[int, ...]]:
        named = small("luong", **settings).named_parameters()
        apart = ("encoder", "decoder", "source_embedding", "target_embedding", "output")
        return {name: tuple(p.shape) for name, p in named if not name.startswith(apart)}

    combine, general = {"combine.weight": (width, 2 * width)}, {"align.score.matrix.weight": (width, width)}
    position = {"position.hidden.weight": (width, width), "position.v.weight": (1, width)}
    assert learned(window="global", score="dot") == combine
    assert learned(window="local-m") == {**general, **combine}
    assert learned(window="local-p") == {**general, **position, **combine}
