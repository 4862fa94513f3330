"""How many processes are the fastest: found while they work."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

PAYS = 1.1
"""Twice as many processes are kept if they are so many times as fast at least."""


def unheard(told: Any) -> None:
    """Nobody wants to know."""


def cores() -> int:
    """As many as this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@runtime_checkable
class Pace(Protocol):
    """How many processes there are to be."""

    wanted: int

    def told(self, speed: float, among: int) -> None:
        """How fast one of so many was, in characters a second."""
        ...


@dataclass
class Fixed:
    """As many as were asked for."""

    wanted: int

    def told(self, speed: float, among: int) -> None:
        """It changes nothing."""


class Measured:
    """Twice as many are tried again and again, while that pays and there are cores for them."""

    def __init__(
        self, alone: float, most: int, say: Callable[[str], None] = unheard, remember: Callable[[int], None] = unheard
    ) -> None:
        """alone: how fast a single process is; most: how many there may be."""
        self.most, self.say, self.remember = most, say, remember
        self._best, self._speed = 1, alone
        self._tried: list[float] = []
        self.wanted, self.settled = min(2, most), most == 1

    def told(self, speed: float, among: int) -> None:
        """How fast one of so many was. A window of each is waited for."""
        if self.settled or among != self.wanted:
            return
        self._tried.append(speed)
        if len(self._tried) < among:
            return
        together = sum(self._tried)
        self.say(f"{among} processes: {together:,.0f} characters/s ({self._best}: {self._speed:,.0f})")
        pays = together > PAYS * self._speed
        if pays:
            self._best, self._speed = among, together
        self._tried, self.settled = [], not pays or among == self.most
        self.wanted = self._best if self.settled else min(2 * among, self.most)
        if self.settled:
            self.remember(self._best)
