"""When a training is lost, and when its weights are not worth a checkpoint."""

import json
from dataclasses import asdict
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
