"""Rollout and norms, by hand and beside the models' own numbers."""

import numpy as np
import pytest

from regard.errors import ConfigError
from regard.insight import TokenRow, Trace, by_norms, rollout

A = np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]], dtype=np.float32)
B = np.array([[[0.0, 1.0], [1.0, 0.0]]] * 2, dtype=np.float32)
CROSS = np.array([[[0.25, 0.75]], [[0.75, 0.25]]], dtype=np.float32)
ROWS = {"source": TokenRow.of(["a", "b"]), "prediction": TokenRow.of(["c"]), "target": TokenRow.of(["c"])}


def stacked() -> Trace:
    weights = {"encoder.0.self": A, "encoder.1.self": B, "decoder.0.cross": CROSS}
    axes = dict.fromkeys(list(weights)[:2], ("source", "source")) | {"decoder.0.cross": ("prediction", "source")}
    return Trace(ROWS, weights, axes, {"model": "m"})


def test_each_layer_passes_on_half_of_what_it_reads() -> None:
    seen = rollout(stacked())
    # mean of the heads of A: every row is (1/2, 1/2); B swaps
    first = np.array([[0.75, 0.25], [0.25, 0.75]])
    np.testing.assert_allclose(seen.weights["encoder.0.self"][0], first)
    np.testing.assert_allclose(seen.weights["encoder.1.self"][0], np.full((2, 2), 0.5) @ first)
    assert seen.meta == {"model": "m", "seen": "rollout"}


def test_what_looks_at_a_text_looks_through_all_its_layers() -> None:
    seen = rollout(stacked())
    np.testing.assert_allclose(seen.weights["decoder.0.cross"][0], [[0.5, 0.5]])


def test_rows_still_sum_to_one() -> None:
    for weights in rollout(stacked()).weights.values():
        assert weights.shape[0] == 1
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)


def test_heads_that_look_only_at_themselves_change_nothing() -> None:
    eye = np.eye(2, dtype=np.float32)[None]
    trace = Trace(ROWS, {"encoder.0.self": eye}, {"encoder.0.self": ("source", "source")})
    np.testing.assert_array_equal(rollout(trace).weights["encoder.0.self"], eye)


def test_without_self_attention_there_is_nothing_to_roll_out() -> None:
    trace = Trace(ROWS, {"decoder.align": CROSS[:1]}, {"decoder.align": ("prediction", "source")})
    with pytest.raises(ConfigError, match=r"nothing to roll out in decoder.align"):
        rollout(trace)


def test_norms_count_a_weight_by_what_it_brings() -> None:
    lengths = {"decoder.0.cross": np.array([[3.0, 1.0], [0.0, 0.0]], dtype=np.float32)}
    trace = Trace(ROWS, {"decoder.0.cross": CROSS}, {"decoder.0.cross": ("prediction", "source")})
    seen = by_norms(trace, lengths)
    np.testing.assert_allclose(seen.weights["decoder.0.cross"], [[[0.5, 0.5]], [[0.0, 0.0]]])
    assert seen.meta["brings"] == {"decoder.0.cross": [1.5, 0.0]}
    assert seen.meta["seen"] == "norms"
