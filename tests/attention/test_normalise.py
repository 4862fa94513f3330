import numpy as np
import pytest
import torch

from regard.attention import NORMALISERS, hard, softmax
from tests.draws import DTYPES, assert_near, normal

B, H, T, S = 3, 2, 5, 7


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


# Hard


def test_hard_puts_all_weight_on_the_best_place() -> None:
    scores = normal(B, H, T, S, seed=5)
    weights = hard(scores)
    assert weights.shape == scores.shape
    assert weights.dtype == scores.dtype
    for row, chosen in zip(scores.reshape(-1, S), weights.reshape(-1, S), strict=True):
        assert chosen.tolist() == [float(s == row.argmax()) for s in range(S)]


def test_hard_looks_only_where_the_mask_allows() -> None:
    scores, mask = normal(B, H, T, S, seed=5), normal(B, 1, T, S, seed=6) > 0.2
    weights = hard(scores, mask)
    for b, h, t in np.ndindex(B, H, T):
        seen = mask[b, 0, t].nonzero().flatten().tolist()
        best = max(seen, key=lambda s: float(scores[b, h, t, s]), default=None)
        assert weights[b, h, t].tolist() == [float(s == best) for s in range(S)]
    assert (hard(scores) * ~mask).any()  # without the mask, it would have looked there


def test_hard_gives_zeros_where_nothing_may_be_seen() -> None:
    scores = normal(3, S, seed=3)
    mask = torch.tensor([[False] * S, [True] * S, [False] * S])
    assert hard(scores, mask).sum(-1).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("scores", "mask", "best"),
    [
        ([2.0, 7.0, 7.0, 7.0], None, 1),
        ([7.0, 7.0, 7.0, 7.0], [False, False, True, True], 2),
        ([9.0, 0.0, 0.0, -1.0], [False, True, True, True], 1),
    ],
)
def test_hard_takes_the_first_among_equals(scores: list[float], mask: list[bool] | None, best: int) -> None:
    weights = hard(torch.tensor([scores]), None if mask is None else torch.tensor([mask]))
    assert weights.tolist() == [[float(s == best) for s in range(4)]]


@pytest.mark.parametrize("dtype", [*DTYPES, torch.bfloat16, torch.float16])
def test_hard_takes_the_best_place_by_however_little_it_is_better(dtype: torch.dtype) -> None:
    """A softmax in between would round such scores to equal weights."""
    little = torch.finfo(dtype).eps / 8
    assert hard(torch.tensor([[0.0, little, -little]], dtype=dtype)).tolist() == [[0, 1, 0]]
    assert hard(torch.tensor([[-little, 0.0, 1.0]], dtype=dtype), torch.tensor([[1, 1, 0]]).bool()).tolist() == [
        [0, 1, 0]
    ]


def test_hard_and_soft_look_at_the_same_place_and_only_soft_lets_a_gradient_through() -> None:
    scores, mask = normal(T, S, seed=1).requires_grad_(), normal(T, S, seed=2) > -0.3
    assert torch.equal(hard(scores, mask).argmax(-1), softmax(scores, mask).argmax(-1))
    assert not hard(scores, mask).requires_grad or not torch.autograd.grad(hard(scores, mask).sum(), scores)[0].any()


def test_the_table_names_both_ways() -> None:
    assert {"soft": softmax, "hard": hard} == NORMALISERS
