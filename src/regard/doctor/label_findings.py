"""What can be wrong with labelled rows only: the same text with several labels, columns in another order, a header."""

from collections.abc import Iterator, Sequence

import numpy as np

from regard.doctor import class_findings, findings
from regard.doctor.findings import Kind, Nouns
from regard.doctor.labels import Labels
from regard.doctor.places import Finding, Place
from regard.doctor.problems import Problem, many
from regard.doctor.repeats import Split
from regard.doctor.survey import DISTINCT, SHOWN, Survey

ENOUGH = 10
"""Different labels from which on the columns may be swapped."""
HEADERS = frozenset({"label", "labels", "class", "category", "target"})
KINDS = findings.KINDS | {
    "wrong-script": Kind(
        "in {count} hardly a letter is {scripts}, which most others are written in",
        "nothing, if several languages are meant; otherwise delete them",
        warning=0.01,
    ),
    "one-character": Kind("{count} of one character only", "delete them, unless it says enough", warning=0.01),
}


def nouns(sides: int) -> Nouns:
    """What the parts of a row with one text or two are called."""
    texts = ("text",) if sides == 1 else ("first text", "second text")
    return Nouns("example", "text" if sides == 1 else "text pair", "label", texts)


def of_survey(survey: Survey) -> Iterator[Finding]:
    """What is wrong with a file by itself."""
    words = nouns(len(survey.distinct))
    yield from findings.unread(survey, words, stops=True)
    yield from findings.odd(survey, KINDS, words)
    if _is_header(survey):
        what = f"{survey.split}: the first line seems to name the columns, and is read as an example"
        advice = "delete it (in a CSV, call the columns text and label)"
        problem = Problem("header", "warning", survey.split, what, advice, 1, 1 / len(survey))
        yield Finding(problem, [Place(survey.paths, int(survey.lines[0]))])


def _is_header(survey: Survey) -> bool:
    """Its label is what such a column is called, and nothing else has it."""
    if not len(survey) or survey.classes[0].casefold() not in HEADERS:
        return False
    return bool((survey.labels == 0).sum() == 1)


def of_splits(splits: Sequence[Split], known: Sequence[str]) -> Iterator[Finding]:
    """What is wrong within and between splits. known: labels of the model that training begins with."""
    swapped = [finding for split in splits for survey in split.surveys for finding in _swapped(survey)]
    if swapped:
        yield from swapped
        return
    words = nouns(max((len(survey.distinct) for split in splits for survey in split.surveys), default=1))
    for split in splits:
        yield from findings.duplicates(split, words)
        yield from _contradictions(split, words)
    yield from findings.overlaps(splits, words, warning=0.0)
    yield from class_findings.of_labels({split.name: (split, Labels.of(split)) for split in splits}, known)


def _contradictions(split: Split, words: Nouns) -> Iterator[Finding]:
    name, (_, rows) = split.name, split.repeats()
    if count := len(rows):
        what = f"{name}: {many(count, words.asks)} {findings.verb(count, 'has', 'have')} more than one label"
        advice = "choose one label for each, or delete them"
        problem = Problem("contradictions", "warning", name, what, advice, count, count / len(split))
        both = [row for first in rows[:SHOWN].tolist() for row in (first, _other(split, first))]
        yield Finding(problem, [split.place(row) for row in both])


def _other(split: Split, row: int) -> int:
    """The first row that has the same text and another label."""
    same = split.sources == split.sources[row]
    return int(np.flatnonzero(same & (split.pairs != split.pairs[row]))[0])


def _swapped(survey: Survey) -> Iterator[Finding]:
    """The label is what should be the text: there are far more different ones of it, and they are longer."""
    labels = len(survey.classes)
    if labels < ENOUGH:
        return
    size = sum(map(len, survey.classes)) / labels
    for side, distinct in enumerate(survey.distinct):
        if 2 * distinct < labels and distinct < DISTINCT and survey.characters[side] / len(survey) < size:
            what = (
                f"{survey.split}: the columns seem to be swapped: there are {many(distinct, 'different text')}, "
                f"but {labels:,} different labels, which are longer"
            )
            advice = "put the label into the last column"
            problem = Problem("swapped", "error", survey.split, what, advice, len(survey), 1.0)
            yield Finding(problem, [Place(survey.paths, int(line)) for line in survey.lines[:SHOWN]])
            return
