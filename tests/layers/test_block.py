"""The block against torch.nn's Transformer layers with the same weights."""

import pytest
import torch

from regard.attention import look_ahead_mask, padding_mask
from regard.layers import Block, Shape
from tests import oracles
from tests.draws import DTYPES, assert_near, normal

B, H, T, S, K, HIDDEN = 3, 2, 5, 7, 4, 11
D = H * K
LENGTHS = torch.tensor([7, 2, 5])


def block(dtype: torch.dtype, *, cross: bool = False, **choices: object) -> Block:
    torch.manual_seed(2)
    shape = Shape(width=D, heads=H, hidden=HIDDEN, **choices)
    made = Block(shape, name="test.0", cross=cross).to(dtype).eval()
    oracles.shake(made, seed=3)
    return made


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_block_equals_torchs_encoder_layer(norm: str, masked: bool, activation: str, dtype: torch.dtype) -> None:
    ours, x = block(dtype, norm=norm, activation=activation), normal(B, S, D, seed=0, dtype=dtype)
    theirs = oracles.encoder_layer(ours, dtype, norm_first=norm == "pre", activation=activation)
    expected = theirs(x, src_key_padding_mask=oracles.padding(LENGTHS, S) if masked else None)
    found, _ = ours(x, mask=padding_mask(LENGTHS, S) if masked else None)
    assert_near(found, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_block_with_cross_attention_equals_torchs_decoder_layer(norm: str, masked: bool, dtype: torch.dtype) -> None:
    ours = block(dtype, norm=norm, cross=True)
    x, memory = normal(B, T, D, seed=0, dtype=dtype), normal(B, S, D, seed=1, dtype=dtype)
    theirs = oracles.decoder_layer(ours, dtype, norm_first=norm == "pre")
    expected = theirs(
        x,
        memory,
        tgt_mask=oracles.future(T) if masked else None,
        memory_key_padding_mask=oracles.padding(LENGTHS, S) if masked else None,
    )
    found, _ = ours(
        x,
        mask=look_ahead_mask(T) if masked else None,
        memory=ours.cross_attention.remember(memory),
        memory_mask=padding_mask(LENGTHS, S) if masked else None,
    )
    assert_near(found, expected)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_gradients_of_the_block_equal_torchs(norm: str) -> None:
    ours = block(torch.float64, norm=norm)
    theirs = oracles.encoder_layer(ours, torch.float64, norm_first=norm == "pre")
    inputs = [normal(B, S, D, seed=0).requires_grad_() for _ in range(2)]
    upstream = normal(B, S, D, seed=1)
    ours(inputs[0], mask=padding_mask(LENGTHS, S))[0].backward(upstream)
    theirs(inputs[1], src_key_padding_mask=oracles.padding(LENGTHS, S)).backward(upstream)
    pairs = (
        (inputs[0], inputs[1]),
        (ours.self_attention.project.weight, theirs.self_attn.in_proj_weight),
        (ours.feed_forward.expand.weight, theirs.linear1.weight),
        (ours.feed_residual.norm.weight, theirs.norm2.weight),
    )
    for mine, reference in pairs:
        assert mine.grad is not None
        assert reference.grad is not None
        assert_near(mine.grad, reference.grad)


def test_epsilon_reaches_the_normalisation() -> None:
    ours = block(torch.float64, epsilon=1e-2)
    theirs = oracles.encoder_layer(ours, torch.float64, norm_first=True, layer_norm_eps=1e-2)
    x = normal(B, S, D, seed=0)
    assert_near(ours(x)[0], theirs(x))
    assert (ours(x)[0] - block(torch.float64)(x)[0]).abs().max() > 1e-4


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_block_goes_on_from_its_past(norm: str) -> None:
    ours, x = block(torch.float64, norm=norm), normal(B, S, D, seed=0)
    whole, _ = ours(x, mask=look_ahead_mask(S))
    early, past = ours(x[:, :4], mask=look_ahead_mask(4))
    late, present = ours(x[:, 4:], mask=look_ahead_mask(S - 4, S), past=past)
    assert_near(torch.cat((early, late), dim=1), whole)
    assert present.keys.shape == (B, H, S, K)


@pytest.mark.parametrize("where", ["dropout", "attention_dropout", "activation_dropout"])
def test_each_dropout_acts_in_training_only(where: str) -> None:
    torch.manual_seed(0)
    ours, x = block(torch.float64, **{where: 0.5}), normal(B, S, D, seed=0)
    assert_near(ours(x)[0], block(torch.float64)(x)[0])
    ours.train()
    assert (ours(x)[0] - ours(x)[0]).abs().max() > 1e-3


def test_the_residual_path_stays_open_however_much_is_dropped() -> None:
    ours, x = block(torch.float64, dropout=0.999, norm="pre").train(), normal(1, 1, D, seed=0)
    torch.manual_seed(0)
    kept = [torch.equal(ours(x)[0], x) for _ in range(20)]
    assert sum(kept) > 10


def test_attentions_are_named_after_the_block() -> None:
    ours = block(torch.float64, cross=True)
    assert ours.self_attention.name == "test.0.self"
    assert ours.cross_attention.name == "test.0.cross"
