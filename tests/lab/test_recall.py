"""The riddle of names and values, and the model that does nothing but attend."""

import torch

from regard.attention import capture
from regard.lab.recall import NAMES, PAIRS, VALUES, Finder, accuracy, endless, riddles, taught

RIDDLE = riddles(50, torch.Generator().manual_seed(1))


def test_a_riddle_has_one_right_answer_that_stands_beside_the_name() -> None:
    rows = torch.arange(50)
    assert torch.equal((RIDDLE.names == RIDDLE.asked[:, None]).sum(-1), torch.ones(50, dtype=torch.long))
    assert torch.equal(RIDDLE.names[rows, RIDDLE.place], RIDDLE.asked)
    assert torch.equal(RIDDLE.values[rows, RIDDLE.place], RIDDLE.answer)
    assert RIDDLE.names.max() < NAMES
    assert RIDDLE.values.max() < VALUES


def test_the_same_seed_gives_the_same_riddles() -> None:
    once, again, other = endless(1, 5), endless(1, 5), endless(2, 5)
    assert torch.equal(next(once).names, next(again).names)
    assert not torch.equal(next(once).names, next(other).names)


def test_whoever_looks_at_the_right_place_needs_nothing_else_to_be_right() -> None:
    finder = Finder(8)
    with torch.no_grad():
        finder.values.weight.copy_(torch.eye(VALUES)[:, :8])
        finder.output.weight.copy_(torch.eye(VALUES)[:, :8] * 100)
        finder.output.bias.zero_()
    right = torch.zeros(50, 1, 1, PAIRS).scatter_(-1, RIDDLE.place[:, None, None, None], 1.0)
    found = finder(RIDDLE, normalise=lambda scores, mask: right).argmax(-1)
    known = RIDDLE.answer < 8
    assert torch.equal(found[known], RIDDLE.answer[known])


def test_a_finder_is_captured_like_any_attention() -> None:
    finder = Finder(8, score="additive")
    with capture(finder) as recording:
        finder(RIDDLE)
    assert recording.last("finder").shape == (50, 1, 1, PAIRS)


def test_a_finder_that_nobody_taught_guesses_and_a_taught_one_does_better() -> None:
    assert abs(accuracy(Finder(32, seed=1), count=1000) - 1 / VALUES) < 0.05
    assert accuracy(taught(Finder(32, seed=1), seed=1, updates=80, rate=5e-3), count=1000) > 0.3
