from math import cos, sin

import pytest
import torch
from torch import nn
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

from regard.layers import POSITIONS, sinusoids
from regard.layers.positions import in_halves


@pytest.mark.parametrize("width", [6, 7])
def test_sinusoids_are_the_formula_of_the_paper(width: int) -> None:
    table = sinusoids(11, width)
    assert table.shape == (11, width)
    assert table.dtype == torch.float32
    for place in range(11):
        for column in range(width):
            wave = cos if column % 2 else sin
            rate = 10_000 ** ((column - column % 2) / width)
            assert float(table[place, column]) == pytest.approx(wave(place / rate), abs=1e-7)


@pytest.mark.parametrize("width", [6, 7, 512])
def test_waves_in_halves_are_those_of_marian(width: int) -> None:
    theirs = MarianSinusoidalPositionalEmbedding(130, width).create_weight()
    torch.testing.assert_close(in_halves(130, width), theirs, rtol=0, atol=1e-6)
    assert torch.equal(POSITIONS["halves"](130, width)(7, 3), in_halves(130, width)[7:10])


@pytest.mark.parametrize("kind", POSITIONS)
def test_a_later_start_gives_the_later_positions(kind: str) -> None:
    positions = POSITIONS[kind](9, 4)
    whole = positions(0, 9)
    assert torch.equal(positions(3, 5).expand(5, 4), whole.expand(9, 4)[3:8])


@pytest.mark.parametrize("kind", ["sinusoidal", "halves", "learned"])
def test_every_position_differs(kind: str) -> None:
    torch.manual_seed(0)
    assert len(POSITIONS[kind](9, 4)(0, 9).unique(dim=0)) == 9


def test_no_positions_means_zeros_everywhere() -> None:
    assert not POSITIONS["none"](9, 4)(2, 5).any()


def test_only_learned_positions_are_learned_and_saved() -> None:
    def kept(positions: nn.Module) -> tuple[int, int]:
        return len(list(positions.parameters())), len(positions.state_dict())

    found = {kind: kept(made(9, 4)) for kind, made in POSITIONS.items()}
    assert found == {"sinusoidal": (0, 0), "halves": (0, 0), "learned": (1, 1), "none": (0, 0)}
