"""regard fill"""

import json
import sys
from typing import Annotated

import typer

from regard.errors import ConfigError


def fill(
    model: Annotated[str, typer.Argument(help="Model directory, or a BERT as Hugging Face writes it.")],
    text: Annotated[str, typer.Argument(help='A text with [MASK] in it: "The [MASK] of the river."')],
    top: Annotated[int, typer.Option(help="So many words for each [MASK].", min=1)] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Guess hidden words: the likeliest for each [MASK], with their probabilities."""
    from regard.bundle import load

    loaded = load(model)
    if not hasattr(loaded, "fill"):
        raise ConfigError(f"{model} cannot fill in words.", do="train one with --task masked-lm, or give a BERT")
    found = loaded.fill(text, top=top)
    if as_json:
        masks = [[{"word": word.text, "probability": word.probability} for word in words] for words in found]
        sys.stdout.write(json.dumps({"text": text, "masks": masks}, ensure_ascii=False) + "\n")
        return
    for number, words in enumerate(found, start=1):
        if len(found) > 1:
            sys.stdout.write(f"[MASK] {number}\n")
        sys.stdout.write("".join(f"{word.probability:.3f}  {word.text}\n" for word in words))
