"""attend: the formula, its two paths, its tap."""

from math import sqrt

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.attention import attend, dot, look_ahead_mask, padding_mask, relation_mask, scaled_dot, softmax
from tests.draws import DTYPES, assert_near, normal

B, H, T, S, K, W = 3, 2, 5, 7, 4, 6

MASKS = {
    "none": None,
    "padding": padding_mask(torch.tensor([7, 3, 1]), S),
    "look-ahead": look_ahead_mask(T, S),
    "relation": relation_mask(normal(B, T, S, seed=8) > 0),
    "padding with an empty sentence": padding_mask(torch.tensor([4, 0, 7]), S),
    "empty rows": relation_mask((normal(B, T, S, seed=9) > 0) & (torch.arange(T) % 2 == 1)[:, None]),
    "nothing at all": torch.zeros(1, 1, 1, S, dtype=torch.bool),
}


def inputs(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    sizes = ((T, K), (S, K), (S, W))
    return tuple(normal(B, H, *size, seed=seed, dtype=dtype) for seed, size in enumerate(sizes))


def pass_on(what: str, tensor: Tensor, /) -> Tensor:
    return tensor


def by_hand(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> np.ndarray:
    """softmax(Q Kᵀ / √K) V, word for word, for each sentence, head and query."""
    allowed = np.ones((B, H, T, S), bool) if mask is None else np.broadcast_to(mask.numpy(), (B, H, T, S))
    context = np.zeros((B, H, T, W))
    for b, h, t in np.ndindex(B, H, T):
        seen = np.flatnonzero(allowed[b, h, t])
        raised = np.exp([float(query[b, h, t] @ keys[b, h, s]) / sqrt(K) for s in seen])
        for s, weight in zip(seen, raised / raised.sum(), strict=True):
            context[b, h, t] += weight * values[b, h, s].numpy()
    return context


@pytest.mark.parametrize("tap", [None, pass_on], ids=["fused", "explicit"])
@pytest.mark.parametrize("mask", MASKS)
def test_attend_is_the_formula_of_the_paper(mask: str, tap: object) -> None:
    query, keys, values = inputs()
    context = attend(query, keys, values, mask=MASKS[mask], tap=tap)
    np.testing.assert_allclose(context, by_hand(query, keys, values, MASKS[mask]), rtol=0, atol=1e-10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mask", MASKS)
def test_fused_and_explicit_paths_agree_in_results_and_gradients(mask: str, dtype: torch.dtype) -> None:
    answers = []
    for tap in (None, pass_on):
        given = [x.requires_grad_() for x in inputs(dtype)]
        context = attend(*given, mask=MASKS[mask], tap=tap)
        upstream = normal(*context.shape, seed=5, dtype=dtype)
        answers.append((context.detach(), *torch.autograd.grad(context, given, upstream)))
    for fused, explicit in zip(*answers, strict=True):
        assert fused.isfinite().all()
        assert_near(fused, explicit)
    assert answers[0][1].abs().max() > 0 or mask == "nothing at all"


@pytest.mark.parametrize("tap", [None, pass_on], ids=["fused", "explicit"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_row_that_may_look_nowhere_gives_exact_zeros(dtype: torch.dtype, tap: object) -> None:
    mask = MASKS["empty rows"]
    assert mask is not None
    context = attend(*inputs(dtype), mask=mask, tap=tap)
    empty = ~mask.any(-1).expand(B, H, T)
    assert empty.any()
    assert not empty.all()
    assert (context[empty] == 0).all()
    assert (context[~empty] != 0).all()


def test_large_scores_stay_finite_on_both_paths() -> None:
    query, keys, values = inputs(torch.float32)
    fused = attend(1e4 * query, keys, values, mask=MASKS["padding"])
    assert fused.isfinite().all()
    assert_near(attend(1e4 * query, keys, values, mask=MASKS["padding"], tap=pass_on), fused)


def test_the_tap_sees_everything_in_the_order_in_which_it_is_made() -> None:
    query, keys, values = inputs()
    mask = MASKS["padding"]
    seen = []

    def listen(what: str, tensor: Tensor, /) -> Tensor:
        seen.append((what, tensor))
        return tensor

    attend(query, keys, values, mask=mask, tap=listen)
    assert [what for what, _ in seen] == ["queries", "keys", "mask", "scores", "weights", "values"]
    asked, looked_at, allowed, scores, weights, mixed = (tensor for _, tensor in seen)
    assert asked is query
    assert looked_at is keys
    assert torch.equal(allowed, mask.expand(B, 1, T, S))
    assert_near(scores, scaled_dot(query, keys))
    assert_near(weights, softmax(scores, mask))
    assert mixed is values


def test_without_a_mask_the_tap_sees_that_everything_may_be_looked_at() -> None:
    seen = {}

    def listen(what: str, tensor: Tensor, /) -> Tensor:
        seen[what] = tensor
        return tensor

    context = attend(*inputs(), tap=listen)
    assert torch.equal(seen["mask"], torch.ones(B, 1, T, S, dtype=torch.bool))
    assert_near(context, attend(*inputs()))


def test_a_tap_may_ask_otherwise_and_look_elsewhere() -> None:
    query, keys, values = inputs()
    others = {"queries": normal(*query.shape, seed=14), "keys": normal(*keys.shape, seed=15)}
    nowhere = torch.zeros(B, 1, T, S, dtype=torch.bool)
    swapped = attend(query, keys, values, tap=lambda what, tensor, /: others.get(what, tensor))
    assert_near(swapped, attend(others["queries"], others["keys"], values))
    blind = attend(query, keys, values, tap=lambda what, tensor, /: nowhere if what == "mask" else tensor)
    assert not blind.any()


@pytest.mark.parametrize("what", ["scores", "weights", "values"])
def test_what_the_tap_returns_goes_on_instead(what: str) -> None:
    query, keys, values = inputs()
    others = {
        "scores": normal(B, H, T, S, seed=11),
        "weights": normal(B, H, T, S, seed=12),
        "values": normal(B, H, S, W, seed=13),
    }
    expected = {
        "scores": others["scores"].softmax(-1) @ values,
        "weights": others["weights"] @ values,
        "values": scaled_dot(query, keys).softmax(-1) @ others["values"],
    }
    swapped = attend(query, keys, values, tap=lambda kind, x, /: others[what] if kind == what else x)
    assert_near(swapped, expected[what])


def test_another_score_or_normaliser_is_used_although_nobody_taps() -> None:
    query, keys, values = inputs()
    assert_near(attend(query, keys, values, score=dot), (query @ keys.mT).softmax(-1) @ values)
    uniform = attend(query, keys, values, normalise=lambda scores, mask: torch.full_like(scores, 1 / S))
    assert_near(uniform, values.mean(2, keepdim=True).expand(B, H, T, W))


@pytest.mark.parametrize("tap", [None, pass_on], ids=["fused", "explicit"])
def test_dropout_removes_weights_and_keeps_their_expectation(tap: object) -> None:
    torch.manual_seed(3)
    rows, keys, share = 400, 20, 0.25
    query = torch.zeros(rows, H, T, K)
    context = attend(query, torch.zeros(rows, H, keys, K), torch.ones(rows, H, keys, 1), tap=tap, dropout=share)
    # every context is (1/S)·Σ kept/(1-p): mean 1, variance p / ((1-p)·S)
    variance = share / (1 - share) / keys
    assert abs(float(context.mean()) - 1) < 5 * sqrt(variance / context.numel())
    assert float(context.var()) == pytest.approx(variance, rel=0.15)


def test_dropout_comes_after_the_tap_so_that_recorded_weights_still_sum_to_one() -> None:
    seen = {}

    def listen(what: str, tensor: Tensor, /) -> Tensor:
        seen[what] = tensor
        return tensor

    attend(*inputs(), tap=listen, dropout=0.5)
    assert_near(seen["weights"].sum(-1), torch.ones(B, H, T, dtype=torch.float64))
