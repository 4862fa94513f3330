"""Bahdanau 2015 against the equations of its appendix A, written out in numpy for one sentence at a time."""

from typing import Any

import numpy as np
import pytest
import torch

from regard.attention import capture
from regard.models.bahdanau import Bahdanau
from tests.draws import assert_near, normal, words
from tests.layers.in_numpy import Array, array, blocks, embedded, read_cho, sigmoid, softmax
from tests.models.small import TARGET_WORDS, sentences, small

B, T = 4, 5
SOURCE, LENGTHS = sentences(7, 2, 6, 4)
TARGET = words(B, T, below=TARGET_WORDS, seed=1)


def annotated(model: Bahdanau, source: Array) -> list[Array]:
    """h_j = [→h_j; ←h_j] (A.1.1)."""
    ((forward, backward),) = model.encoder.layers
    xs, n = embedded(model.source_embedding, source), model.config.width
    there = read_cho(forward, xs, np.zeros(n))
    back = read_cho(backward, xs[::-1], np.zeros(n))[::-1]
    return [np.concatenate(pair) for pair in zip(there, back, strict=True)]


def transcribed(model: Bahdanau, source: Array, target: Array) -> tuple[list[Array], list[Array], list[Array]]:
    """For each step the weights α_i, the context c_i and the state s_i, s_0 first (A.1.2 and A.2.1)."""
    h = annotated(model, source)
    W_s, b_s = array(model.begin.weight), array(model.begin.bias)
    score: Any = model.align.score
    W_a, U_a, v_a = array(score.query.weight), array(score.keys.weight), array(score.v)
    cell = model.update.cell
    (W_z, W_r, W), (b_z, b_r, b) = blocks(cell.input.weight, 3), blocks(cell.input.bias, 3)
    (U_z, U_r), U = blocks(cell.gates.weight, 2), array(cell.candidate.weight)
    C_z, C_r, C = blocks(model.update.context.weight, 3)

    s = np.tanh(W_s @ h[0][model.config.width :] + b_s)  # ←h_1
    weights, contexts, states = [], [], [s]
    for y in embedded(model.target_embedding, target):
        e = np.array([v_a @ np.tanh(W_a @ s + U_a @ h_j) for h_j in h])
        alpha = softmax(e)
        c = sum(alpha[j] * h[j] for j in range(len(h)))
        r = sigmoid(W_r @ y + U_r @ s + C_r @ c + b_r)
        z = sigmoid(W_z @ y + U_z @ s + C_z @ c + b_z)
        proposed = np.tanh(W @ y + U @ (r * s) + C @ c + b)
        s = (1 - z) * s + z * proposed
        weights.append(alpha)
        contexts.append(c)
        states.append(s)
    return weights, contexts, states


