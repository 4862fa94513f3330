"""From what was counted to what is said, as far as it is the same for pairs and for labelled rows: each kind of problem
in a sentence, with places and advice."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from regard.doctor.places import Finding, Place
from regard.doctor.problems import NEVER, Problem, graded, many, percent
from regard.doctor.repeats import Split, shared
from regard.doctor.survey import SHOWN, Survey, Tally


@dataclass(frozen=True)
class Kind:
    """What is said of an oddity. error, warning: the share from which on it is that bad."""

    what: str
    advice: str
    error: float = NEVER
    warning: float = NEVER


@dataclass(frozen=True)
class Nouns:
    """What a row is called, what asks in it, what it asks for, and the texts of each side."""

    row: str
    asks: str
    answer: str
    sides: tuple[str, ...]


KINDS = {
    "mojibake": Kind(
        "broken characters in {count}: UTF-8 that was read as Latin-1 (Ã© for é), or � where a character was lost",
        "take the text again from where it came, as UTF-8",
        error=0.2,
        warning=0.0,
    ),
    "control": Kind("invisible control characters in {count}", "delete these characters", warning=0.01),
}
"""Those that any text may have."""


def unread(survey: Survey, nouns: Nouns, *, stops: bool, skip: str = "") -> Iterator[Finding]:
    """What could not be read. stops: training would not go on; skip: the setting with which it would."""
    split, bad = survey.split, survey.bad
    rows = len(survey) + bad.count
    if survey.fault:
        fault = survey.fault
        what = ": ".join(filter(None, [f"{split}: {fault.what}", fault.found]))
        yield Finding(Problem("unreadable", "error", split, what, fault.do))
    if not len(survey):
        what = f"{split}: not one of {rows:,} rows is {_a(nouns.row)}"
        yield Finding(Problem(f"no-{nouns.row}s", "error", split, what, "mend the bad rows", rows, 1.0))
    if bad.count:
        share = bad.count / rows
        what = f"{split}: {many(bad.count, 'bad row')}{', at which training would stop' * stops}"
        advice = "mend or delete them" + (f", or leave them out with {skip}" if stops and skip else "")
        severity = "error" if stops else graded(share, warning=0.01)
        yield Finding(Problem("bad-rows", severity, split, what, advice, bad.count, share, tuple(bad.examples)))


def odd(survey: Survey, kinds: Mapping[str, Kind], nouns: Nouns) -> Iterator[Finding]:
    """The oddities that were counted."""
    for (kind, side), tally in survey.tallies.items():
        if tally.count:
            yield _odd(survey, kind, side, tally, kinds[kind], nouns.row if side is None else nouns.sides[side])


def _odd(survey: Survey, name: str, side: int | None, tally: Tally, kind: Kind, noun: str) -> Finding:
    split, share = survey.split, tally.count / len(survey)
    scripts = "" if side is None else " or ".join(survey.scripts[side]).replace("Han", "Chinese (Han)")
    what = f"{split}: " + kind.what.format(count=f"{many(tally.count, noun)} ({percent(share)})", scripts=scripts)
    severity = graded(share, error=kind.error, warning=kind.warning)
    problem = Problem(name, severity, split, what, kind.advice, tally.count, share)
    return Finding(problem, [Place(survey.paths, line) for line in tally.lines], side)


# ---- the same twice


def duplicates(split: Split, nouns: Nouns) -> Iterator[Finding]:
    """Rows that were there before."""
    name, (rows, _) = split.name, split.repeats()
    if len(rows):
        share = len(rows) / len(split)
        which = f"{many(len(rows), nouns.row)} ({percent(share)})"
        what = f"{name}: {which} {verb(len(rows), 'repeats', 'repeat')} an earlier one"
        advice = "delete the repetitions, unless they are meant to count more"
        problem = Problem("duplicates", graded(share, warning=0.1), name, what, advice, len(rows), share)
        yield Finding(problem, at(split, rows))


def overlaps(splits: Sequence[Split], nouns: Nouns, *, error: float = NEVER, warning: float) -> Iterator[Finding]:
    """What is in two splits. error, warning: the share of the same rows, of rows that ask the same, from which on it is
    that bad."""
    for other, held in combinations(splits, 2):
        asking, rows = shared(held, other)
        if not len(asking):
            continue
        share = len(asking) / len(held)
        which = f"{len(asking):,} of {len(held):,} {nouns.asks}s ({percent(share)}) {verb(len(asking), 'is', 'are')}"
        also = f"{len(rows):,} with the same {nouns.answer}" if len(rows) else f"with another {nouns.answer}"
        what = f"{held.name}: {which} also in {other.name}, {also}"
        advice = f"delete them from {other.name}, or the scores on {held.name} will be too good to be true"
        severity = "error" if len(rows) / len(held) > error else graded(share, warning=warning)
        problem = Problem("overlap", severity, held.name, what, advice, len(asking), share)
        yield Finding(problem, at(held, asking))


def at(split: Split, rows: Sequence[int] | np.ndarray) -> list[Place]:
    """Where the first of these rows are."""
    return [split.place(int(row)) for row in rows[:SHOWN]]


def verb(count: int, one: str, more: str) -> str:
    """The form that a number takes."""
    return one if count == 1 else more


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
