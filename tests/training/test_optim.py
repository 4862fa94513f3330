"""The optimiser and the formats it computes in."""

from pathlib import Path

import pytest
import torch
from torch import nn

from regard.errors import ConfigError
from regard.training.optim import Scaler
from regard.training.start import prepare
from tests.runs import Silent, tiny_tree


def stepped(scaler: Scaler, factor: float, clip: float = 0.0) -> tuple[float, float]:
    """The weight after one update with the gradient `factor`, and the gradient's length."""
    weight = nn.Parameter(torch.zeros(1))
    optimiser = torch.optim.SGD([weight], lr=1.0)
    scaler.backward((weight * factor).sum())
    norm = scaler.step(optimiser, [weight], clip=clip)
    return float(weight.detach()), norm


@pytest.mark.parametrize("precision", ["float32", "bf16", "fp16"])
def test_scaling_does_not_show_in_the_update(precision: str) -> None:
    assert stepped(Scaler(precision, "cpu"), 3.0) == (-3.0, 3.0)
    assert stepped(Scaler(precision, "cpu"), 3.0, clip=1.0) == pytest.approx((-1.0, 3.0), abs=1e-5)


def test_an_update_that_overflows_is_left_out_and_the_scale_goes_down() -> None:
    scaler = Scaler("fp16", "cpu")
    before = scaler.state()["scale"]
    assert stepped(scaler, float("inf"))[0] == 0.0
    assert scaler.state()["scale"] == before / 2
    other = Scaler("fp16", "cpu")
    other.restore(scaler.state())
    assert other.state() == scaler.state()


def test_half_precision_on_a_cpu_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is for GPUs"):
        prepare(tiny_tree(tmp_path, precision="bf16", device="cpu"), tmp_path / "out", Silent())
