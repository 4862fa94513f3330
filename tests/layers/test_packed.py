"""Packed matrices: the same products in every layout, only inside the `with`."""

import threading
from unittest.mock import Mock

import pytest
import torch
from torch import nn

from regard.layers.packed import Layout, OneRow, Packing, SomeRows, packed
from regard.models.gpt2 import GPT2, GPT2Config

ROWS = 4
LAYOUTS = pytest.mark.parametrize("layout", [SomeRows, OneRow])
SMALL = GPT2Config(width=32, heads=4, hidden=64, layers=2, limit=32)


@LAYOUTS
@pytest.mark.parametrize("rows", [0, 1, 2, 8, 33])
@pytest.mark.parametrize(("inputs", "outputs"), [(48, 80), (80, 48), (35, 35), (7, 11), (700, 900)])
@pytest.mark.parametrize("bias", [True, False])
def test_products_are_those_of_the_matrix(
    layout: type[Layout], rows: int, inputs: int, outputs: int, bias: bool
) -> None:
    torch.manual_seed(rows)
    layer, x = nn.Linear(inputs, outputs, bias=bias), torch.randn(rows, inputs)
    exact = x.double() @ layer.weight.double().T + (layer.bias.double() if bias else 0)
    with torch.inference_mode(), packed(layer, layout):
        torch.testing.assert_close(layer(x).double(), exact, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(layer(x[:, None]).double(), exact[:, None], rtol=1e-5, atol=1e-5)
        apart = torch.stack((x, x), dim=-1)[..., 0]
        torch.testing.assert_close(layer(apart).double(), exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_one_row_has_at_most_a_part_for_each_thread(threads: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for outputs, inputs in ((64, 12), (12, 64), (64, 7)):
            parts = OneRow(torch.randn(outputs, inputs)).parts
            assert len(parts) == (1 if inputs == 7 and threads < 7 else threads)
            assert parts.shape[1] * parts.shape[2] * len(parts) == outputs * inputs
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(("layout", "rows"), [(SomeRows, 1), (SomeRows, ROWS), (OneRow, 1)])
def test_copies_are_used(layout: type[Layout], rows: int) -> None:
    """Seen by changing the matrix behind their back, which is what nobody may do."""
    layer = nn.Linear(8, 8, bias=False)
    x = torch.ones(rows, 8)
    with torch.no_grad(), packed(layer, layout):
        layer.weight.zero_()
        assert layer(x).any()
    with torch.no_grad():
        assert not layer(x).any()


def test_gradients_flow_as_ever() -> None:
    layer, x = nn.Linear(8, 8), torch.ones(ROWS, 8)
    with packed(layer):
        layer(x).sum().backward()
    assert layer.weight.grad is not None
    assert layer.weight.grad.any()


def test_inner_packing_leaves_the_outer_one() -> None:
    layer = nn.Linear(8, 8)
    with packed(layer):
        with packed(layer):
            pass
        assert "forward" in vars(layer)
    assert "forward" not in vars(layer)


def test_doubles_are_left_alone() -> None:
    layer = nn.Linear(8, 8).double()
    with packed(layer), torch.no_grad():
        assert "forward" not in vars(layer)


def test_copies_are_kept_from_one_use_to_the_next_and_made_anew_when_a_matrix_has_changed() -> None:
    layer, x = nn.Linear(8, 8, bias=False), torch.ones(ROWS, 8)
    packing = Packing(layer)
    made = []
    for change in (None, None, nn.init.zeros_, None):
        if change:
            change(layer.weight)
        with torch.inference_mode(), packing.used():
            made.append(vars(layer)["forward"].args[2])
            torch.testing.assert_close(layer(x), x @ layer.weight.T)
    assert made[0] is made[1]
    assert made[1] is not made[2]
    assert made[2] is made[3]


def test_what_a_fused_optimiser_changes_is_seen_although_torch_does_not_count_it() -> None:
    layer, x = nn.Linear(8, 8), torch.ones(ROWS, 8)
    packing, optimiser = Packing(layer), torch.optim.AdamW(layer.parameters(), lr=0.1, fused=True)
    with packing.used():
        layer(x).sum().backward()
    before = layer.weight._version
    optimiser.step()
    assert layer.weight._version == before
    with torch.inference_mode(), packing.used():
        torch.testing.assert_close(layer(x), x @ layer.weight.T + layer.bias)


def test_a_start_that_fails_leaves_the_model_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
    packing = Packing(layers)
    with monkeypatch.context() as patch:
        patch.setattr(packing, "layout", Mock(side_effect=[SomeRows(torch.ones(8, 8)), MemoryError]))
        with pytest.raises(MemoryError), packing.used():
            pass
    assert not any("forward" in vars(layer) for layer in layers)
    with torch.inference_mode(), packing.used():
        assert all("forward" in vars(layer) for layer in layers)
    assert not any("forward" in vars(layer) for layer in layers)


def test_a_layer_that_computes_in_its_own_way_is_left_alone() -> None:
    class Doubled(nn.Linear):
        def forward(self, input: torch.Tensor) -> torch.Tensor:
            return 2 * super().forward(input)

    layer, x = Doubled(8, 8, bias=False), torch.ones(ROWS, 8)
    with torch.inference_mode(), packed(layer):
        torch.testing.assert_close(layer(x), 2 * x @ layer.weight.T)


def test_weights_that_are_put_in_their_place_are_seen() -> None:
    layer, x = nn.Linear(8, 8, bias=False), torch.ones(ROWS, 8)
    packing = Packing(layer)
    for seed in range(3):
        torch.manual_seed(seed)
        layer.weight = nn.Parameter(torch.randn(8, 8))
        with torch.inference_mode(), packing.used():
            torch.testing.assert_close(layer(x), x @ layer.weight.T)


def test_the_first_to_leave_takes_nothing_from_who_is_still_inside() -> None:
    layer = nn.Linear(8, 8)
    packing, entered, leave = Packing(layer), threading.Event(), threading.Event()

    def other() -> None:
        with packing.used():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with packing.used():
        thread.start()
        assert entered.wait(10)
    assert "forward" in vars(layer)
    leave.set()
    thread.join()
    assert "forward" not in vars(layer)


@pytest.mark.parametrize(("layout", "texts"), [(SomeRows, 6), (OneRow, 1)])
def test_a_language_model_says_the_same(layout: type[Layout], texts: int) -> None:
    torch.manual_seed(1)
    model = GPT2(SMALL, vocabulary=50).eval()
    prompts = torch.randint(50, (texts, 5))
    state = model.start(None, prompts[:, :-1])
    plain, _ = model.step(prompts[:, -1], state)
    with packed(model, layout):
        state = model.start(None, prompts[:, :-1])
        fast, _ = model.step(prompts[:, -1], state)
    torch.testing.assert_close(fast, plain, rtol=1e-5, atol=1e-5)
