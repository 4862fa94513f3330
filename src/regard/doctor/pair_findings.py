"""What can be wrong with pairs only: lines that slipped, sides that do not go together."""

from collections.abc import Iterator, Sequence

import numpy as np

from regard.doctor import findings
from regard.doctor.findings import Kind, Nouns
from regard.doctor.oddities import LONG
from regard.doctor.places import Finding, Place
from regard.doctor.problems import Problem, graded, many, percent
from regard.doctor.repeats import Split
from regard.doctor.slips import Stretch
from regard.doctor.survey import SHOWN, Survey

FAR_OFF, TIMES = 6.0, 2.0
"""A ratio of lengths is odd from six (robust) standard deviations on, and if it is twice or half of what is usual."""
FEW = 10_000
"""Pairs below which a model learns little."""
SLIPPED = "look just before: a line is missing, was split in two, or is one too many; mend the file and ask again"
STRANGERS = "see whether line N of one side is the translation of line N of the other"
NOUNS = Nouns("pair", "source", "target", ("source line", "target line"))
KINDS = findings.KINDS | {
    "copied": Kind(
        "in {count} the target is the source again",
        "delete them, unless they are names: from a few a model learns to copy",
        error=0.2,
        warning=0.01,
    ),
    "wrong-script": Kind(
        "in {count} hardly a letter is {scripts}",
        "delete those in another language; if it is most of them, columns or --langs may be swapped",
        error=0.5,
        warning=0.01,
    ),
    "long-line": Kind(
        f"{{count}} of more than {LONG:,} characters", "if it is a whole text, split it into sentences", warning=0.0
    ),
}


def of_survey(survey: Survey, *, stops: bool) -> Iterator[Finding]:
    """What is wrong with some files by themselves. stops: training would stop at a bad row."""
    yield from findings.unread(survey, NOUNS, stops=stops, skip="data.bad_rows=skip")
    if survey.stretches:
        yield _misaligned(survey, survey.stretches)
    yield from findings.odd(survey, KINDS, NOUNS)
    if len(survey):
        yield from _outliers(survey)


def of_splits(splits: Sequence[Split]) -> Iterator[Finding]:
    """What is wrong within and between splits."""
    if splits and splits[0].name == "train" and len(splits[0]) < FEW:
        what = f"train: only {many(len(splits[0]), 'pair')}"
        yield Finding(Problem("few-pairs", "note", "train", what, "add text: some 20,000 pairs are a start"))
    for split in splits:
        yield from findings.duplicates(split, NOUNS)
        yield from _many_targets(split)
    yield from findings.overlaps(splits, NOUNS, error=0.05, warning=0.01)


def _many_targets(split: Split) -> Iterator[Finding]:
    name, (_, sources) = split.name, split.repeats()
    if count := len(sources):
        what = f"{name}: {many(count, 'source')} {findings.verb(count, 'has', 'have')} more than one target"
        advice = "nothing, if all are good translations"
        problem = Problem("many-targets", "note", name, what, advice, count, count / len(split))
        yield Finding(problem, findings.at(split, sources))


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
