"""Several seeds as one line."""

from collections.abc import Sequence

from regard.report import Series


def over_seeds(label: str, runs: Sequence[Sequence[float | None]]) -> Series:
    """The mean of the seeds at each x, with the lowest and the highest if there are several; nothing where a seed has
    nothing."""
    places = [_known(values) for values in zip(*runs, strict=True)]
    means = [sum(values) / len(values) if values else None for values in places]
    if len(runs) == 1:
        return Series(label, means)
    low, high = ([end(values) if values else None for values in places] for end in (min, max))
    return Series(label, means, low=low, high=high)


def _known(values: Sequence[float | None]) -> list[float]:
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []
