"""When a training is lost, and when its weights are not worth a checkpoint."""

import json
from dataclasses import asdict, replace
from math import inf, nan

import pytest

from regard.training.checkpoint import Progress
from regard.training.divergence import divergence, noted, sound


def after(*losses: float) -> Progress:
    progress = Progress(updates=len(losses))
    for loss in losses:
        progress = noted(progress, loss)
    return progress


@pytest.mark.parametrize(
    ("losses", "saved", "lost"),
    [
        ([8.0] * 5, True, False),
        ([8.0] * 20 + [2.0] * 100, True, False),
        ([8.0] * 20 + [2.0] * 50 + [30.0], True, False),  # one bad batch
        ([8.0] * 20 + [2.0] * 50 + [30.0] * 3, False, False),
        ([8.0] * 20 + [2.0] * 50 + [10.0] * 30, False, False),  # too high, but it may come back
        ([8.0] * 20 + [2.0] * 50 + [12.1] * 30, False, True),
        ([8.0] + [500.0] * 18, False, False),  # too short to say
        ([8.0] + [500.0] * 19, False, True),  # at once
    ],
)
def test_the_last_losses_are_held_against_the_first(losses: list[float], saved: bool, lost: bool) -> None:
    assert sound(after(*losses)) == saved
    assert (divergence(after(*losses)) is not None) == lost


def test_a_few_easy_examples_at_first_are_no_measure_of_the_others() -> None:
    lucky = after(0.4, *[1.0] * 30)
    assert not sound(lucky)
    assert divergence(lucky) is not None
    knowing = replace(lucky, guess_loss=1.0)
    assert sound(knowing)
    assert divergence(knowing) is None
    assert divergence(replace(after(0.4, *[1.6] * 30), guess_loss=1.0)) is not None


def test_how_training_began_is_not_told_by_updates_that_were_asked_nothing() -> None:
    assert sound(after(0.0, 0.0))
    assert divergence(after(*[0.0] * 30)) is None
    assert sound(after(0.0, *[1.0] * 30))
    assert divergence(after(0.0, *[1.0] * 30)) is None
    assert divergence(after(0.0, 1.0, *[2.0] * 30)) is not None


@pytest.mark.parametrize("loss", [nan, inf, -inf])
def test_a_loss_that_is_no_number_is_the_end(loss: float) -> None:
    found = divergence(after(3.0, loss))
    assert found is not None
    assert found.evidence == "The loss of update 2 is no longer a number"


def test_what_is_kept_in_a_checkpoint_judges_the_same() -> None:
    progress = after(*[8.0] * 20, *[20.0] * 19)
    again = Progress(**json.loads(json.dumps(asdict(progress))))
    assert len(again.first_losses) == len(again.last_losses) == 20
    assert divergence(noted(again, 20.0)) == divergence(noted(progress, 20.0)) is not None
