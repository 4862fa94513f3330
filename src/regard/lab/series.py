"""Several seeds as one line."""

from collections.abc import Sequence

from regard.report import Series


def over_seeds(label: str, runs: Sequence[Sequence[float]]) -> Series:
    """The mean of the seeds at each x, with the lowest and the highest if there are several."""
    places = list(zip(*runs, strict=True))
    means = [sum(values) / len(values) for values in places]
    if len(runs) == 1:
        return Series(label, means)
    return Series(label, means, low=[min(values) for values in places], high=[max(values) for values in places])
