"""regard doctor"""

import json
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.train import NAMES, tree_of

if TYPE_CHECKING:
    from regard.doctor import Diagnosis, Problem

TASKS = ("translation", "classification")
BARS = "▁▂▃▄▅▆▇█"
CLASSES, WIDTH = 20, 24
"""Classes that are listed, and characters that their names may have there."""


def doctor(
    task: Annotated[str | None, typer.Option(help=f"{' or '.join(TASKS)} (default: {TASKS[0]}).")] = None,
    train: Annotated[
        list[str] | None,
        typer.Option(
            help="Pairs (.tsv .csv .jsonl, .gz), or twice: SOURCE and TARGET; or text⇥label, text⇥text⇥label."
        ),
    ] = None,
    val: Annotated[list[str] | None, typer.Option(help="Validation data, given in the same way.")] = None,
    test: Annotated[list[str] | None, typer.Option(help="Test data.")] = None,
    langs: Annotated[str, typer.Option(help="Languages, such as en-zh.")] = "",
    model: Annotated[str | None, typer.Option(help=f"{NAMES} (default: transformer:tiny).")] = None,
    config: Annotated[Path | None, typer.Option(help="Settings in TOML.")] = None,
    init: Annotated[str | None, typer.Option(help="The model directory that training would begin with.")] = None,
    no_trial: Annotated[bool, typer.Option("--no-trial", help="Make no updates to see how long they take.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Everything, as one JSON object.")] = False,
    settings: Annotated[
        list[str] | None, typer.Argument(help="section.key=value …, as for regard train: the same words go here.")
    ] = None,
) -> None:
    """Look at your data before you train on it: what is wrong with it, what training will take."""
    from regard.cli.progress import watcher
    from regard.doctor import examine
    from regard.doctor.checkup import SECONDS

    files = {"train": train, "val": val, "test": test}
    tree = tree_of(files, langs, model, config, settings, task=task, init=init)
    diagnosis = examine(tree, watcher=watcher(), trial=0.0 if no_trial else SECONDS)
    if as_json:
        found = {"problems": [problem.as_dict() for problem in diagnosis.problems], "facts": diagnosis.facts}
        sys.stdout.write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write("\n".join(_lines(diagnosis)) + "\n")
    if diagnosis.has_error:
        raise typer.Exit(1)


def _lines(diagnosis: "Diagnosis") -> Iterator[str]:
    counts = [sum(problem.severity == kind for problem in diagnosis.problems) for kind in ("error", "warning", "note")]
    kinds = zip(counts, ("error", "warning", "note"), strict=True)
    yield ", ".join(f"{count or 'no'} {kind}{'s' * (count != 1)}" for count, kind in kinds)
    yield ""
    for problem in diagnosis.problems:
        yield from _problem(problem)
    splits = diagnosis.facts["splits"]
    for name, split in splits.items():
        yield _pairs(name, split) if "pairs" in split else _examples(name, split)
        yield from _sides(split)
    if "classes" in splits["train"]:
        yield from _classes(splits)
    if tokens := diagnosis.facts.get("tokens"):
        yield from _tokens(tokens, splits["train"])
    else:
        yield "Tokens and training can be looked at when the errors are mended."
    if training := diagnosis.facts.get("training"):
        yield from _training(training, diagnosis.facts["tokens"])


def _problem(problem: "Problem") -> Iterator[str]:
    yield f"{problem.severity:<8} {problem.what}"
    yield from (f"{'':<10} {example}" for example in problem.examples)
    yield f"{'':<8} do this: {problem.advice}"
    yield ""


def _pairs(name: str, split: dict[str, Any]) -> str:
    ratio = split["target_characters_for_each_of_the_source"]
    also = f", {ratio} target characters for each of the source" if ratio else ""
    return f"{name:<9} {split['pairs']:,} pairs{also}"


def _examples(name: str, split: dict[str, Any]) -> str:
    count, classes = split["examples"], len(split["classes"])
    return f"{name:<9} {count:,} example{'s' * (count != 1)} of {classes:,} class{'es' * (classes != 1)}"


