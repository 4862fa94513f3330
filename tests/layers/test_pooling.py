"""One vector out of many, beside the formulas in numpy."""

import numpy as np
import pytest
import torch

from regard.attention import capture
from regard.layers import POOLINGS

LENGTHS = [5, 3, 1]


def states() -> torch.Tensor:
    return torch.randn(3, 5, 6, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("name", POOLINGS)
def test_each_pooling_is_its_formula(name: str) -> None:
    x, pool = states(), POOLINGS[name](6)
    rows = [row[:length].numpy().astype(np.float64) for row, length in zip(x, LENGTHS, strict=True)]
    if name == "attention":
        parameters = {key: value.detach().double().numpy() for key, value in pool.named_parameters()}
        wanted = []
        for row in rows:
            u = np.tanh(row @ parameters["keys.weight"].T + parameters["keys.bias"])
            weights = np.exp(u @ parameters["query"])
            wanted.append(weights / weights.sum() @ row)
    else:
        formula = {
            "first": lambda r: r[0],
            "last": lambda r: r[-1],
            "mean": lambda r: r.mean(0),
            "max": lambda r: r.max(0),
        }
        wanted = [formula[name](row) for row in rows]
    found = pool(x, torch.tensor(LENGTHS)).detach().numpy()
    assert np.allclose(found, np.stack(wanted), atol=1e-5)


@pytest.mark.parametrize("name", POOLINGS)
def test_padding_is_not_counted(name: str) -> None:
    x, pool = states(), POOLINGS[name](6)
    other = x.clone()
    other[1, 3:], other[2, 1:] = 100.0, -100.0
    assert torch.equal(pool(x, torch.tensor(LENGTHS)), pool(other, torch.tensor(LENGTHS)))


def test_the_weights_of_attention_can_be_got_at() -> None:
    pool = POOLINGS["attention"](6)
    with capture(pool) as recording:
        pool(states(), torch.tensor(LENGTHS))
    weights = recording.last("pooling")
    assert weights.shape == (3, 1, 1, 5)
    assert torch.allclose(weights.sum(-1), torch.ones(3, 1, 1))
    assert weights[2, 0, 0].tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]
