"""regard train"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.catalogue import MODELS, TASKS, model_names
from regard.config import Tree, load_toml, merge, parse_overrides
from regard.errors import ConfigError

NAMES = "; ".join(
    f"{task}: " + ", ".join(f"{name}[:{'|'.join(MODELS[name][task].preset_names)}]" for name in model_names(task))
    for task in TASKS
)


def train(
    out: Annotated[Path, typer.Option(help="Directory for the run and its model.", show_default=False)],
    task: Annotated[str | None, typer.Option(help=f"One of: {', '.join(TASKS)} (default: translation).")] = None,
    train: Annotated[
        list[str] | None,
        typer.Option(
            help="Pairs (.tsv .csv .jsonl, .gz), or twice: SOURCE and TARGET; for classes text⇥label, for similarity "
            "text⇥text⇥score; running text: files or folders, a Wikipedia dump (.xml, .bz2); scenes (.jsonl)."
        ),
    ] = None,
    val: Annotated[list[str] | None, typer.Option(help="Validation data, given in the same way.")] = None,
    test: Annotated[list[str] | None, typer.Option(help="Test data, scored once at the end.")] = None,
    langs: Annotated[str, typer.Option(help="Languages, such as en-zh.")] = "",
    model: Annotated[str | None, typer.Option(help=f"For {NAMES} (default: the first).")] = None,
    config: Annotated[Path | None, typer.Option(help="Settings in TOML.")] = None,
    init: Annotated[
        str | None,
        typer.Option(
            help="Begin with the weights and the tokenizer of this model (fine-tuning): its directory, of regard or as "
            "Hugging Face writes it; or its id on the hub."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Same seed, same model (default: 1).")] = None,
    minutes: Annotated[float | None, typer.Option(help="Choose training.updates to take about so long.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where the run in --out stopped.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Start anew in --out.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read the data, print the settings, stop.")] = False,
    settings: Annotated[
        list[str] | None,
        typer.Argument(help="section.key=value …, such as training.updates=5000 batch.tokens=4096 model.heads=8."),
    ] = None,
) -> None:
    """Train a model on your own text."""
    files = {"train": train, "val": val, "test": test}
    tree = tree_of(files, langs, model, config, settings, task=task, seed=seed, init=init)
    if not dry_run:
        _in_several(tree, out if resume else None)
    run(tree, out, resume=resume, overwrite=overwrite, dry_run=dry_run, minutes=minutes)


def tree_of(
    files: dict[str, list[str] | None],
    langs: str,
    model: str | None,
    config: Path | None,
    settings: list[str] | None,
    **others: Any,
) -> Tree:
    """The settings that these options mean; of the others, those that are given."""
    piped = [f"--{split} -" for split, paths in files.items() for path in paths or () if path == "-"]
    if len(piped) > 1:
        raise ConfigError("Standard input can be read only once.", found=", ".join(piped), do="write one into a file")
    data: Tree = {split: [str(path) for path in paths] for split, paths in files.items() if paths}
    if langs:
        data["langs"] = languages(langs)
    asked = {"model": _model(model), "data": data or None, **others}
    given: Tree = {key: value for key, value in asked.items() if value is not None}
    named = suffixes(files["train"]) if others.get("task") in (None, "translation") else None
    guessed = {"data": {"langs": named}} if named else {}
    return merge(guessed, load_toml(config) if config else {}, given, parse_overrides(settings or ()))


def _in_several(tree: Tree, resumed: Path | None) -> None:
    """If the settings ask for several processes, this one only starts them, and leaves when they have ended."""
    from regard.bundle import CONFIG, read_config
    from regard.training.launch import launch, several

    saved = read_config(resumed) if resumed and (resumed / CONFIG).exists() else None
    if shared := several(tree, saved, lambda text: print(text, file=sys.stderr)):
        processes, threads = shared
        command = ["-m", "regard", *sys.argv[1:], f"distributed.processes={processes}", f"training.threads={threads}"]
        raise typer.Exit(launch(command, processes, threads))


def run(
    tree: Tree,
    out: Path,
    *,
    resume: bool = False,
    overwrite: bool = False,
    dry_run: bool = False,
    minutes: float | None = None,
) -> None:
    """Trains what the tree of settings says, and prints what it scored."""
    from regard.cli.progress import watcher
    from regard.training.run import train as to_the_end
    from regard.training.start import facts, prepare

    if minutes is not None and not 0 < minutes < 1e6:
        raise ConfigError("--minutes must be above 0.", found=str(minutes))
    watch = watcher()
    if not resume:
        _look_at_data(tree, watch.said)
    prepared = prepare(tree, out, watch, resume=resume, overwrite=overwrite, minutes=minutes)
    if dry_run:
        sys.stdout.write(json.dumps({**prepared.config.tree(), "facts": facts(prepared)}, indent=2, ensure_ascii=False))
        sys.stdout.write("\n")
        return
    with watch:
        outcome = to_the_end(prepared)
    if not outcome.finished:
        watch.said("go on with --resume")
        raise typer.Exit(128 + signal.Signals[outcome.stopped_by])
    if outcome.card:
        for split, figures in outcome.card["scores"].items():
            sys.stdout.write(f"{split}: {figures['headline']}\n")
        sys.stdout.write(f"model: {outcome.directory}\n")


def _look_at_data(tree: Tree, say: Callable[[str], None]) -> None:
    """Says what is wrong with the data, if there is so little that it takes no time."""
    from regard.doctor import first_look

    if os.environ.get("RANK", "0") != "0":
        return
    problems = [problem for problem in first_look(tree) if problem.severity != "note"]
    for problem in problems:
        say(str(problem))
    if problems:
        say("regard doctor says more about it")


def _model(text: str | None) -> Tree | None:
    if text is None:
        return None
    name, _, preset = text.partition(":")
    return {"name": name, **({"preset": preset} if preset else {})}


def languages(langs: str) -> list[str]:
    """ "en-zh" as a pair."""
    pair = langs.split("-")
    if len(pair) != 2 or not all(pair):
        raise ConfigError(f"--langs {langs} cannot be read.", wanted="source-target, such as en-zh")
    return pair


def suffixes(train: list[str] | None) -> list[str] | None:
    """The languages that the suffixes of two files name: train.en and train.de.gz."""
    if not train or len(train) != 2:
        return None
    suffixes = [Path(path.removesuffix(".gz")).suffix.lstrip(".") for path in train]
    named = all(2 <= len(suffix) <= 3 and suffix.isalpha() and suffix != "txt" for suffix in suffixes)
    return suffixes if named else None
