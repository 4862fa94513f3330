"""The figures of several seeds as one."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from regard.report import Cell

Figures = Sequence[dict[str, Any]]
Results = Mapping[str, Figures]
"""By name, the figures of each seed that came to an end."""


def mean_of(figures: Figures, key: str) -> float:
    """Over the seeds."""
    return float(mean(one[key] for one in figures))


def known(figures: Figures, key: str) -> bool:
    """In every seed."""
    return all(one[key] is not None for one in figures)


def spread(values: Sequence[float], digits: int, ends: int) -> Cell:
    """The mean, and the lowest and the highest; with how many digits."""
    around = f" ({min(values):.{ends}f}–{max(values):.{ends}f})" if len(values) > 1 else ""
    return Cell(mean(values), f"{mean(values):.{digits}f}{around}")


def interval(figures: dict[str, Any], metric: str) -> str:
    """In which the score lies, of one seed."""
    found = figures["intervals"][metric]
    return f"{found['low']:.1f}–{found['high']:.1f}"
