"""The fused output layer and loss against torch's cross_entropy."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from regard.layers import cross_entropy
from regard.layers.cross_entropy import ROWS, summed_cross_entropy
from tests.draws import assert_near, normal, words

D, V = 5, 11


@pytest.fixture(autouse=True, params=["a part at a time", "all at once"])
def _parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of ROWS predictions, as a large vocabulary has them; a small one has all at once."""
    if request.param == "a part at a time":
        monkeypatch.setattr(cross_entropy, "LOGITS", ROWS)


def output(bias: bool, dtype: torch.dtype = torch.float64) -> nn.Linear:
    layer = nn.Linear(D, V, bias=bias, dtype=dtype)
    with torch.no_grad():
        for seed, parameter in enumerate(layer.parameters()):
            parameter.copy_(normal(*parameter.shape, seed=seed))
    return layer


def torchs(hidden: Tensor, layer: nn.Linear, wanted: Tensor, smoothing: float) -> Tensor:
    return F.cross_entropy(layer(hidden), wanted, reduction="sum", label_smoothing=smoothing)


@pytest.mark.parametrize("rows", [1, 7, ROWS, ROWS + 1, 2 * ROWS + 37])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("bias", [False, True])
def test_loss_and_gradients_equal_torchs(bias: bool, smoothing: float, rows: int) -> None:
    wanted, answers = words(rows, below=V, seed=9), []
    for loss in (summed_cross_entropy, torchs):
        layer, hidden = output(bias), normal(rows, D, seed=8).requires_grad_()
        total = loss(hidden, layer, wanted, smoothing)
        gradients = torch.autograd.grad(total * 0.7, [hidden, *layer.parameters()])  # as if it were one term of several
        answers.append((total.detach(), *gradients))
    assert len(answers[0]) == 3 + bias
    for ours, theirs in zip(*answers, strict=True):
        assert_near(ours, theirs)


def test_single_precision_is_as_good_as_torchs() -> None:
    rows = 3 * ROWS + 5
    wanted = words(rows, below=V, seed=9)
    exact = torchs(normal(rows, D, seed=8), output(True), wanted, 0.1)
    hidden, layer = normal(rows, D, seed=8, dtype=torch.float32).requires_grad_(), output(True, torch.float32)
    total = summed_cross_entropy(hidden, layer, wanted, 0.1)
    assert total.dtype == torch.float32
    assert float(total.detach()) == pytest.approx(float(exact.detach()), rel=1e-6)
    total.backward()
    assert hidden.grad is not None
    (expected,) = torch.autograd.grad(torchs(hidden, layer, wanted, 0.1), hidden)
    assert_near(hidden.grad, expected)


def test_only_what_wants_a_gradient_gets_one() -> None:
    wanted, layer, hidden = words(7, below=V, seed=9), output(True), normal(7, D, seed=8).requires_grad_()
    layer.requires_grad_(False)
    summed_cross_entropy(hidden, layer, wanted, 0.1).backward()
    assert layer.weight.grad is None
    (expected,) = torch.autograd.grad(torchs(hidden, layer, wanted, 0.1), hidden)
    assert hidden.grad is not None
    assert_near(hidden.grad, expected)


def test_a_tied_weight_gathers_the_gradients_of_both_its_uses() -> None:
    wanted, tokens, answers = words(7, below=V, seed=9), words(7, below=V, seed=10), []
    for loss in (summed_cross_entropy, torchs):
        layer = output(False)
        total = loss(F.embedding(tokens, layer.weight).tanh(), layer, wanted, 0.1)
        answers.append(torch.autograd.grad(total, layer.weight)[0])
    assert_near(*answers)


def test_huge_logits_overflow_nowhere() -> None:
    wanted, layer, hidden = words(7, below=V, seed=9), output(False), (1e4 * normal(7, D, seed=8)).requires_grad_()
    total = summed_cross_entropy(hidden, layer, wanted)
    assert_near(total, torchs(hidden, layer, wanted, 0.0), 1e-6)
    total.backward()
    assert hidden.grad is not None
    assert hidden.grad.isfinite().all()


def test_no_rows_give_a_loss_of_zero() -> None:
    hidden = torch.zeros(0, D, dtype=torch.float64, requires_grad=True)
    total = summed_cross_entropy(hidden, output(True), torch.zeros(0, dtype=torch.long), 0.1)
    assert float(total.detach()) == 0
    total.backward()


class Operations(TorchDispatchMode):
    """Writes down what torch is asked to do."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, operation, types, given=(), options=None):  # type: ignore[no-untyped-def]
        self.names.append(operation.name())
        return operation(*given, **(options or {}))


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_without_gradients_the_loss_is_the_same_and_no_gradient_is_computed(mode: type) -> None:
    wanted, layer, hidden = words(ROWS + 7, below=V, seed=9), output(True), normal(ROWS + 7, D, seed=8)
    with Operations() as learning:
        expected = summed_cross_entropy(hidden, layer, wanted, 0.1)
    with mode(), Operations() as scoring:
        total = summed_cross_entropy(hidden, layer, wanted, 0.1)
    assert not total.requires_grad
    assert torch.equal(total, expected.detach())
    assert any("scatter_add" in name for name in learning.names)
    assert not any("scatter_add" in name or "zeros_like" in name for name in scoring.names)
