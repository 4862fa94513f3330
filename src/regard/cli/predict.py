"""regard predict"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from regard.errors import ConfigError

if TYPE_CHECKING:
    from regard.tasks.predictor import Given


def predict(
    model: Annotated[str, typer.Argument(help="Model directory.", show_default=False)],
    scene: Annotated[list[str] | None, typer.Argument(help="Scenes, each as JSON.", show_default=False)] = None,
    input: Annotated[str | None, typer.Option(help='A scene a line (.jsonl, .gz; "-": standard input).')] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line, with all probabilities.")] = False,
) -> None:
    """Say of scenes of entities what was asked in training, a line each: what would stand there as "target"."""
    from regard.bundle import load

    if input is None and not scene:
        raise ConfigError("There is nothing to predict.", do="give scenes, or --input FILE")
    if input is not None and scene:
        raise ConfigError("Scenes were given twice.", found=f"{len(scene)} and {input}", do="leave one of them out")
    loaded = load(model)
    if not hasattr(loaded, "predict"):
        raise ConfigError(f"{model} is not a model of entities.", do="train one with --task entities")
    rows = scene or [] if input is None else _read(input)
    said = iter(loaded.predict([row for row in rows if row is not None]))
    for row in rows:  # a blank line stays a blank line
        found = None if row is None else next(said)
        line = "" if found is None else json.dumps(asdict(found) if as_json else found.target, ensure_ascii=False)
        sys.stdout.write(line + "\n")


def _read(path: str) -> "Sequence[Given | None]":
    from regard.data.scenes import scenes_by_line

    return list(scenes_by_line(path))