def _sides(split: dict[str, Any]) -> Iterator[str]:
    for side in ("source", "target", "text", "second"):
        if known := split.get(side):
            bars, bounds = _bars(known["histogram"]["counts"]), known["histogram"]["from"]
            yield (
                f"  {side:<7} {known['total']:,} {known['unit']}; in a line: {bounds[0]} {bars} {bounds[-1]}+, "
                f"half have up to {known['median']}, the longest {known['longest']:,}"
            )


def _classes(splits: dict[str, dict[str, Any]]) -> Iterator[str]:
    """How many examples of each class every split has; of many classes, the largest."""
    from regard.doctor.problems import visible

    labels = list(dict.fromkeys(label for split in splits.values() for label in split["classes"]))
    yield f"{'classes':<{WIDTH + 2}}" + "".join(f"{name:>16}" for name in splits)
    for label in labels[:CLASSES]:
        yield f"  {_padded(visible(label, WIDTH))}" + "".join(_share([label], split) for split in splits.values())
    if rest := labels[CLASSES:]:
        yield f"  {_padded(f'and {len(rest):,} more')}" + "".join(_share(rest, split) for split in splits.values())
    if largest := splits["train"]["always"]["label"]:
        right = [f"{split['always']['accuracy']:.1%} of {name}" for name, split in splits.items()]
        yield f"  always saying '{visible(largest, WIDTH)}' is right in {', '.join(right)}"


def _share(labels: list[str], split: dict[str, Any]) -> str:
    count = sum(split["classes"].get(label, 0) for label in labels)
    share = f"({count / max(1, split['examples']):.1%})"
    return f"{count:>8,} {share:>7}"


def _padded(text: str) -> str:
    """With spaces up to the width of the column; a Chinese character takes two places."""
    return text + " " * (WIDTH - sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text))


def _bars(counts: list[int]) -> str:
    most = max(counts)
    return "".join(BARS[min(len(BARS) - 1, len(BARS) * count // most)] if count else " " for count in counts)


def _tokens(tokens: dict[str, Any], train: dict[str, Any]) -> Iterator[str]:
    vocabulary = " + ".join(f"{size:,}" for size in tokens["vocabulary"])
    units = {side: train[side]["unit"].removesuffix("s") for side in ("source", "target", "text") if side in train}
    names = [unit if side == "text" else f"{side} {unit}" for side, unit in units.items()]
    each = ", ".join(f"{ratio} for a {name}" for ratio, name in zip(tokens["tokens_per_word"], names, strict=True))
    yield f"tokens    vocabulary {vocabulary}; {each}; the longest text has {tokens['longest']:,}"
    for split, sides in tokens["held_out"].items():
        for side, found in sides.items():
            yield (
                f"  {split:<7} {side}: {found['unknown']:.1%} of the tokens unknown or spelt in bytes, "
                f"{found['unseen_words']:.1%} of the words nowhere in train"
            )


def _training(training: dict[str, Any], tokens: dict[str, Any]) -> Iterator[str]:
    epoch, threads = tokens["updates_an_epoch"], training["threads"]
    yield (
        f"training  {training['model']}, {training['parameters']:,} parameters; "
        f"{epoch:,} update{'s' * (epoch != 1)} an epoch ({tokens['padding']:.1%} padding); "
        f"{training['updates']:,} updates are {training['epochs']:,.1f} epochs"
    )
    if "seconds" in training:
        each, long, whole = training["seconds_an_update"], training["seconds_an_epoch"], training["seconds"]
        yield (
            f"  time    {each:.3g} s an update, {_time(long)} an epoch, {_time(whole)} in all, "
            f"validation apart ({training['device']}, {threads} thread{'s' * (threads != 1)})"
        )
        yield f"  memory  up to {_size(training['memory_bytes'])}"
    yield f"  disk    up to {_size(training['disk_bytes'])}"


def _time(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} seconds"


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
