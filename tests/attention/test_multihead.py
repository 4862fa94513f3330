"""Multi-head attention against torch.nn.MultiheadAttention with the same weights."""

import pytest
import torch
from torch import Tensor, nn

from regard.attention import KeysValues, MultiHead, capture, look_ahead_mask, padding_mask
from tests import oracles
from tests.draws import DTYPES, assert_near, normal

B, H, T, S, K, N = 3, 2, 5, 7, 4, 6
D = H * K
LENGTHS = torch.tensor([7, 2, 5])


def multihead(dtype: torch.dtype, dropout: float = 0.0) -> MultiHead:
    torch.manual_seed(0)
    made = MultiHead(width=D, heads=H, name="test", dropout=dropout).to(dtype).eval()
    oracles.shake(made, seed=1)
    return made


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("masked", ["all", "padding", "look-ahead", "padding and look-ahead"])
def test_self_attention_equals_torchs_with_the_same_weights(masked: str, dtype: torch.dtype) -> None:
    ours, x = multihead(dtype), normal(B, S, D, seed=2, dtype=dtype)
    theirs = oracles.multihead(ours, dtype)
    padded, future = "padding" in masked, "look-ahead" in masked
    expected, _ = theirs(
        x, x, x,
        key_padding_mask=oracles.padding(LENGTHS, S) if padded else None,
        attn_mask=oracles.future(S) if future else None,
    )  # fmt: skip
    mask = torch.ones(1, 1, 1, S, dtype=torch.bool)
    mask = mask & padding_mask(LENGTHS, S) if padded else mask
    mask = mask & look_ahead_mask(S) if future else mask
    found, _ = ours.self_attention(x, mask=mask if masked != "all" else None)
    assert_near(found, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("padded", [False, True])
def test_cross_attention_equals_torchs_with_the_same_weights(padded: bool, dtype: torch.dtype) -> None:
    ours = multihead(dtype)
    x, memory = normal(B, T, D, seed=3, dtype=dtype), normal(B, S, D, seed=4, dtype=dtype)
    hidden = oracles.padding(LENGTHS, S) if padded else None
    expected, _ = oracles.multihead(ours, dtype)(x, memory, memory, key_padding_mask=hidden)
    mask = padding_mask(LENGTHS, S) if padded else None
    assert_near(ours.cross_attention(x, ours.remember(memory), mask=mask), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_captured_weights_of_every_head_equal_torchs(dtype: torch.dtype) -> None:
    ours, x = multihead(dtype), normal(B, S, D, seed=2, dtype=dtype)
    hidden = oracles.padding(LENGTHS, S)
    _, expected = oracles.multihead(ours, dtype)(x, x, x, key_padding_mask=hidden, average_attn_weights=False)
    with capture(ours) as recording:
        ours.self_attention(x, mask=padding_mask(LENGTHS, S))
    assert_near(recording.last("test"), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_equal_torchs_with_the_same_weights(dtype: torch.dtype) -> None:
    ours, x = multihead(dtype), normal(B, S, D, seed=2, dtype=dtype)
    theirs, upstream = oracles.multihead(ours, dtype), normal(B, S, D, seed=5, dtype=dtype)
    ours.self_attention(x, mask=look_ahead_mask(S))[0].backward(upstream)
    theirs(x, x, x, attn_mask=oracles.future(S))[0].backward(upstream)
    pairs = (
        (ours.project.weight, theirs.in_proj_weight),
        (ours.project.bias, theirs.in_proj_bias),
        (ours.output.weight, theirs.out_proj.weight),
        (ours.output.bias, theirs.out_proj.bias),
    )
    for mine, reference in pairs:
        assert mine.grad is not None
        assert reference.grad is not None
        assert_near(mine.grad, reference.grad, 1e-10 if dtype == torch.float64 else 5e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_was_computed_before_can_be_passed_in_as_the_past(dtype: torch.dtype) -> None:
    ours, x = multihead(dtype), normal(B, S, D, seed=2, dtype=dtype)
    whole, everything = ours.self_attention(x, mask=look_ahead_mask(S))
    early, past = ours.self_attention(x[:, :3], mask=look_ahead_mask(3))
    late, present = ours.self_attention(x[:, 3:], mask=look_ahead_mask(S - 3, S), past=past)
    assert_near(torch.cat((early, late), dim=1), whole)
    assert_near(present.keys, everything.keys)
    assert_near(present.values, everything.values)
    assert past.keys.shape == (B, H, 3, K)


@pytest.mark.parametrize("steps", [1, T])
@pytest.mark.parametrize("dtype", DTYPES)
def test_many_hypotheses_of_a_sentence_share_its_memory_as_if_it_were_copied(dtype: torch.dtype, steps: int) -> None:
    ours = multihead(dtype)
    x, memory = normal(B * N, steps, D, seed=3, dtype=dtype), normal(B, S, D, seed=4, dtype=dtype)
    mask = padding_mask(LENGTHS, S)
    copied = memory.repeat_interleave(N, dim=0)
    expected = ours.cross_attention(x, ours.remember(copied), mask=mask.repeat_interleave(N, dim=0))
    assert_near(ours.cross_attention(x, ours.remember(memory), mask=mask), expected)


def test_a_capture_sees_shared_memory_as_one_row_per_hypothesis() -> None:
    ours = multihead(torch.float64)
    x, memory = normal(B * N, T, D, seed=3), normal(B, S, D, seed=4)
    mask = padding_mask(LENGTHS, S)
    with capture(ours, keep=("scores", "weights", "values")) as shared:
        ours.cross_attention(x, ours.remember(memory), mask=mask)
    with capture(ours, keep=("scores", "weights")) as copied:
        repeated = ours.remember(memory.repeat_interleave(N, dim=0))
        ours.cross_attention(x, repeated, mask=mask.repeat_interleave(N, dim=0))
    assert shared.last("test").shape == (B * N, H, T, S)
    assert_near(shared.last("test"), copied.last("test"))
    assert_near(shared.last("test", "scores"), copied.last("test", "scores"))
    assert shared.last("test", "values").shape == (B, H, S, K)


def test_an_edit_of_one_hypothesis_changes_that_hypothesis_alone() -> None:
    ours = multihead(torch.float64)
    x, memory = normal(B * N, T, D, seed=3), ours.remember(normal(B, S, D, seed=4))
    plain = ours.cross_attention(x, memory, mask=None)

    def silence(name: str, what: str, tensor: Tensor) -> Tensor:
        if what != "weights":
            return tensor
        changed = tensor.clone()
        changed[8, 1, 2] = 0
        return changed

    with capture(ours, edit=silence):
        edited = ours.cross_attention(x, memory, mask=None)
    different = (edited - plain).abs().amax(-1) > 1e-6
    assert different.nonzero().tolist() == [[8, 2]]


def test_dropout_acts_in_training_only() -> None:
    torch.manual_seed(0)
    ours, x = multihead(torch.float64, dropout=0.5), normal(B, S, D, seed=2)
    quiet, _ = ours.self_attention(x, mask=None)
    assert torch.equal(quiet, ours.self_attention(x, mask=None)[0])
    ours.train()
    assert not torch.allclose(quiet, ours.self_attention(x, mask=None)[0])
    memory = ours.remember(x)
    assert not torch.allclose(ours.cross_attention(x, memory, mask=None), ours.cross_attention(x, memory, mask=None))


def test_the_first_weights_are_uniform_by_glorot_for_each_projection_apart_and_biases_zero() -> None:
    torch.manual_seed(0)
    ours = MultiHead(width=60, heads=H, name="test")
    bound = (6 / (60 + 60)) ** 0.5
    for part in (*ours.project.weight.chunk(3), ours.output.weight):
        assert 0.95 * bound < part.detach().abs().max().item() <= bound
    assert not ours.project.bias.any()
    assert not ours.output.bias.any()


def test_keys_and_values_of_a_memory_are_its_projections_split_into_heads() -> None:
    ours, memory = multihead(torch.float64), normal(B, S, D, seed=4)
    remembered = ours.remember(memory)
    assert isinstance(remembered, KeysValues)
    _, keys, values = (
        nn.functional.linear(memory, weight, bias)
        for weight, bias in zip(ours.project.weight.chunk(3), ours.project.bias.chunk(3), strict=True)
    )
    for head in range(H):
        share = slice(head * K, (head + 1) * K)
        assert_near(remembered.keys[:, head], keys[..., share])
        assert_near(remembered.values[:, head], values[..., share])
