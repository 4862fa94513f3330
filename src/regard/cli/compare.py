"""regard compare"""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from regard.catalogue import model_names
from regard.cli.train import languages, suffixes
from regard.config import Tree, load_toml, merge, parse_overrides, section
from regard.errors import ConfigError

LINEAGE = ",".join(reversed(model_names("translation")))


def compare(
    out: Annotated[Path, typer.Option(help="Directory for the report and all runs.", show_default=False)],
    train: Annotated[
        list[str] | None,
        typer.Option(help="Pairs, or twice: SOURCE and TARGET. Without it: the built-in corpus with its gold links."),
    ] = None,
    val: Annotated[list[str] | None, typer.Option(help="Validation data: recipes are chosen on it.")] = None,
    test: Annotated[list[str] | None, typer.Option(help="Test data: finished models are scored on it.")] = None,
    langs: Annotated[str, typer.Option(help="Languages, such as en-zh.")] = "",
    models: Annotated[
        str, typer.Option(help="Models, with a preset (luong:small) or a name (dot=luong,general=luong) if wanted.")
    ] = LINEAGE,
    minutes: Annotated[float | None, typer.Option(help="Budget of each model: minutes,")] = None,
    updates: Annotated[int | None, typer.Option(help="or updates,")] = None,
    tokens: Annotated[int | None, typer.Option(help="or target tokens.")] = None,
    trials: Annotated[int, typer.Option(help="Recipes that each model tries, with a fifth of the budget each.")] = 3,
    seeds: Annotated[str, typer.Option(help="Each model is trained once with each, such as 1,2,3.")] = "1",
    parameters: Annotated[
        int | None, typer.Option(help="Size of all models, ± 10 % (default: as the last model).")
    ] = None,
    challenges: Annotated[str | None, typer.Option(help="Challenge sets (.jsonl).")] = None,
    alignments: Annotated[
        list[str] | None, typer.Option(help="Gold links of the test set: WORDS, then LINKS (twice).")
    ] = None,
    val_alignments: Annotated[
        list[str] | None, typer.Option(help="The same of the validation set: heads are chosen on it.")
    ] = None,
    base: Annotated[int | None, typer.Option(help="What gold calls the first word: 0 or 1.")] = None,
    sentence: Annotated[str | None, typer.Option(help="Draw how each model aligns this one.")] = None,
    jobs: Annotated[int, typer.Option(help="Runs at a time; they share the cores.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print report.json instead of report.md.")] = False,
    config: Annotated[Path | None, typer.Option(help="Settings in TOML.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Argument(help="section.key=value … for all models; models.luong.score=concat for one."),
    ] = None,
) -> None:
    """Train several models on the same data with the same budget, and report which is better at what."""
    from regard.cli.progress import Labelled
    from regard.lab.compare import Budget, GoldFiles, Plan
    from regard.lab.compare import compare as contest

    budget = Budget(minutes, updates, tokens)
    if base not in (None, 0, 1) or jobs < 1:
        raise ConfigError("--base is 0 or 1, --jobs at least 1.", found=f"--base {base} --jobs {jobs}")
    tree = merge(load_toml(config) if config else {}, parse_overrides(settings or ()))
    for name in ("model", "data", "training"):
        section(tree, name)
    own = {name: section(tree, "models", name) for name in section(tree, "models")}
    tree.pop("models", None)
    given = {split: files for split, files in (("train", train), ("val", val), ("test", test)) if files}
    data = merge(tree.get("data", {}), given)
    links = {"test": alignments, "val": val_alignments}
    gold = {split: GoldFiles(*_two(files), base=cast(Any, base)) for split, files in links.items() if files}
    if data.get("train"):
        data = _complete(data, langs, train)
    elif data or challenges or gold:
        raise ConfigError("There is data to score on, but none to train on.", do="add --train, or leave all data out")
    else:
        data, challenges, gold = _built_in(out)
    plan = Plan(
        models=tuple(part.strip() for part in models.split(",") if part.strip()),
        settings=merge(tree, {"task": "translation", "data": data}),
        budget=budget,
        own=own,
        seeds=_seeds(seeds),
        trials=trials,
        parameters=parameters,
        challenges=challenges,
        gold=gold,
        sentence=sentence or None,
    )
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    page = contest(plan, out, jobs=jobs, watch=Labelled, say=_say, command=command)
    written = page.parent / ("report.json" if as_json else "report.md")
    sys.stdout.write(written.read_text(encoding="utf-8"))
    sys.stderr.write(f"report: {page}\n")


def _complete(data: Tree, langs: str, train: list[str] | None) -> Tree:
    """The data with its languages; all that is scored on must be there."""
    if missing := [split for split in ("train", "val", "test") if not data.get(split)]:
        raise ConfigError(f"A comparison needs {' and '.join(missing)} data.", do=f"add --{missing[0]}")
    pair = languages(langs) if langs else data.get("langs") or suffixes(train)
    return {**data, "langs": pair} if pair else data


def _built_in(out: Path) -> tuple[Tree, str, dict[str, Any]]:
    """The built-in corpus as files, its challenge sets and its gold links; what a comparison began with stays."""
    from regard.data.corpora import build
    from regard.lab.compare import GoldFiles, claim
    from regard.lab.corpus import corpus_files, write_corpus

    directory = out / "data"
    if not claim(out):
        _say("writing the built-in corpus …")
        write_corpus(build(), directory)
    gold = {
        split: GoldFiles(str(directory / f"{split}.words"), str(directory / f"{split}.links"), base=0)
        for split in ("val", "test")
    }
    return {**corpus_files(directory), "langs": ["en", "zh"]}, str(directory / "challenges.jsonl"), gold


def _two(given: list[str]) -> tuple[str, str]:
    if len(given) != 2:
        raise ConfigError(
            "Gold alignments are two files.",
            found=", ".join(given),
            wanted="the words (source ||| target), then the links",
            do="give the option twice",
        )
    return given[0], given[1]


def _seeds(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(f"--seeds {text} cannot be read.", wanted="whole numbers, such as 1,2,3") from None


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
