"""Recurrent layers against torch.nn's with the same weights, and against their equations."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from regard.layers import CELLS, Decoder, Encoder, backwards
from regard.layers.recurrent import GRU, LSTM, Cell, ChoGRU, run
from tests import oracles
from tests.draws import DTYPES, assert_near, normal
from tests.layers import in_numpy, packed

B, S, E, D = 4, 7, 5, 6
LENGTHS = torch.tensor([3, 7, 1, 5])
REAL = torch.arange(S) < LENGTHS[:, None]


def encoder(cell: str, dtype: torch.dtype = torch.float64, **choices: object) -> Encoder:
    torch.manual_seed(0)
    made = Encoder(cell, inputs=E, width=D, **choices).to(dtype).eval()
    oracles.shake(made, seed=1)
    return made


def decoder(cell: str, dtype: torch.dtype = torch.float64, **choices: object) -> Decoder:
    torch.manual_seed(0)
    made = Decoder(cell, inputs=E, width=D, **choices).to(dtype).eval()
    oracles.shake(made, seed=1)
    return made


def begun(cell: str, layers: int, dtype: torch.dtype = torch.float64) -> list[tuple[Tensor, ...]]:
    """States to go on from, each part of each layer another."""
    parts = CELLS[cell].parts
    return [tuple(normal(B, D, seed=10 * n + p, dtype=dtype).tanh() for p in range(parts)) for n in range(layers)]


def assert_same_states(found: list[tuple[Tensor, ...]], wanted: list[tuple[Tensor, ...]]) -> None:
    assert len(found) == len(wanted)
    for mine, theirs in zip(found, wanted, strict=True):
        assert len(mine) == len(theirs)
        for part, reference in zip(mine, theirs, strict=True):
            assert_near(part, reference)


def assert_same_gradients(ours: Encoder | Decoder, theirs: nn.RNNBase) -> None:
    for cell, suffix in packed.cells(ours):
        pairs = [
            (cell.input.weight, f"weight_ih{suffix}"),
            (cell.recurrent.weight, f"weight_hh{suffix}"),
            (cell.input.bias, f"bias_ih{suffix}"),
            (cell.recurrent.bias, f"bias_hh{suffix}"),
        ]
        for mine, name in pairs:
            if mine is not None:
                assert mine.grad.abs().max() > 0
                assert_near(mine.grad, getattr(theirs, name).grad)


# The same as torch's


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("cell", packed.KINDS)
def test_the_encoder_says_and_ends_with_what_torchs_does_however_long_the_sentences(
    cell: str, directions: int, layers: int, dtype: torch.dtype
) -> None:
    ours, x = encoder(cell, dtype, layers=layers, directions=directions), normal(B, S, E, seed=2, dtype=dtype)
    found, finals = ours(x, LENGTHS)
    expected, lasts = packed.read(packed.recurrent(cell, ours, E, dtype), x, LENGTHS)
    assert found.shape == (B, S, D)
    assert_near(found[REAL], expected[REAL])
    assert_same_states(finals, lasts)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("cell", packed.KINDS)
def test_gradients_of_the_encoder_equal_torchs(cell: str, directions: int, layers: int) -> None:
    ours = encoder(cell, layers=layers, directions=directions)
    theirs = packed.recurrent(cell, ours, E, torch.float64)
    inputs = [normal(B, S, E, seed=2).requires_grad_() for _ in range(2)]
    upstream = normal(B, S, D, seed=3) * REAL[..., None]
    for (said, lasts), x in zip(
        (ours(inputs[0], LENGTHS), packed.read(theirs, inputs[1], LENGTHS)), inputs, strict=True
    ):
        last = sum(((n + 2) * part**2).sum() for n, state in enumerate(lasts) for part in state)
        ((said * upstream).sum() + last).backward()
        assert x.grad is not None
    assert_near(inputs[0].grad, inputs[1].grad)
    assert (inputs[0].grad[~REAL] == 0).all()
    assert_same_gradients(ours, theirs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("cell", packed.KINDS)
def test_the_decoder_goes_on_from_given_states_as_torchs_does(cell: str, layers: int, dtype: torch.dtype) -> None:
    ours, x = decoder(cell, dtype, layers=layers), normal(B, S, E, seed=2, dtype=dtype)
    states = begun(cell, layers, dtype)
    found, lasts = ours(x, states)
    expected, wanted = packed.go_on(packed.recurrent(cell, ours, E, dtype), x, states)
    assert_near(found, expected)
    assert_same_states(lasts, wanted)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("cell", packed.KINDS)
def test_gradients_of_the_decoder_equal_torchs_to_the_states_it_began_with(cell: str, layers: int) -> None:
    ours = decoder(cell, layers=layers)
    theirs = packed.recurrent(cell, ours, E, torch.float64)
    starts = []
    for call in (ours, lambda x, states: packed.go_on(theirs, x, states)):
        states = [tuple(part.requires_grad_() for part in state) for state in begun(cell, layers)]
        said, lasts = call(normal(B, S, E, seed=2), states)
        ((said * normal(B, S, D, seed=3)).sum() + sum((part**2).sum() for state in lasts for part in state)).backward()
        starts.append([part.grad for state in states for part in state])
    for mine, reference in zip(*starts, strict=True):
        assert_near(mine, reference)
    assert_same_gradients(ours, theirs)


@pytest.mark.parametrize(("cell", "theirs"), [(GRU, nn.GRUCell), (LSTM, nn.LSTMCell)])
def test_one_step_of_a_cell_equals_one_of_torchs(cell: type[GRU] | type[LSTM], theirs: type[nn.RNNCellBase]) -> None:
    torch.manual_seed(0)
    ours, reference = cell(E, D).double(), theirs(E, D, dtype=torch.float64)
    oracles.shake(ours, seed=1)
    with torch.no_grad():
        reference.weight_ih.copy_(ours.input.weight)
        reference.weight_hh.copy_(ours.recurrent.weight)
        # in a GRU the second bias stands inside the reset; in an LSTM only the sum matters
        second = normal(len(ours.input.bias), seed=7) if ours.recurrent.bias is None else ours.recurrent.bias
        reference.bias_hh.copy_(second)
        reference.bias_ih.copy_(ours.input.bias - (second if ours.recurrent.bias is None else 0))
    x, state = normal(B, E, seed=2), tuple(normal(B, D, seed=3 + part) for part in range(cell.parts))
    expected = reference(x, state if cell.parts == 2 else state[0])
    found = ours.step(ours.project(x), state)
    for mine, part in zip(found, expected if cell.parts == 2 else (expected,), strict=True):
        assert_near(mine, part)


# The same as the paper's


def test_cho_s_unit_is_its_equations_over_a_whole_sentence() -> None:
    torch.manual_seed(0)
    cell = ChoGRU(E, D).double()
    oracles.shake(cell, seed=1)
    x, start = normal(B, S, E, seed=2), normal(B, D, seed=3)
    found = torch.stack([h for (h,) in run(cell, x, (start,))], dim=1).detach()
    for b in range(B):
        expected = in_numpy.read_cho(cell, list(x[b].numpy()), start[b].numpy())
        np.testing.assert_allclose(found[b], np.stack(expected), rtol=0, atol=1e-10)


def test_cho_s_unit_resets_before_the_product_and_torchs_behind_it() -> None:
    torch.manual_seed(0)
    cho, gru = ChoGRU(E, D).double(), GRU(E, D).double()
    with torch.no_grad():  # Cho's order is z, r; his z is what torch calls 1 − z
        r, z, candidate = gru.input.weight.chunk(3)
        cho.input.weight.copy_(torch.cat((-z, r, candidate)))
        r, z, candidate = gru.recurrent.weight.chunk(3)
        cho.gates.weight.copy_(torch.cat((-z, r)))
        cho.candidate.weight.copy_(candidate)
    x, h = normal(B, E, seed=2), (normal(B, D, seed=3),)
    assert (cho.step(cho.project(x), h)[0] - gru.step(gru.project(x), h)[0]).abs().max() > 1e-3
    nothing = (torch.zeros(B, D, dtype=torch.float64),)  # where there is nothing to reset, they agree
    assert_near(cho.step(cho.project(x), nothing)[0], gru.step(gru.project(x), nothing)[0])


# What holds for each cell


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_is_a_cell_and_starts_from_zeros_unless_told(cell: str) -> None:
    torch.manual_seed(0)
    made = CELLS[cell](E, D).double()
    assert isinstance(made, Cell)
    x, zeros = normal(B, S, E, seed=2), (torch.zeros(B, D, dtype=torch.float64),) * made.parts
    for told, untold in zip(run(made, x, zeros), run(made, x), strict=True):
        assert len(told) == made.parts
        assert all(torch.equal(one, other) for one, other in zip(told, untold, strict=True))


@pytest.mark.parametrize("cell", CELLS)
def test_cells_start_orthogonal_from_state_to_state_and_glorot_from_word_to_state(cell: str) -> None:
    torch.manual_seed(0)
    made, width = CELLS[cell](50, 40), 40
    recurrent = [made.gates.weight, made.candidate.weight] if cell == "gru-cho" else [made.recurrent.weight]
    for block in torch.cat(recurrent).detach().split(width):
        assert_near(block @ block.T, torch.eye(width))
    bound = (6 / (50 + 40)) ** 0.5
    for block in made.input.weight.detach().split(width):
        assert 0.95 * bound < block.abs().max().item() <= bound
    biases = made.input.bias.detach().split(width)
    for number, bias in enumerate(biases):  # an LSTM's second gate forgets: to begin with, it does not
        assert (bias == (1 if (cell, number) == ("lstm", 1) else 0)).all()


@pytest.mark.parametrize("cell", CELLS)
def test_the_decoder_a_few_steps_at_a_time_equals_all_at_once(cell: str) -> None:
    ours, x, states = decoder(cell, layers=2), normal(B, S, E, seed=2), begun(cell, 2)
    whole, last = ours(x, states)
    early, between = ours(x[:, :3], states)
    late, end = ours(x[:, 3:], between)
    assert_near(torch.cat((early, late), dim=1), whole)
    assert_same_states(end, last)


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("cell", CELLS)
def test_padding_never_touches_what_the_encoder_says_or_ends_with(cell: str, directions: int) -> None:
    ours, x = encoder(cell, layers=2, directions=directions), normal(B, S, E, seed=2)
    said, finals = ours(x, LENGTHS)
    other, others = ours(torch.where(REAL[..., None], x, 1e6), LENGTHS)
    assert torch.equal(other[REAL], said[REAL])
    for mine, theirs in zip(finals, others, strict=True):
        assert all(torch.equal(one, two) for one, two in zip(mine, theirs, strict=True))


@pytest.mark.parametrize("make", [encoder, decoder])
def test_dropout_falls_between_the_layers_only_and_in_training_only(make: type[Encoder] | type[Decoder]) -> None:
    x = normal(B, S, E, seed=2)
    for layers, drops in ((1, False), (2, True)):
        plain, ours = make("gru", layers=layers), make("gru", layers=layers, dropout=0.4)
        more = (LENGTHS,) if make is encoder else (begun("gru", layers),)
        assert torch.equal(ours(x, *more)[0], plain(x, *more)[0])
        ours.train()
        torch.manual_seed(0)
        assert torch.equal(ours(x, *more)[0], plain(x, *more)[0]) is not drops


# Backwards


def test_backwards_turns_what_is_real_and_leaves_padding_behind() -> None:
    rows = torch.tensor([[1, 2, 3, 9, 9], [1, 2, 3, 4, 5], [1, 9, 8, 7, 6]])
    turned = backwards(rows, torch.tensor([3, 5, 1]))
    assert turned.tolist() == [[3, 2, 1, 9, 9], [5, 4, 3, 2, 1], [1, 9, 8, 7, 6]]


def test_backwards_twice_is_undone() -> None:
    x = normal(B, S, E, seed=2)
    assert torch.equal(backwards(backwards(x, LENGTHS), LENGTHS), x)
    assert not torch.equal(backwards(x, LENGTHS), x)
