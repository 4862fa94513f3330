"""From what was counted to what is said: each kind of problem in a sentence, with places and advice."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from regard.doctor.oddities import LONG
from regard.doctor.places import Finding, Place
from regard.doctor.problems import NEVER, Problem, graded, many, percent
from regard.doctor.repeats import Split, shared
from regard.doctor.slips import Stretch
from regard.doctor.survey import SHOWN, Survey, Tally
from regard.tasks.pairs import PairFiles

FAR_OFF, TIMES = 6.0, 2.0
"""A ratio of lengths is odd from six (robust) standard deviations on, and if it is twice or half of what is usual."""
FEW = 10_000
"""Pairs below which a model learns little."""
SLIPPED = "look just before: a line is missing, was split in two, or is one too many; mend the file and ask again"
STRANGERS = "see whether line N of one side is the translation of line N of the other"


@dataclass(frozen=True)
class Kind:
    """What is said of an oddity. error, warning: the share from which on it is that bad."""

    what: str
    advice: str
    error: float = NEVER
    warning: float = NEVER


ODDITIES = {
    "copied": Kind(
        "in {count} the target is the source again",
        "delete them, unless they are names: from a few a model learns to copy",
        error=0.2,
        warning=0.01,
    ),
    "mojibake": Kind(
        "broken characters in {count}: UTF-8 that was read as Latin-1 (Ã© for é), or � where a character was lost",
        "take the text again from where it came, as UTF-8",
        error=0.2,
        warning=0.0,
    ),
    "wrong-script": Kind(
        "in {count} hardly a letter is {scripts}",
        "delete those in another language; if it is most of them, columns or --langs may be swapped",
        error=0.5,
        warning=0.01,
    ),
    "control": Kind("invisible control characters in {count}", "delete these characters", warning=0.01),
    "long-line": Kind(
        f"{{count}} of more than {LONG:,} characters", "if it is a whole text, split it into sentences", warning=0.0
    ),
}


def of_survey(survey: Survey, files: PairFiles) -> Iterator[Finding]:
    """What is wrong with some files by themselves."""
    yield from _unread(survey, files)
    if stretches := survey.stretches:
        yield _misaligned(survey, stretches)
    for (kind, side), tally in survey.tallies.items():
        if tally.count:
            yield _odd(survey, kind, side, tally)
    if len(survey):
        yield from _outliers(survey)


def _unread(survey: Survey, files: PairFiles) -> Iterator[Finding]:
    split, bad = survey.split, survey.bad
    rows = len(survey) + bad.count
    if survey.fault:
        fault = survey.fault
        what = ": ".join(filter(None, [f"{split}: {fault.what}", fault.found]))
        yield Finding(Problem("unreadable", "error", split, what, fault.do))
    if not len(survey):
        what = f"{split}: not one of {rows:,} rows is a pair"
        yield Finding(Problem("no-pairs", "error", split, what, "mend the bad rows", rows, 1.0))
    if bad.count:
        stops = files.bad_rows == "stop"
        share = bad.count / rows
        what = f"{split}: {many(bad.count, 'bad row')}{', at which training would stop' * stops}"
        advice = "mend or delete them" + ", or leave them out with data.bad_rows=skip" * stops
        severity = "error" if stops else graded(share, warning=0.01)
        yield Finding(Problem("bad-rows", severity, split, what, advice, bad.count, share, tuple(bad.examples)))


def _misaligned(survey: Survey, stretches: list[Stretch]) -> Finding:
    count = sum(stretch.end - stretch.first for stretch in stretches)
    largest = sorted(sorted(stretches, key=lambda stretch: stretch.first - stretch.end)[:SHOWN])
    told = "; ".join(_told(stretch, survey.lines) for stretch in largest)
    more = f"; and {len(stretches) - SHOWN} more stretches" if len(stretches) > SHOWN else ""
    share = count / len(survey)
    strangers = share == 1 and stretches[0].slip is None  # it may be no translation at all, and meant so
    problem = Problem(
        "misaligned",
        "error" if share > 0.01 and not strangers else "warning",
        survey.split,
        f"{survey.split}: {told}{more}",
        STRANGERS if strangers else SLIPPED,
        count,
        share,
    )
    rows = [row for stretch in largest for row in stretch.telling][:SHOWN]
    return Finding(problem, [Place(survey.paths, int(survey.lines[row])) for row in rows])


def _told(stretch: Stretch, lines: np.ndarray) -> str:
    first, last = int(lines[stretch.first]), int(lines[stretch.end - 1])
    where = f"from about line {first:,} to line {last:,}"
    if stretch.slip is None:
        return f"{where} source and target do not seem to belong together"
    return f"{where} the source of line N belongs to the target of line N {'−+'[stretch.slip > 0]} {abs(stretch.slip)}"


def _odd(survey: Survey, kind: str, side: int | None, tally: Tally) -> Finding:
    known, split = ODDITIES[kind], survey.split
    share = tally.count / len(survey)
    noun = "pair" if side is None else ("source line", "target line")[side]
    scripts = "" if side is None else " or ".join(survey.scripts[side]).replace("Han", "Chinese (Han)")
    what = f"{split}: " + known.what.format(count=f"{many(tally.count, noun)} ({percent(share)})", scripts=scripts)
    severity = graded(share, error=known.error, warning=known.warning)
    problem = Problem(kind, severity, split, what, known.advice, tally.count, share)
    return Finding(problem, [Place(survey.paths, line) for line in tally.lines], side)


def _outliers(survey: Survey) -> Iterator[Finding]:
    known = np.flatnonzero(~np.isnan(survey.ratios))
    if not len(known):
        return
    ratios = survey.ratios[known]
    usual = np.median(ratios)
    apart = np.abs(ratios - usual)
    found = known[apart > max(FAR_OFF * 1.4826 * float(np.median(apart)), np.log(TIMES))]
    if len(found):
        share = len(found) / len(survey)
        what = (
            f"{survey.split}: in {many(len(found), 'pair')} ({percent(share)}) one side is far too long for the other "
            f"(usual are {np.exp(usual):.2f} target characters for each of the source)"
        )
        advice = "delete those that are not translations of each other"
        problem = Problem("length-ratio", graded(share, warning=0.02), survey.split, what, advice, len(found), share)
        yield Finding(problem, [Place(survey.paths, int(line)) for line in survey.lines[found[:SHOWN]]])


# ---- the same sentence twice


def of_splits(splits: Sequence[Split]) -> Iterator[Finding]:
    """What is wrong within and between splits."""
    if splits and splits[0].name == "train" and len(splits[0]) < FEW:
        what = f"train: only {many(len(splits[0]), 'pair')}"
        yield Finding(Problem("few-pairs", "note", "train", what, "add text: some 20,000 pairs are a start"))
    for split in splits:
        yield from _repeats(split)
    for held, other in ((b, a) for a, b in combinations(splits, 2)):
        yield from _overlap(held, other)


def _repeats(split: Split) -> Iterator[Finding]:
    name, (rows, sources) = split.name, split.repeats()
    if len(rows):
        share = len(rows) / len(split)
        which = f"{many(len(rows), 'pair')} ({percent(share)})"
        what = f"{name}: {which} {_verb(len(rows), 'repeats', 'repeat')} an earlier one"
        advice = "delete the repetitions, unless they are meant to count more"
        problem = Problem("duplicates", graded(share, warning=0.1), name, what, advice, len(rows), share)
        yield Finding(problem, _at(split, rows))
    if len(sources):
        share = len(sources) / len(split)
        what = f"{name}: {many(len(sources), 'source')} {_verb(len(sources), 'has', 'have')} more than one target"
        advice = "nothing, if all are good translations"
        yield Finding(Problem("many-targets", "note", name, what, advice, len(sources), share), _at(split, sources))


def _overlap(held: Split, other: Split) -> Iterator[Finding]:
    sources, pairs = shared(held, other)
    if not len(sources):
        return
    share = len(sources) / len(held)
    which = f"{len(sources):,} of {len(held):,} sources ({percent(share)}) {_verb(len(sources), 'is', 'are')}"
    also = f"{len(pairs):,} with the same target" if len(pairs) else "with another target"
    what = f"{held.name}: {which} also in {other.name}, {also}"
    advice = f"delete them from {other.name}, or the scores on {held.name} will be too good to be true"
    severity = "error" if len(pairs) / len(held) > 0.05 else graded(share, warning=0.01)
    yield Finding(Problem("overlap", severity, held.name, what, advice, len(sources), share), _at(held, sources))


def _at(split: Split, rows: np.ndarray) -> list[Place]:
    return [split.place(row) for row in rows[:SHOWN].tolist()]


def _verb(count: int, one: str, more: str) -> str:
    return one if count == 1 else more
