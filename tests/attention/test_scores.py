"""Each score against its formula, written out for one query and one key at a time."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.attention import SCORES, Additive, Dot, General, Location, ScaledDot, Score, attend, dot, scaled_dot
from tests import oracles
from tests.draws import DTYPES, assert_near, normal

B, H, T, S, Q, K, A = 3, 2, 5, 7, 4, 6, 9
LIMIT = 11

Formula = Callable[[Any, np.ndarray, np.ndarray, int], float]


def array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().double().numpy()


def dot_formula(score: Any, q: np.ndarray, k: np.ndarray, place: int) -> float:
    return sum(q[i] * k[i] for i in range(len(q)))


def scaled_dot_formula(score: Any, q: np.ndarray, k: np.ndarray, place: int) -> float:
    return dot_formula(score, q, k, place) / sqrt(len(q))


def general_formula(score: Any, q: np.ndarray, k: np.ndarray, place: int) -> float:
    matrix = array(score.matrix.weight)
    return sum(q[i] * matrix[i, j] * k[j] for i in range(len(q)) for j in range(len(k)))


def additive_formula(score: Any, q: np.ndarray, k: np.ndarray, place: int) -> float:
    """v·tanh(W q + U k)."""
    W, U, v = array(score.query.weight), array(score.keys.weight), array(score.v)
    return sum(v[i] * np.tanh(W[i] @ q + U[i] @ k) for i in range(len(v)))


def concat_formula(score: Any, q: np.ndarray, k: np.ndarray, place: int) -> float:
    """v·tanh(W [q; k]), with one matrix."""
    W = np.concatenate([array(score.query.weight), array(score.keys.weight)], axis=1)
    return float(array(score.v) @ np.tanh(W @ np.concatenate([q, k])))


def location_formula(score: Any, q: np.ndarray, k: np.ndarray, place: int) -> float:
    return float(array(score.places.weight)[place] @ q)


FORMULAS: dict[str, tuple[Formula, int]] = {
    "dot": (dot_formula, Q),
    "scaled-dot": (scaled_dot_formula, Q),
    "general": (general_formula, K),
    "additive": (additive_formula, K),
    "concat": (concat_formula, K),
    "location": (location_formula, K),
}
"""And the width of the keys."""


def made(name: str, key: int, dtype: torch.dtype = torch.float64) -> Any:
    torch.manual_seed(0)
    score = SCORES[name](query=Q, key=key, limit=LIMIT).to(dtype)
    oracles.shake(score, seed=1)
    return score


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SCORES)
def test_each_score_is_its_formula(name: str, dtype: torch.dtype) -> None:
    formula, key = FORMULAS[name]
    score = made(name, key, dtype)
    query, keys = normal(B, H, T, Q, seed=2, dtype=dtype), normal(B, H, S, key, seed=3, dtype=dtype)
    found = score(query, score.prepare(keys))
    expected = torch.zeros(B, H, T, S, dtype=dtype)
    for b, h, t, s in np.ndindex(B, H, T, S):
        expected[b, h, t, s] = formula(score, array(query[b, h, t]), array(keys[b, h, s]), s)
    if name == "location":  # it never saw the keys
        found = found.expand(B, H, T, S)
    assert_near(found.detach(), expected)


@pytest.mark.parametrize("name", SCORES)
def test_each_score_can_be_attended_with(name: str) -> None:
    _, key = FORMULAS[name]
    score = made(name, key)
    assert isinstance(score, Score)
    query, keys, values = normal(B, 1, T, Q, seed=2), normal(B, 1, S, key, seed=3), normal(B, 1, S, K, seed=4)
    prepared = score.prepare(keys)
    assert_near(attend(query, prepared, values, score=score), score(query, prepared).softmax(-1) @ values)


@pytest.mark.parametrize("name", ["dot", "scaled-dot"])
def test_a_product_of_two_widths_is_refused_naming_both(name: str) -> None:
    with pytest.raises(ValueError, match="queries and keys of one width, not 4 and 6"):
        SCORES[name](query=Q, key=K, limit=LIMIT)


def test_the_hidden_units_of_the_additive_score_are_as_many_as_asked_for_or_as_the_query_is_wide() -> None:
    assert Additive(query=Q, key=K, width=A).v.shape == (A,)
    assert Additive(query=Q, key=K, width=A).keys.weight.shape == (A, K)
    assert Additive(query=Q, key=K).v.shape == (Q,)


def test_location_knows_as_many_places_as_the_longest_sentence_has() -> None:
    score = made("location", K)
    longest = score(normal(B, T, Q, seed=2), normal(B, LIMIT, K, seed=3))
    assert longest.shape == (B, T, LIMIT)
    assert torch.equal(longest, score(normal(B, T, Q, seed=2), normal(B, LIMIT, K, seed=4)))


def test_only_what_the_papers_have_is_learned() -> None:
    def learned(name: str, key: int) -> dict[str, tuple[int, ...]]:
        return {name: tuple(parameter.shape) for name, parameter in made(name, key).named_parameters()}

    assert learned("dot", Q) == learned("scaled-dot", Q) == {}
    assert learned("general", K) == {"matrix.weight": (Q, K)}
    assert learned("additive", K) == {"v": (Q,), "query.weight": (Q, Q), "keys.weight": (Q, K)}
    assert learned("location", K) == {"places.weight": (LIMIT, Q)}


def test_scaled_dot_keeps_the_variance_at_one_where_dot_grows_with_the_width() -> None:
    width = 64
    query, keys = normal(50, width, seed=5), normal(40, width, seed=6)
    assert float(dot(query, keys).var()) == pytest.approx(width, rel=0.15)
    assert float(scaled_dot(query, keys).var()) == pytest.approx(1, rel=0.15)


def test_scores_are_products_of_each_query_with_each_key() -> None:
    query, keys = normal(B, H, T, Q, seed=7), normal(B, H, S, Q, seed=8)
    products = torch.einsum("bhtk,bhsk->bhts", query, keys)
    assert_near(dot(query, keys), products)
    assert_near(scaled_dot(query, keys), products / 2)  # √4
    assert_near(made("dot", Q)(query, keys), products)
    assert_near(made("scaled-dot", Q)(query, keys), products / 2)


def test_the_table_names_what_the_papers_name() -> None:
    assert {
        "dot": Dot,
        "scaled-dot": ScaledDot,
        "general": General,
        "concat": Additive,
        "additive": Additive,
        "location": Location,
    } == SCORES
