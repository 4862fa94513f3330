"""Whether a training is lost: its last losses against its first ones, or against what knowing nothing costs.

All are kept with the progress, so that a resumed run judges as the unbroken one would.
"""

from dataclasses import replace
from math import isfinite
from statistics import fmean

from regard.training.checkpoint import Progress
from regard.training.diagnosis import Diagnosis

WINDOW, LATEST = 20, 5
HIGH, LOST = 1.2, 1.5
"""The latest losses so far above the beginning: no checkpoint is saved. All of the last ones: training ends."""


def noted(progress: Progress, loss: float) -> Progress:
    """The progress with one more loss. How training began is not to be seen from an update that was asked nothing."""
    first = (*progress.first_losses, loss)[:WINDOW] if loss else progress.first_losses
    return replace(progress, first_losses=first, last_losses=(*progress.last_losses, loss)[-WINDOW:])


def sound(progress: Progress) -> bool:
    """Whether the weights are worth a checkpoint."""
    return fmean(progress.last_losses[-LATEST:]) <= HIGH * _beginning(progress)


def divergence(progress: Progress) -> Diagnosis | None:
    """Why training cannot go on, if so."""
    advice = "lower training.learning_rate or lengthen training.warmup; the last checkpoint is intact"
    last = progress.last_losses
    if not isfinite(last[-1]):
        evidence = f"The loss of update {progress.updates} is no longer a number"
        return Diagnosis("training has diverged", evidence, advice)
    if len(last) < WINDOW or fmean(last) <= LOST * _beginning(progress):
        return None
    evidence = (
        f"The mean of the last {WINDOW} losses is {fmean(last):.4g}; it began with {progress.first_losses[0]:.4g}"
    )
    return Diagnosis("training has diverged", evidence, advice)


def _beginning(progress: Progress) -> float:
    """The mean of the first losses; not far above the very first, in case they have exploded themselves, but not below
    what knowing nothing costs, in case the first few examples were easy."""
    first = progress.first_losses or (0.0,)
    return max(min(fmean(first), HIGH * first[0]), progress.guess_loss)
