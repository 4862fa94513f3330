"""What is wrong with data, and how bad that is."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""Training would fail or be worthless; it would be worse than it could be; something to know."""
NEVER = 2.0
"""A share that is never reached."""


@dataclass(frozen=True)
class Example:
    """A place where it is seen, and the beginning of what stands there."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.text}"


@dataclass(frozen=True)
class Problem:
    """Something that is wrong. `what` is a sentence; `count` is how many (lines, pairs, sources …), `share` how many of
    all."""

    kind: str
    severity: Severity
    split: str
    what: str
    advice: str
    count: int = 0
    share: float = 0.0
    examples: tuple[Example, ...] = ()

    def __str__(self) -> str:
        return f"{self.severity}: {self.what}"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def worst_first(problems: Iterable[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda problem: (SEVERITIES.index(problem.severity), -problem.share))


def graded(share: float, *, error: float = NEVER, warning: float = NEVER) -> Severity:
    """By the share of what is affected: above which it is an error, a warning."""
    return "error" if share > error else "warning" if share > warning else "note"


def many(count: int, noun: str) -> str:
    """
    >>> many(1, "line"), many(2000, "line")
    ('1 line', '2,000 lines')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def visible(text: str, most: int) -> str:
    """Its beginning, on one line, with what cannot be seen written out."""
    text = text if len(text) <= most else text[: most - 1] + "…"
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text.replace("\t", " ⇥ "))


def percent(share: float) -> str:
    return "under 0.1%" if 0 < share < 0.001 else f"{share:.1%}"
