"""Texts, or pairs of texts, and their labels, as the doctor sees them."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from regard.config import Tree
from regard.data.labelled import ONE, TWO, fitting, reader, rows_wanted
from regard.data.lines import lines_of, with_text
from regard.data.tables import Table
from regard.doctor import facts, label_findings, oddities, tokens
from regard.doctor.labels import Labels
from regard.doctor.places import Finding
from regard.doctor.repeats import Split
from regard.doctor.sides import Side
from regard.doctor.survey import DISTINCT, Gathered, Survey, columns_of, hashed, odd, scripts_of, tally
from regard.doctor.tokens import Limit, Tokenised
from regard.tasks.classification import Examples, LabelledFiles
from regard.training.start import Run
from regard.watching import Watch


class LabelledRows:
    """What the doctor must know of them (see subjects.py). `known`: labels of the model that training begins with."""

    wanted = "add --train examples.tsv: a text and a label a line"
    ends = frozenset({"unreadable", "no-examples", "bad-rows", "one-class", "swapped", "unseen-labels"})

    def __init__(self, files: LabelledFiles, known: Sequence[str] = ()) -> None:
        self.files, self.known = files, known

    def named(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The files of each split, each by itself."""
        files = self.files
        splits = {"train": files.train, "val": files.val, "test": files.test}
        yield from ((name, (path,)) for name, paths in splits.items() for path in paths)

    def surveys(self, watch: Watch) -> list[Survey]:
        """What one pass through the files tells; standard input is left alone. The first file says whether a row has
        one text or two, as in training."""
        tables: tuple[Table, ...] = (TWO, ONE)
        found = []
        for name, (path,) in self.named():
            if path != "-":
                table, survey = read(name, path, tables, self.files.language, watch)
                tables = (table,)
                found.append(survey)
        return found

    def found(self, splits: Sequence[Split]) -> Iterator[Finding]:
        """What is wrong with each of the files, and with them together."""
        for survey in (survey for split in splits for survey in split.surveys):
            yield from label_findings.of_survey(survey)
        yield from label_findings.of_splits([split for split in splits if len(split)], self.known)

    def facts(self, splits: Sequence[Split]) -> dict[str, Any]:
        """The figures of each split, as JSON."""
        labels = {split.name: Labels.of(split) for split in splits}
        largest = next(iter(labels["train"].counts), "")
        return {split.name: facts.of_labelled(split, labels[split.name], largest) for split in splits}

    def tolerant(self, splits: Sequence[Split]) -> Tree:
        """Settings of the data with which training goes on where it can."""
        return {"too_long": "cut"}

    def tokenised(self, run: Run, splits: Sequence[Split]) -> Tokenised:
        """What training makes of the texts; the two of a pair are taken together."""
        task = run.task
        train, tokenizer = task.texts["train"], task.tokenizers.tokenizer
        marks = 1 + train.sides
        held_out = {split: [[*chain(*text.texts)]] for split, text in task.texts.items() if split != "train"}
        return Tokenised(
            sides=("text",),
            tokenizers=(tokenizer,),
            words=(sum(facts.words(splits[0], side) for side in range(train.sides)),),
            lengths=sizes(run, "train")[:, None] - marks,
            marks=marks,
            kept=task.examples["train"].lengths[:, None],
            weights=(),
            held_out=held_out,
            training=lambda: (("\n".join(texts),) for texts in train.texts),
        )

    def too_long(self, run: Run, text: Tokenised, splits: Sequence[Split]) -> Iterator[Finding]:
        """Texts of more tokens than the model can take."""
        model: Any = run.config.model
        stops = self.files.too_long == "stop"
        limit = Limit(
            model.limit,
            label_findings.nouns(text.marks - 1).asks,
            "at which training would stop" if stops else "of which the end will be cut off",
            "cut them with data.too_long=cut, or raise model.limit if the model is not pretrained"
            if stops
            else "split them, or raise model.limit if the model is not pretrained",
            stops,
        )
        for split in splits:
            yield from tokens.too_long(split, sizes(run, split.name), limit)

    def cached(self, run: Run) -> int:
        """Bytes of tokens that are kept on disk."""
        return 0


def read(split: str, path: str, tables: Sequence[Table], language: str, watch: Watch) -> tuple[Table, Survey]:
    """Goes through a file; also says which of the tables it is."""
    survey, kept, classes = Survey(split, (path,)), Gathered(4), dict[str, int]()
    lines_read = with_text(path, lines_of(path), wanted=rows_wanted(tables))
    first = next(lines_read)  # with_text: there is one
    table = fitting(path, first, tables)
    rows = reader(path)(chain([first], lines_read), table)
    distinct: list[set[str]] = [set() for _ in range(table.width - 1)]
    for lines, columns in columns_of(watch(rows, total=0, what=f"reading {split}"), survey):
        *texts, labels = columns
        _judge(survey, texts, language, lines)
        for few, side in zip(distinct, texts, strict=True):
            few.update(side if len(few) < DISTINCT else ())
        codes = np.array([classes.setdefault(label, len(classes)) for label in labels])
        asking = texts[0] if len(texts) == 1 else zip(*texts, strict=True)
        kept.add(lines, hashed(asking, len(lines)), hashed(zip(*columns, strict=True), len(lines)), codes)
    survey.lines, survey.sources, survey.pairs, survey.labels = kept.arrays()
    survey.classes, survey.distinct = tuple(classes), tuple(map(len, distinct))
    return table, survey


def _judge(survey: Survey, texts: Sequence[Sequence[str]], language: str, lines: np.ndarray) -> None:
    sides = [Side.of(side) for side in texts]
    survey.scripts = survey.scripts or scripts_of([language] * len(sides), sides)
    found = [odd(side, scripts) for side, scripts in zip(sides, survey.scripts, strict=True)]
    for kinds, side in zip(found, sides, strict=True):
        kinds["one-character"] = oddities.one_character(side)
    tally(survey, sides, found, lines)


def sizes(run: Run, split: str) -> np.ndarray:
    """Tokens of each row, marks included, also of those that were cut for the model."""
    model: Any = run.config.model
    task = run.task
    lengths: np.ndarray = task.examples[split].lengths
    if len(cut := np.flatnonzero(lengths >= model.limit)):
        texts = [task.texts[split].texts[row] for row in cut.tolist()]
        lengths[cut] = Examples(texts, task.tokenizers.tokenizer).lengths
    return lengths
