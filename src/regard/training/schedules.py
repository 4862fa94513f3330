"""How the learning rate goes: a factor of the peak for each update, one function per shape."""

from collections.abc import Callable
from math import cos, pi, sqrt

Schedule = Callable[[int, int, int], float]
"""(update, warm-up updates, all updates) -> factor; updates count from 1."""


def inverse_sqrt(update: int, warmup: int, updates: int) -> float:
    """Up in a line, then down with 1/√update (Vaswani 2017, eq. 3, its peak scaled to 1)."""
    return min(update / warmup, sqrt(warmup / update))


def linear(update: int, warmup: int, updates: int) -> float:
    """Up in a line, then down in a line to zero at the end."""
    return min(update / warmup, max(0.0, (updates - update) / max(1, updates - warmup)))


def cosine(update: int, warmup: int, updates: int) -> float:
    """Up in a line, then down along half a cosine to zero at the end."""
    if update <= warmup:
        return update / warmup
    return 0.5 * (1 + cos(pi * min(1.0, (update - warmup) / max(1, updates - warmup))))


def constant(update: int, warmup: int, updates: int) -> float:
    """Up in a line, then level."""
    return min(1.0, update / warmup)


def factor(schedule: Schedule, update: int, warmup: int, updates: int, *, final: float) -> float:
    """That of a schedule, which after the warm-up goes down to `final` instead of zero."""
    shape = schedule(update, warmup, updates)
    return shape if update <= warmup else final + (1 - final) * shape


SCHEDULES: dict[str, Schedule] = {
    "inverse-sqrt": inverse_sqrt,
    "linear": linear,
    "cosine": cosine,
    "constant": constant,
}
