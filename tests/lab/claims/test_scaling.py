import torch

from regard.attention import dot, scaled_dot
from regard.lab.claims.scaling import evenness, flow, left


def test_even_weights_have_all_the_entropy_there_is_and_a_single_one_has_none() -> None:
    weights = torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.0, 1.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]])
    torch.testing.assert_close(evenness(weights), torch.tensor([1.0, 0.0, 0.5]))


def test_what_is_left_is_a_share_of_the_first() -> None:
    assert left([0.4, 7.0, 0.1]) == 0.25


def test_the_gradient_is_that_of_softmax() -> None:
    generator = torch.Generator().manual_seed(3)
    found = flow(scaled_dot, 6, generator)
    generator.manual_seed(3)
    query, keys = torch.randn(1, 512, 1, 6, generator=generator), torch.randn(1, 512, 64, 6, generator=generator)
    values = torch.randn(512, 64, generator=generator)
    weights = (query @ keys.transpose(-2, -1) / 6**0.5).softmax(-1)[0, :, 0]
    expected = weights * (values - (weights * values).sum(-1, keepdim=True))  # dp = p ∘ (v − p·v)
    torch.testing.assert_close(torch.tensor(found.gradient), expected.norm(dim=-1))


def test_scores_that_are_far_apart_let_nothing_through() -> None:
    wide = torch.Generator().manual_seed(1)
    assert max(flow(lambda q, k: 1e4 * dot(q, k), 16, wide).gradient) < 1e-3