def spoken(model: Bahdanau, s: Array, y: Array, c: Array) -> Array:
    """t̃ = U_o s + V_o E y + C_o c, t = [max{t̃_2j-1, t̃_2j}], p ∝ exp(W_o t) (A.2.2)."""
    readout = model.readout
    t = array(readout.state.weight) @ s + array(readout.word.weight) @ y + array(readout.context.weight) @ c
    t = np.array([max(t[2 * j], t[2 * j + 1]) for j in range(len(t) // 2)])
    return softmax(array(model.output.weight) @ t)


def near(found: object, wanted: object) -> None:
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)


def test_a_whole_sentence_is_the_appendix_word_by_word() -> None:
    """The readout reads s(i), as section 3.1 has it."""
    model = small("bahdanau", dtype=torch.float64)
    with torch.no_grad(), capture(model) as recording:
        found = model.output(model(SOURCE, LENGTHS, TARGET)).softmax(-1).numpy()
    looked = recording.joined("decoder.align")[:, 0]
    for b, length in enumerate(LENGTHS.tolist()):
        target = TARGET[b].numpy()
        weights, contexts, states = transcribed(model, SOURCE[b, :length].numpy(), target)
        near(looked[b, :, :length], np.stack(weights))
        assert not looked[b, :, length:].any()
        for i, y in enumerate(embedded(model.target_embedding, target)):
            near(found[b, i], spoken(model, states[i + 1], y, contexts[i]))


def test_with_the_state_before_the_readout_is_that_of_the_appendix() -> None:
    """Appendix A.2.2 prints s(i-1) where section 3.1 has s(i); given that, our readout says what it says."""
    model = small("bahdanau", dtype=torch.float64)
    ours = model(SOURCE, LENGTHS, TARGET)
    for b, length in enumerate(LENGTHS.tolist()):
        target = TARGET[b].numpy()
        _, contexts, states = transcribed(model, SOURCE[b, :length].numpy(), target)
        ys = embedded(model.target_embedding, target)
        c, s, y = (torch.tensor(np.stack(rows))[None] for rows in (contexts, states[:-1], ys))
        with torch.no_grad():
            read = model.readout(c, s, y)
            found = model.output(read).softmax(-1)[0].numpy()
        near(found, np.stack([spoken(model, states[i], ys[i], contexts[i]) for i in range(T)]))
        assert (read[0] - ours[b]).abs().amax(-1).min() > 1e-3  # and that is not the same


def test_the_annotations_are_both_directions_side_by_side() -> None:
    model = small("bahdanau", dtype=torch.float64)
    with torch.no_grad():
        memory = model.encode(SOURCE, LENGTHS).memory
    for b, length in enumerate(LENGTHS.tolist()):
        near(memory.values[b, 0, :length], np.stack(annotated(model, SOURCE[b, :length].numpy())))


def test_maxout_takes_the_larger_of_each_pair() -> None:
    readout = small("bahdanau", dtype=torch.float64).readout
    c, s, y = normal(1, 1, 16, seed=0), normal(1, 1, 8, seed=1), normal(1, 1, 9, seed=2)
    sums = readout.state(s) + readout.word(y) + readout.context(c)
    assert_near(readout(c, s, y), torch.maximum(sums[..., ::2], sums[..., 1::2]))


def test_neither_the_score_nor_the_maxout_has_a_bias() -> None:
    model = small("bahdanau")
    biases = {name for name, _ in model.named_parameters() if name.endswith("bias")}
    assert biases == {
        "begin.bias", "update.cell.input.bias",
        "encoder.layers.0.0.input.bias", "encoder.layers.0.1.input.bias",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "sizes"),
    [
        ({"embedding": 0, "alignment": 0, "readout": 0}, (8, 8, 8)),
        ({"embedding": 9, "alignment": 0, "readout": 0}, (9, 8, 9)),
        ({"embedding": 9, "alignment": 10, "readout": 12}, (9, 10, 12)),
    ],
)
def test_a_size_of_zero_is_that_of_its_neighbour(settings: dict[str, int], sizes: tuple[int, int, int]) -> None:
    model = small("bahdanau", **settings)
    embedding, alignment, readout = sizes
    assert model.target_embedding.weight.shape[1] == embedding
    assert model.align.score.v.shape[0] == alignment
    assert model.output.weight.shape[1] == readout


def test_each_look_comes_from_the_state_before_the_word() -> None:
    """What was just said cannot change where the decoder looks, only where it looks next."""
    model = small("bahdanau")
    plain, other = TARGET[:1], TARGET[:1].clone()
    other[0, 2] = (other[0, 2] + 1) % TARGET_WORDS
    seen = []
    for target in (plain, other):
        with torch.no_grad(), capture(model) as recording:
            model(SOURCE[:1], LENGTHS[:1], target)
        seen.append(recording.joined("decoder.align")[0, 0])
    assert torch.equal(seen[0][:3], seen[1][:3])
    assert (seen[0][3] - seen[1][3]).abs().max() > 1e-5
