"""Runs set against each other: which is the best, and in what they differ."""

import json
from collections.abc import Sequence
from typing import Any

from regard.config import leaves
from regard.lab.runs.reading import KnownRun
from regard.report import Column, Table
from regard.training.validation import LESS_IS_BETTER


def best_of(runs: Sequence[KnownRun]) -> list[tuple[KnownRun, list[KnownRun]]]:
    """Of all runs whose validations can be compared the best one, and who they are; nothing where one is alone."""
    groups: dict[str, list[KnownRun]] = {}
    for run in runs:
        if run.best:
            groups.setdefault(_judged_by(run), []).append(run)
    return [(_first(group), group) for group in groups.values() if len(group) > 1]


def listing(runs: Sequence[KnownRun]) -> Table:
    """A row for each run; a star where one is the best."""
    stars = {run.name for run, _ in best_of(runs)}
    columns = [
        Column("run"),
        Column("model"),
        Column("parameters", ",d"),
        Column("updates", align="right"),
        Column("state"),
        Column("best on val"),
        Column("test"),
        Column("time", align="right"),
        Column("tokens/s", ",.0f"),
        Column("seed"),
    ]
    rows = [
        [
            run.name,
            run.model or None,
            run.parameters,
            f"{run.updates:,} of {run.planned:,}" if run.planned else None,
            run.state,
            _scored(run) + " *" * (run.name in stars) or None,
            run.test or None,
            _clock(run.seconds) if run.planned else None,
            run.tokens_per_second,
            run.seed,
        ]
        for run in runs
    ]
    return Table(columns, rows)


def differences(runs: Sequence[KnownRun]) -> dict[str, dict[str, Any]]:
    """The settings in which runs differ: by their dotted names, the value of each run that has such a setting.
    "data.val, contents" is among them where the files hold other text, whatever they are called."""
    found: dict[str, dict[str, Any]] = {}
    for run in runs:
        for path, value in leaves(run.config):
            found.setdefault(".".join(path), {})[run.name] = value
        for split, digest in run.data.items():
            found.setdefault(f"data.{split}, contents", {})[run.name] = digest[:8]
    return {key: values for key, values in found.items() if len({json.dumps(value) for value in values.values()}) > 1}


def compared(runs: Sequence[KnownRun]) -> Table:
    """The settings that differ, next to the scores: a row for each run or, if runs are fewer, a column."""
    sound, found = [run for run in runs if run.config], differences(runs)
    heads = ["run", "best on val", "test", *found]
    lines: list[list[str | None]] = [
        [run.name, _scored(run) or None, run.test or None, *(_text(each.get(run.name)) for each in found.values())]
        for run in sound
    ]
    if len(sound) < len(found):
        heads, *lines = [list(line) for line in zip(heads, *lines, strict=True)]
    return Table([Column(head) for head in heads], lines)


def _judged_by(run: KnownRun) -> str:
    """What must be the same for two figures to mean the same; a loss per token also depends on what tokens are."""
    metric, sentences = run.best.metric if run.best else "", run.config["training"].get("validate_sentences")
    tokens = [run.config.get("tokenizer"), run.data.get("train")] if metric in LESS_IS_BETTER else []
    return json.dumps([run.config["task"], metric, run.data.get("val"), sentences, *tokens])


def _first(runs: Sequence[KnownRun]) -> KnownRun:
    """The one with the best figure."""
    known = [(run, run.best) for run in runs if run.best]
    return min(known, key=lambda each: each[1].value * (1 if each[1].metric in LESS_IS_BETTER else -1))[0]


def _scored(run: KnownRun) -> str:
    return f"{run.best.text} at {run.best.update:,}" if run.best else ""


def _text(value: Any) -> str | None:
    if isinstance(value, list):
        return ", ".join(str(_text(part)) for part in value) or "none"
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}"
