import pytest
import torch
import torch.nn.functional as F

from regard.layers import ACTIVATIONS, FeedForward
from tests import oracles
from tests.draws import assert_near, normal

B, T, D, HIDDEN = 3, 5, 4, 7


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_feed_forward_is_two_linear_maps_with_the_activation_between(activation: str) -> None:
    torch.manual_seed(0)
    layer = FeedForward(width=D, hidden=HIDDEN, activation=activation).double()
    oracles.shake(layer, seed=0)
    x = normal(B, T, D, seed=1)
    expand, contract = layer.expand, layer.contract
    by_hand = {
        "relu": lambda z: z.clamp(min=0),
        "gelu": lambda z: z * 0.5 * (1 + torch.erf(z / 2**0.5)),
        "gelu-tanh": lambda z: 0.5 * z * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (z + 0.044715 * z**3))),
        "swish": lambda z: z / (1 + torch.exp(-z)),
    }[activation]
    assert_near(layer(x), by_hand(x @ expand.weight.T + expand.bias) @ contract.weight.T + contract.bias)


def test_every_position_is_treated_alike_and_alone() -> None:
    torch.manual_seed(0)
    layer, x = FeedForward(width=D, hidden=HIDDEN).double(), normal(B, T, D, seed=1)
    assert_near(layer(x.flip(1)), layer(x).flip(1))


def test_dropout_falls_on_the_hidden_layer_in_training_only() -> None:
    torch.manual_seed(0)
    layer, x = FeedForward(width=D, hidden=200, dropout=0.5).double(), normal(1, D, seed=1)
    hidden = F.relu(layer.expand(x)).detach()
    layer.contract.register_forward_pre_hook(lambda _, given: seen.append(given[0].detach()))
    seen: list[torch.Tensor] = []
    layer(x)
    layer.eval()
    layer(x)
    trained, evaluated = seen
    assert_near(evaluated, hidden)
    alive = hidden > 0
    kept = trained[alive] / hidden[alive]
    assert set(kept.round(decimals=6).tolist()) == {0.0, 2.0}
