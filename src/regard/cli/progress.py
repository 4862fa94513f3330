"""How training looks: a bar on a terminal, plain lines elsewhere; all of it on stderr."""

import sys
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, TypeVar

from regard.training.loop import Step

T = TypeVar("T")


class Lines:
    """A line at every tenth second at most, and one for each validation."""

    every = 10.0

    def __init__(self) -> None:
        self.updates, self.best = 0, ""
        self._said = 0.0
        self._rate = _Rate()

    def __enter__(self) -> "Lines":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def started(self, facts: dict[str, Any]) -> None:
        self.updates = facts["updates"]
        self.said(
            f"{facts['model']}, {facts['parameters']:,} parameters; {facts['data']}; {facts['updates']:,} updates; "
            f"{facts['device']}, {facts['threads']} thread{'s' if facts['threads'] > 1 else ''}"
        )
        if facts["skipped"]:
            self.said(f"{len(facts['skipped'])} rows were left out (listed in skipped.txt)")
        if facts["done"]:
            self.said(f"resuming after update {facts['done']:,}")

    def stepped(self, step: Step, seconds: float) -> None:
        self._rate.add(step.tokens)
        if time.monotonic() - self._said >= self.every or step.number == self.updates:
            self._said = time.monotonic()
            self.said(f"update {step.number:,}/{self.updates:,}  {self._describe(step)}")

    def validated(self, update: int, metrics: dict[str, Any], *, best: bool) -> None:
        if best:
            self.best = f"best {metrics['headline']}"
        star = " *" if best else ""
        self.said(f"validation at {update:,}: loss {metrics['loss']:.3f}  {metrics['headline']}{star}")
        self._rate.pause()

    def said(self, text: str) -> None:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def counted(self, items: Iterable[T], *, total: int, what: str) -> Iterator[T]:
        """Passes the items on; says at times how many there were, if it takes long."""
        said = time.monotonic()
        for number, item in enumerate(items, start=1):
            if number % 1000 == 0 and time.monotonic() - said >= self.every:
                said = time.monotonic()
                self.said(f"{what}: {number:,}{f' of {total:,}' if total else ''}")
            yield item

    def _describe(self, step: Step) -> str:
        losses = "  ".join(f"{name} {value:.3f}" for name, value in step.losses.items())
        left = self._rate.left(self.updates - step.number)
        return f"{losses}  {self._rate.tokens_per_second:,.0f} tokens/s  ETA {left}  {self.best}".rstrip()


class Labelled(Lines):
    """Lines of one run among several: each says whose it is, and they are fewer."""

    every = 30.0

    def __init__(self, label: str) -> None:
        super().__init__()
        self.label = label

    def said(self, text: str) -> None:
        super().said(f"{self.label}: {text}")


class Bar(Lines):
    """The same on one line that moves."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self.console = Console(stderr=True)
        columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
        self.bar = Progress(*columns, console=self.console, transient=False)
        self.row = self.bar.add_task("", total=None)

    def __enter__(self) -> "Bar":
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def started(self, facts: dict[str, Any]) -> None:
        super().started(facts)
        self.bar.update(self.row, total=facts["updates"], completed=facts["done"])

    def stepped(self, step: Step, seconds: float) -> None:
        self._rate.add(step.tokens)
        self.bar.update(self.row, completed=step.number, description=self._describe(step))

    def said(self, text: str) -> None:
        self.bar.console.print(text, highlight=False, markup=False)

    def counted(self, items: Iterable[T], *, total: int, what: str) -> Iterator[T]:
        return counted(items, total=total, what=what)


class _Rate:
    """Tokens and updates a second of late, validation not counted."""

    def __init__(self) -> None:
        self._marks: list[tuple[float, int]] = []

    def add(self, tokens: int) -> None:
        self._marks = [*self._marks[-100:], (time.monotonic(), tokens)]

    def pause(self) -> None:
        self._marks = []

    @property
    def tokens_per_second(self) -> float:
        if len(self._marks) < 2:
            return 0.0
        return sum(tokens for _, tokens in self._marks[1:]) / max(1e-9, self._marks[-1][0] - self._marks[0][0])

    def left(self, updates: int) -> str:
        if len(self._marks) < 2:
            return "–"
        each = (self._marks[-1][0] - self._marks[0][0]) / (len(self._marks) - 1)
        seconds = int(updates * each)
        return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def watcher() -> Lines:
    """A bar if a person watches, lines if a file does."""
    return Bar() if sys.stderr.isatty() else Lines()


def counted(items: Iterable[T], *, total: int, what: str) -> Iterator[T]:
    """Passes the items on; on a terminal, with a bar that appears when it takes more than a moment."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    began = shown = time.monotonic()
    columns = (TextColumn(what), BarColumn(), TextColumn("{task.completed:,.0f}"), TimeElapsedColumn())
    with Progress(*columns, transient=True, console=Console(stderr=True)) as bar:
        row = bar.add_task(what, total=total or None, visible=False)
        for number, item in enumerate(items, start=1):
            if time.monotonic() - shown > 0.1:
                shown = time.monotonic()
                bar.update(row, completed=number, visible=shown - began > 2)
            yield item
