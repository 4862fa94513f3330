"""Sentences and their translations, as the doctor sees them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from regard.config import Tree
from regard.data.lines import lines_of, with_text
from regard.data.readers import each_line, rows_of
from regard.doctor import facts, oddities, pair_findings, tokens
from regard.doctor.places import Finding
from regard.doctor.repeats import Split
from regard.doctor.sides import Side
from regard.doctor.slips import SlipFinder
from regard.doctor.survey import Gathered, Survey, columns_of, hashed, odd, scripts_of, tally
from regard.doctor.tokens import Limit, Tokenised
from regard.tasks.pairs import PairFiles
from regard.training.start import Run
from regard.watching import Watch

SHORT = 20
"""Characters up to which the lengths of two lines say little of each other."""


class Pairs:
    """What the doctor must know of them (see subjects.py)."""

    wanted = "add --train pairs.tsv, or --train SOURCE --train TARGET"
    ends = frozenset({"unreadable", "no-pairs"})

    def __init__(self, files: PairFiles) -> None:
        self.files = files

    def named(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The files of each split; those that are read together, together."""
        files = self.files
        yield from (("train", corpus.paths) for corpus in (files.corpora if files.train else ()))
        yield from ((name, paths) for name, paths in (("val", files.val), ("test", files.test)) if paths)

    def surveys(self, watch: Watch) -> list[Survey]:
        """What one pass through the files tells; standard input is left alone."""
        return [read(name, paths, self.files.langs, watch) for name, paths in self.named() if "-" not in paths]

    def found(self, splits: Sequence[Split]) -> Iterator[Finding]:
        """What is wrong with each of the files, and with them together."""
        for survey in (survey for split in splits for survey in split.surveys):
            yield from pair_findings.of_survey(survey, stops=self.files.bad_rows == "stop")
        yield from pair_findings.of_splits([split for split in splits if len(split)])

    def facts(self, splits: Sequence[Split]) -> dict[str, Any]:
        """The figures of each split, as JSON."""
        return {split.name: facts.of_pairs(split) for split in splits}

    def tolerant(self, splits: Sequence[Split]) -> Tree:
        """Settings of the data with which training goes on where it can."""
        return {"too_long": "skip"} | ({"bad_rows": "skip"} if any(split.bad_rows for split in splits) else {})

    def tokenised(self, run: Run, splits: Sequence[Split]) -> Tokenised:
        """What training makes of the pairs."""
        pairs, tokenizers, data = run.task.train_pairs, run.task.tokenizers, run.task.config.data
        held_out = {split: (text.sources, text.targets) for split, text in run.task.texts.items()}
        return Tokenised(
            sides=("source", "target"),
            tokenizers=(tokenizers.source, tokenizers.target),
            words=tuple(facts.words(splits[0], side) for side in (0, 1)),
            lengths=np.concatenate([store.lengths() for store in pairs.stores]),
            marks=1,
            kept=pairs.lengths(),
            weights=pairs.weights,
            held_out=held_out,
            training=lambda: (pair for corpus in data.corpora for pair in data.reader(corpus.paths)),
        )

    def too_long(self, run: Run, text: Tokenised, splits: Sequence[Split]) -> Iterator[Finding]:
        """Training pairs of more tokens than the model can take."""
        model: Any = run.config.model
        stops = self.files.too_long == "stop"
        limit = Limit(
            min(run.task.config.batch.budget, model.limit),
            "pair",
            "at which training would stop" if stops else "which will be left out",
            "split them, raise model.limit and batch.tokens" + ", or leave them out with data.too_long=skip" * stops,
            stops,
        )
        yield from tokens.too_long(splits[0], text.lengths.max(axis=1).astype(np.int64) + text.marks, limit)

    def cached(self, run: Run) -> int:
        """Bytes of tokens that are kept on disk."""
        columns = [column for store in run.task.train_pairs.stores for column in store.columns if column.maps]
        return sum(column.ids.nbytes + column.ends.nbytes for column in columns)


def read(split: str, paths: Sequence[str], langs: tuple[str, str], watch: Watch) -> Survey:
    """Goes through a table or two files. What cannot be opened, or is no text at all, is an error as anywhere else."""
    survey, kept, finder = Survey(split, tuple(paths)), Gathered(4), SlipFinder()
    rows = rows_of(
        paths,
        [with_text(path, lines_of(path), wanted=each_line(paths)) for path in paths],
        langs if all(langs) else None,
    )
    for lines, columns in columns_of(watch(rows, total=0, what=f"reading {split}"), survey):
        source, target = sides = [Side.of(column) for column in columns]
        survey.scripts = survey.scripts or scripts_of(langs, sides)
        _judge(survey, source, target, lines)
        rows_read = zip(*columns, strict=True)
        kept.add(lines, hashed(columns[0], len(lines)), hashed(rows_read, len(lines)), _ratios(source, target))
        finder.add(source, target)
    survey.lines, survey.sources, survey.pairs, survey.ratios = kept.arrays()
    survey.stretches = finder.stretches()
    return survey


def _judge(survey: Survey, source: Side, target: Side, lines: np.ndarray) -> None:
    copies = oddities.copied(source, target)
    survey.tallies["copied", None].add(copies, lines)
    found = [odd(side, scripts) for side, scripts in zip((source, target), survey.scripts, strict=True)]
    for kinds, side in zip(found, (source, target), strict=True):
        kinds["wrong-script"] &= ~copies
        kinds["long-line"] = oddities.long(side)
    tally(survey, (source, target), found, lines)


def _ratios(source: Side, target: Side) -> np.ndarray:
    """Of the lengths, as logarithms; none if both are short."""
    ratios: np.ndarray = np.log(target.lengths / source.lengths).astype(np.float32)
    ratios[np.maximum(source.lengths, target.lengths) < SHORT] = np.nan
    return ratios
