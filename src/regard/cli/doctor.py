"""regard doctor"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.train import NAMES, tree_of

if TYPE_CHECKING:
    from regard.doctor import Diagnosis, Problem

BARS = "▁▂▃▄▅▆▇█"


def doctor(
    train: Annotated[
        list[str] | None, typer.Option(help="Pairs (.tsv .csv .jsonl, .gz), or twice: SOURCE and TARGET.")
    ] = None,
    val: Annotated[list[str] | None, typer.Option(help="Validation data, given in the same way.")] = None,
    test: Annotated[list[str] | None, typer.Option(help="Test data.")] = None,
    langs: Annotated[str, typer.Option(help="Languages, such as en-zh.")] = "",
    model: Annotated[str | None, typer.Option(help=f"{NAMES}.  [default: transformer:tiny]")] = None,
    config: Annotated[Path | None, typer.Option(help="Settings in TOML.")] = None,
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

    tree = tree_of({"train": train, "val": val, "test": test}, langs, model, config, settings)
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
    for name, split in diagnosis.facts["splits"].items():
        yield from _split(name, split)
    if tokens := diagnosis.facts.get("tokens"):
        train = diagnosis.facts["splits"]["train"]
        yield from _tokens(tokens, [train[side]["unit"].removesuffix("s") for side in ("source", "target")])
    else:
        yield "Tokens and training can be looked at when the errors are mended."
    if training := diagnosis.facts.get("training"):
        yield from _training(training, diagnosis.facts["tokens"])


def _problem(problem: "Problem") -> Iterator[str]:
    yield f"{problem.severity:<8} {problem.what}"
    yield from (f"{'':<10} {example}" for example in problem.examples)
    yield f"{'':<8} do this: {problem.advice}"
    yield ""


def _split(name: str, split: dict[str, Any]) -> Iterator[str]:
    ratio = split["target_characters_for_each_of_the_source"]
    yield f"{name:<9} {split['pairs']:,} pairs" + (
        f", {ratio} target characters for each of the source" if ratio else ""
    )
    for side in ("source", "target"):
        if known := split[side]:
            bars, bounds = _bars(known["histogram"]["counts"]), known["histogram"]["from"]
            yield (
                f"  {side:<7} {known['total']:,} {known['unit']}; in a line: {bounds[0]} {bars} {bounds[-1]}+, "
                f"half have up to {known['median']}, the longest {known['longest']:,}"
            )


def _bars(counts: list[int]) -> str:
    most = max(counts)
    return "".join(BARS[min(len(BARS) - 1, len(BARS) * count // most)] if count else " " for count in counts)


def _tokens(tokens: dict[str, Any], units: list[str]) -> Iterator[str]:
    vocabulary = " + ".join(f"{size:,}" for size in tokens["vocabulary"])
    source, target = tokens["tokens_per_word"]
    yield (
        f"tokens    vocabulary {vocabulary}; {source} for a source {units[0]}, {target} for a target {units[1]}; "
        f"the longest text has {tokens['longest']:,}"
    )
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
