"""The examination: read, tokenise, try; each step only if the one before left something to go on with."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.config import Tree, merge
from regard.doctor import facts, findings, tokens
from regard.doctor.estimates import estimates
from regard.doctor.places import Finding, with_examples
from regard.doctor.problems import Problem, worst_first
from regard.doctor.repeats import Split
from regard.doctor.survey import read
from regard.errors import ConfigError, DataError
from regard.tasks.pairs import PairFiles
from regard.training.settings import resolve
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


def check_data(files: PairFiles, *, watch: Watch = unwatched) -> list[Problem]:
    """What is wrong with the data, the worst first: all that one pass through the text can find. Standard input is left
    alone: it can be read only once."""
    return worst_first(with_examples(_found(_splits(files, watch), files)))


def examine(tree: Tree, *, watcher: Watcher | None = None, trial: float = SECONDS) -> Diagnosis:
    """The same, and what training with these settings would make of the data. trial: seconds of updates that are made
    to see how long they take; 0 for none."""
    watcher, files = watcher or Nobody(), _files(tree)
    splits = _splits(files, watcher.counted)
    found = list(_found(splits, files))
    known: dict[str, Any] = {"splits": {split.name: facts.of_split(split) for split in splits}}
    if not any(finding.problem.kind in ("unreadable", "no-pairs") for finding in found):
        skip = {"too_long": "skip"} | ({"bad_rows": "skip"} if any(split.bad_rows for split in splits) else {})
        found += _tried(merge(tree, {"data": skip}), files, splits[0], known, watcher, trial)
    return Diagnosis(worst_first(with_examples(found)), known)


def _files(tree: Tree) -> PairFiles:
    files = getattr(resolve(tree).settings, "data", None)
    if not isinstance(files, PairFiles):
        raise ConfigError("regard doctor examines pairs of texts.", found=f"task={tree.get('task')}")
    if not files.train:
        raise DataError("No training data was given.", do="add --train pairs.tsv, or --train SOURCE --train TARGET")
    if any("-" in paths for _, paths in _named(files)):
        raise DataError(
            "The data is read several times, and standard input can be read only once.",
            do="write it to a file, and give its name",
        )
    return files


def _named(files: PairFiles) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield from (("train", corpus.paths) for corpus in (files.corpora if files.train else ()))
    yield from (("val", files.val), ("test", files.test))


def _splits(files: PairFiles, watch: Watch) -> list[Split]:
    surveys = [read(name, paths, files.langs, watch) for name, paths in _named(files) if paths and "-" not in paths]
    names = dict.fromkeys(survey.split for survey in surveys)
    return [Split(name, [survey for survey in surveys if survey.split == name]) for name in names]


def _found(splits: list[Split], files: PairFiles) -> Iterator[Finding]:
    for survey in (survey for split in splits for survey in split.surveys):
        yield from findings.of_survey(survey, files)
    yield from findings.of_splits([split for split in splits if len(split)])


def _tried(
    tree: Tree, files: PairFiles, train: Split, known: dict[str, Any], watcher: Watcher, trial: float
) -> Iterator[Finding]:
    """Tokenises as training would, and makes some updates; puts the figures into `known`."""
    try:
        with tempfile.TemporaryDirectory() as nowhere:
            run = prepare(tree, Path(nowhere), watcher)
    except DataError as fault:
        yield Finding(Problem("refused", "error", "train", f"train: {fault.what}", fault.do))
        return
    sides = [known["splits"]["train"][side]["total"] for side in ("source", "target")]
    known["tokens"] = tokens.figures(run.task, run.config.seed, sides, watcher.counted)
    model: Any = run.config.model
    most = min(run.task.config.batch.budget, model.limit)
    yield from tokens.too_long(run.task, train, most=most, stops=files.too_long == "stop")
    yield from map(Finding, tokens.unknown(known["tokens"]))
    if trial:
        watcher.said(f"trying some updates, about {trial:.0f} seconds …")
    known["training"] = estimates(run, known["tokens"]["updates_an_epoch"], trial)
