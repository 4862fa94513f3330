"""Lines that are done, while a long text is on its way: a bar with rate and time left on a terminal, elsewhere a line
now and then; all of it on stderr."""

import sys
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE, EVERY = 2.0, 10.0
"""Seconds before a bar appears; between two lines where there is none."""


class LinesDone:
    """Counts lines up to `total` (0: nobody knows how many there are) from those that were done before."""

    def __init__(self, what: str, *, done: int, total: int) -> None:
        self.what, self.before, self.done, self.total = what, done, done, total
        self._began = self._shown = time.monotonic()
        self._bar = _bar(what) if sys.stderr.isatty() else None
        self._row = self._bar.add_task(what, total=total or None, visible=False, rate="") if self._bar else None

    def count(self, ticks: Iterable[int]) -> None:
        """Goes through numbers, each of which says how many more lines are done."""
        shown: AbstractContextManager[object] = self._bar or nullcontext()
        with shown:
            for tick in ticks:
                self.done += tick
                if time.monotonic() - self._shown > (0.1 if self._bar else EVERY):
                    self._shown = time.monotonic()
                    self._show()

    def say(self, text: str) -> None:
        """A line for itself."""
        if self._bar:
            self._bar.console.print(text, highlight=False, markup=False)
        else:
            sys.stderr.write(text + "\n")

    def _show(self) -> None:
        taken = self._shown - self._began
        rate = (self.done - self.before) / taken
        if self._bar is not None and self._row is not None:
            done = min(self.done, self.total) if self.total else self.done
            self._bar.update(self._row, completed=done, visible=taken > PATIENCE, rate=f"{rate:,.1f} lines/s")
        else:
            self.say(f"{self.what}: {self.done:,}{self._of()} lines, {rate:,.1f} a second{self._left(rate)}")

    def _of(self) -> str:
        return f" of {self.total:,}" if self.total else ""

    def _left(self, rate: float) -> str:
        if not self.total or not rate:
            return ""
        seconds = int(max(0, self.total - self.done) / rate)
        return f", {seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d} left"


def _bar(what: str) -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    return Progress(*columns, TimeRemainingColumn(), transient=True, console=Console(stderr=True))
