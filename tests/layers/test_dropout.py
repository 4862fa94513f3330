from math import sqrt

import pytest
import torch

from regard.layers import Dropout, dropout
from tests.draws import normal

COUNT = 100_003  # not a multiple of four: the last draw is used in part


@pytest.mark.parametrize("probability", [0.1, 0.3, 0.5, 0.9])
def test_dropout_zeroes_the_right_share_and_keeps_mean_and_variance(probability: float) -> None:
    torch.manual_seed(7)
    dropped = dropout(torch.ones(COUNT, dtype=torch.float64), probability)
    left = 1 - probability
    assert set(dropped.unique().tolist()) == {0.0, 1 / left}
    deviation = sqrt(probability * left / COUNT)
    assert abs(float((dropped == 0).double().mean()) - probability) < 4 * deviation
    assert abs(float(dropped.mean()) - 1) < 4 * deviation / left
    assert float(dropped.var()) == pytest.approx(probability / left, rel=0.05)


def test_neighbours_and_the_four_places_of_a_draw_are_dropped_independently() -> None:
    torch.manual_seed(8)
    kept = (dropout(torch.ones(25_000, 4, dtype=torch.float64), 0.3) > 0).double()
    correlation = torch.corrcoef(torch.cat((kept[:-1].T, kept[1:].T)))
    off_diagonal = correlation - torch.eye(8, dtype=torch.float64)
    assert float(off_diagonal.abs().max()) < 5 / sqrt(25_000)
    assert torch.allclose(kept.mean(0), torch.tensor(0.7, dtype=torch.float64), atol=0.015)


def test_the_same_seed_drops_the_same_entries_and_another_draw_others() -> None:
    x = normal(3, 5, 7, seed=0)
    torch.manual_seed(1)
    first, second = dropout(x, 0.5), dropout(x, 0.5)
    torch.manual_seed(1)
    assert torch.equal(dropout(x, 0.5), first)
    assert not torch.equal(first, second)


@pytest.mark.parametrize("shape", [(3, 5, 7), (1,), (2, 0, 3), ()])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_dropout_keeps_shape_and_type_of_any_tensor(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    dropped = dropout(torch.ones(shape, dtype=dtype), 0.5)
    assert dropped.shape == shape
    assert dropped.dtype == dtype


def test_a_tensor_that_is_not_contiguous_is_dropped_entry_by_entry() -> None:
    torch.manual_seed(2)
    x = normal(6, 9, seed=0).T
    dropped = dropout(x, 0.25)
    assert torch.allclose(dropped[dropped != 0], x[dropped != 0] / 0.75)
    assert 0 < int((dropped == 0).sum()) < x.numel() / 2


def test_the_gradient_is_the_mask_times_the_scale() -> None:
    torch.manual_seed(3)
    x = normal(40, 30, seed=0).requires_grad_()
    dropped = dropout(x, 0.4)
    upstream = normal(40, 30, seed=1)
    (gradient,) = torch.autograd.grad(dropped, x, upstream)
    expected = torch.where(dropped != 0, upstream / 0.6, torch.zeros_like(upstream))
    assert torch.allclose(gradient, expected, rtol=0, atol=1e-12)


def test_dropout_acts_in_training_and_does_nothing_in_use_or_at_probability_zero() -> None:
    torch.manual_seed(4)
    x, layer = normal(50, 7, seed=0), Dropout(0.5)
    assert not torch.equal(layer(x), x)
    assert layer.eval()(x) is x
    assert Dropout(0.0).train()(x) is x
