import torch

from regard.lab.claims.look_ahead import (
    THRESHOLD,
    apart,
    at_once,
    by_prefix,
    gpt2,
    gradient,
    learned,
    texts,
    without_mask,
)


def test_what_is_apart_is_a_share_of_the_second() -> None:
    assert apart(torch.tensor([3.0, 4.0]), torch.tensor([3.0, 4.0])) == 0.0
    assert apart(torch.tensor([0.0, 4.0]), torch.tensor([0.0, 2.0])) == 1.0


def test_the_losses_differ_only_where_somebody_sees_the_future() -> None:
    model, text = gpt2(1, width=16).double(), texts(1, 6)
    torch.testing.assert_close(at_once(model, text), by_prefix(model, text))
    assert apart(gradient(at_once, model, text), gradient(by_prefix, model, text)) < THRESHOLD
    assert apart(gradient(without_mask, model, text), gradient(by_prefix, model, text)) > 1e-3


def test_a_gradient_has_a_number_for_each_parameter_and_is_not_added_to_the_one_before() -> None:
    model, text = gpt2(1, width=16), texts(1, 6)
    once, again = gradient(at_once, model, text), gradient(at_once, model, text)
    assert len(once) == sum(parameter.numel() for parameter in model.parameters())
    torch.testing.assert_close(once, again)


def test_each_word_of_a_text_is_one_to_three_steps_behind_the_one_before() -> None:
    steps = texts(1, 30).diff(dim=1) % 50
    assert set(steps.unique().tolist()) == {1, 2, 3}


def test_it_learns() -> None:
    losses, end = learned(at_once, 1, 30)
    assert len(losses) == 30
    assert losses[-1] < 0.8 * losses[0]
    assert end < losses[0]
