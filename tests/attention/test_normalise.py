import pytest
import torch

from regard.attention import NORMALISERS, SCORES, dot, scaled_dot, softmax
from tests.draws import DTYPES, assert_near, normal

B, H, T, S, K = 3, 2, 5, 7, 4


def test_softmax_without_a_mask_is_torchs() -> None:
    scores = normal(B, H, T, S, seed=0)
    assert_near(softmax(scores), scores.softmax(-1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_masked_softmax_equals_the_softmax_over_what_may_be_seen(dtype: torch.dtype) -> None:
    scores, mask = normal(T, S, seed=1, dtype=dtype), normal(T, S, seed=2) > -0.3
    weights = softmax(scores, mask)
    for t in range(T):
        assert_near(weights[t, mask[t]], scores[t, mask[t]].softmax(-1))
        assert (weights[t, ~mask[t]] == 0).all()


def test_hidden_scores_do_not_matter_however_large() -> None:
    scores, mask = normal(T, S, seed=1), normal(T, S, seed=2) > -0.3
    louder = torch.where(mask, scores, torch.tensor(1e30, dtype=scores.dtype))
    assert_near(softmax(louder, mask), softmax(scores, mask))


@pytest.mark.parametrize("dtype", [*DTYPES, torch.bfloat16, torch.float16])
def test_a_hidden_score_never_beats_a_visible_one_however_low(dtype: torch.dtype) -> None:
    scores = torch.tensor([[torch.finfo(dtype).min / 2, 0.0]], dtype=dtype)
    assert softmax(scores, torch.tensor([[True, False]])).tolist() == [[1.0, 0.0]]


def test_a_row_that_may_look_nowhere_gets_zeros_and_a_zero_gradient() -> None:
    scores = normal(2, S, seed=3).requires_grad_()
    mask = torch.tensor([[False] * S, [True] * S])
    weights = softmax(scores, mask)
    assert (weights[0] == 0).all()
    assert_near(weights[1].sum(), torch.ones((), dtype=torch.float64))
    (gradient,) = torch.autograd.grad(weights, scores, normal(2, S, seed=4))
    assert (gradient[0] == 0).all()
    assert gradient.isfinite().all()
    assert gradient[1].abs().max() > 0


def test_scaled_dot_keeps_the_variance_at_one_where_dot_grows_with_the_width() -> None:
    width = 64
    query, keys = normal(50, width, seed=5), normal(40, width, seed=6)
    assert float(dot(query, keys).var()) == pytest.approx(width, rel=0.15)
    assert float(scaled_dot(query, keys).var()) == pytest.approx(1, rel=0.15)


def test_scores_are_products_of_each_query_with_each_key() -> None:
    query, keys = normal(B, H, T, K, seed=7), normal(B, H, S, K, seed=8)
    products = torch.einsum("bhtk,bhsk->bhts", query, keys)
    assert_near(dot(query, keys), products)
    assert_near(scaled_dot(query, keys), products / 2)  # √4


def test_the_tables_name_what_the_papers_name() -> None:
    assert SCORES["dot"] is dot
    assert SCORES["scaled-dot"] is scaled_dot
    assert NORMALISERS["softmax"] is softmax
