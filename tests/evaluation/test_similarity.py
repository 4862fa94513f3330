"""Rank correlation with ties, beside its definition and beside scipy."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.evaluation.similarity import cosines, score_similarity, spearman

VALUES = st.lists(st.tuples(st.integers(-4, 4), st.integers(-3, 3)), min_size=2, max_size=30)


def rank(value: float, values: list[float]) -> float:
    """One more than all that are less, and half of those that are equal."""
    return sum(other < value for other in values) + (1 + sum(other == value for other in values)) / 2


def by_definition(a: list[float], b: list[float]) -> float:
    first, second = ([rank(value, values) for value in values] for values in (a, b))
    mean = (len(a) + 1) / 2
    top = sum((x - mean) * (y - mean) for x, y in zip(first, second, strict=True))
    return top / (sum((x - mean) ** 2 for x in first) * sum((y - mean) ** 2 for y in second)) ** 0.5


@given(VALUES)
def test_ties_share_their_rank(pairs: list[tuple[int, int]]) -> None:
    a, b = ([float(pair[side]) for pair in pairs] for side in (0, 1))
    assume(len(set(a)) > 1 and len(set(b)) > 1)
    assert spearman(np.array(a), np.array(b)) == pytest.approx(by_definition(a, b), abs=1e-12)


def test_scipy_says_the_same() -> None:
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")
    draw = np.random.default_rng(1)
    for _ in range(20):
        a, b = draw.normal(size=50).round(1), draw.integers(0, 6, 50).astype(np.float64)
        assert spearman(a, b) == pytest.approx(float(stats.spearmanr(a, b).statistic), abs=1e-12)


def test_order_is_all_that_counts() -> None:
    a = np.array([0.1, 0.5, 0.2, 0.9])
    assert spearman(a, np.exp(5 * a)) == pytest.approx(1)
    assert spearman(a, -(a**3)) == pytest.approx(-1)


def test_cosines_are_those_of_the_rows_and_zero_rows_give_no_nan() -> None:
    draw = np.random.default_rng(2)
    a, b = draw.normal(size=(5, 3)), draw.normal(size=(5, 3))
    a[2] = 0
    wanted = [float(x @ y / np.sqrt((x @ x) * (y @ y))) if x.any() else 0.0 for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(cosines(a, b), wanted, atol=1e-12)


class Letters:
    """Counts letters."""

    def embed(self, texts: list[str]) -> np.ndarray:
        return np.array([[text.count(letter) for letter in "abc"] for text in texts], dtype=np.float32)


def test_pairs_are_scored_by_the_cosine_of_their_vectors() -> None:
    found = score_similarity(Letters(), ["a", "a", "b"], ["a", "ab", "c"], [5.0, 3.0, 0.0])
    assert found["spearman"] == pytest.approx(1)
    assert found["headline"] == "Spearman 100.00 of 3 pairs"


def test_what_has_no_correlation_is_refused() -> None:
    with pytest.raises(DataError, match=r"3 and 3 values, 1 and 3 different"):
        spearman(np.ones(3), np.arange(3.0))
    with pytest.raises(DataError, match="rank correlation"):
        spearman(np.ones(1), np.ones(1))
    with pytest.raises(DataError, match="2 first texts, 1 second texts, 2 scores"):
        score_similarity(Letters(), ["a", "b"], ["a"], [1.0, 2.0])
