"""The examination: read, tokenise, try; each step only if the one before left something to go on with."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.config import Tree, merge
from regard.doctor import tokens
from regard.doctor.estimates import estimates
from regard.doctor.places import Finding, with_examples
from regard.doctor.problems import Problem, worst_first
from regard.doctor.repeats import Split
from regard.doctor.subjects import Subject, at_first_sight, subject_of, to_examine
from regard.errors import DataError
from regard.sections import Section
from regard.training.start import Nobody, Watcher, prepare
from regard.watching import Watch, unwatched

SECONDS = 5.0
"""How long updates are tried."""


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong, the worst first, and the figures of the data and of a training on it, as JSON."""

    problems: list[Problem]
    facts: dict[str, Any]

    @property
    def has_error(self) -> bool:
        return any(problem.severity == "error" for problem in self.problems)


def check_data(files: Section, *, watch: Watch = unwatched) -> list[Problem]:
    """What is wrong with the data, the worst first: all that one pass through the text can find. Standard input is left
    alone: it can be read only once."""
    return _checked(subject_of(files), watch)


def first_look(tree: Tree) -> list[Problem]:
    """The same for what these settings would train on; nothing where there is much of it, so that it takes no time."""
    subject = at_first_sight(tree)
    return _checked(subject, unwatched) if subject else []


def examine(tree: Tree, *, watcher: Watcher | None = None, trial: float = SECONDS) -> Diagnosis:
    """The same, and what training with these settings would make of the data. trial: seconds of updates that are made
    to see how long they take; 0 for none."""
    watcher, subject = watcher or Nobody(), to_examine(tree)
    splits = _splits(subject, watcher.counted)
    found = list(subject.found(splits))
    known: dict[str, Any] = {"splits": subject.facts(splits)}
    if not any(finding.problem.kind in subject.ends for finding in found):
        tolerant = merge(tree, {"data": subject.tolerant(splits)})
        found += _tried(tolerant, subject, splits, known, watcher, trial)
    return Diagnosis(worst_first(with_examples(found)), known)


def _checked(subject: Subject, watch: Watch) -> list[Problem]:
    return worst_first(with_examples(subject.found(_splits(subject, watch))))


def _splits(subject: Subject, watch: Watch) -> list[Split]:
    surveys = subject.surveys(watch)
    names = dict.fromkeys(survey.split for survey in surveys)
    return [Split(name, [survey for survey in surveys if survey.split == name]) for name in names]


def _tried(
    tree: Tree, subject: Subject, splits: list[Split], known: dict[str, Any], watcher: Watcher, trial: float
) -> Iterator[Finding]:
    """Tokenises as training would, and makes some updates; puts the figures into `known`."""
    try:
        with tempfile.TemporaryDirectory() as nowhere:
            run = prepare(tree, Path(nowhere), watcher)
    except DataError as fault:
        yield Finding(Problem("refused", "error", "train", f"train: {fault.what}", fault.do))
        return
    text = subject.tokenised(run, splits)
    known["tokens"] = tokens.figures(text, run.task.config.batch.budget, run.config.seed, watcher.counted)
    yield from subject.too_long(run, text, splits)
    yield from map(Finding, tokens.unknown(known["tokens"]))
    if trial:
        watcher.said(f"trying some updates, about {trial:.0f} seconds …")
    known["training"] = estimates(run, known["tokens"]["updates_an_epoch"], subject.cached(run), trial)
