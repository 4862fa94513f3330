"""regard classify"""

import json
import sys
from typing import Annotated

import typer

from regard.errors import ConfigError


def classify(
    model: Annotated[
        str,
        typer.Argument(
            help="Model directory, of regard or as Hugging Face writes it; or an id on its hub.", show_default=False
        ),
    ],
    text: Annotated[list[str] | None, typer.Argument(help="Texts; for a model of pairs: first, second, …")] = None,
    input: Annotated[
        str | None, typer.Option(help='A text a line (.gz; "-": standard input); pairs with a tab between them.')
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="The texts are pairs: for a model of others, which does not say.")
    ] = False,
    truncate: Annotated[bool, typer.Option("--truncate", help="Cut what is longer than the model can take.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line, with all probabilities.")] = False,
) -> None:
    """Say which class each text has, and how sure that is: class, probability and text, a line each."""
    from regard.bundle import load
    from regard.data.readers import read_lines
    from regard.tasks.texts import numbered

    if (input is None) == (not text):
        raise ConfigError("There is nothing to classify.", do="give texts, or --input FILE, not both")
    classifier = load(model)
    if not hasattr(classifier, "classify"):
        raise ConfigError(f"{model} is not a classifier.", do="train one with --task classification")
    if input is not None:
        rows = [tuple(line.split("\t")) for line in read_lines(input)]
    else:
        given, sides = text or [], 2 if pairs else classifier.sides
        if len(given) % sides:
            raise ConfigError(
                "A text has no second one to go with it.", found=f"{len(given)} texts", wanted="pairs: first, second, …"
            )
        rows = [tuple(given[first : first + sides]) for first in range(0, len(given), sides)]
    place = numbered if input is None else lambda row: f"{input}, line {row + 1}"
    said = classifier.classify(rows, truncate=truncate, place=place)
    for row, found in zip(rows, said, strict=True):
        if as_json:
            held = {"text": list(row), "label": found.label, "probabilities": found.probabilities}
            sys.stdout.write(json.dumps(held, ensure_ascii=False) + "\n")
        else:
            sys.stdout.write(f"{found.label}\t{found.probability:.3f}\t{' | '.join(row)}\n")
