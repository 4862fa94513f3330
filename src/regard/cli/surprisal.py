"""regard surprisal"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.errors import ConfigError, DataError

if TYPE_CHECKING:
    from regard.insight import Coloured
    from regard.tasks.surprisal import Surprisal, Surprise


def surprisal(
    model: Annotated[str, typer.Argument(help="Language model: its directory.", show_default=False)],
    text: Annotated[str | None, typer.Argument(help="A text; or --input.", show_default=False)] = None,
    input: Annotated[str | None, typer.Option(help="Text file, one text (.gz too; - for stdin).")] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Also the text, coloured by surprise: x.png, x.svg or x.html.")
    ] = None,
    stride: Annotated[
        int | None,
        typer.Option(help="How far the window moves over a text longer than it (default: half).", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """How surprised a language model is by each token of a text: bits, rank, token, and what it expected most."""
    from regard.bundle import load
    from regard.cli.progress import counted
    from regard.data.readers import read_lines
    from regard.insight import draw_coloured
    from regard.insight.coloured import check_drawing

    if (input is None) == (text is None):
        told = "There is nothing to judge." if input is None else "A text and --input exclude each other."
        raise ConfigError(told, do="give a text, or --input FILE")
    read = text if input is None else "\n".join(read_lines(input))
    if not read or not read.strip():
        raise DataError(f"{'The text' if input is None else input} is empty.", wanted="a text")
    if picture is not None:
        check_drawing(read, picture)  # before the model is read
    generator = load(model)
    if not hasattr(generator, "surprisal"):
        raise ConfigError(f"{model} is not a language model.", do="train one: --task lm, or give a GPT-2")
    found = generator.surprisal(read, stride=stride, watch=counted)
    if picture is not None:
        draw_coloured(_coloured(found, generator.name, generator.language), picture)
    sys.stdout.writelines([json.dumps(_facts(found), ensure_ascii=False) + "\n"] if as_json else _table(found))
    if picture is not None:
        sys.stderr.write(f"written: {picture}\n")


def _table(found: "Surprisal") -> Iterator[str]:
    yield f"{'bits':>7}{'rank':>7}  {'token':<20}  expected\n"
    for token in found.tokens:
        yield f"{token.bits:>7.2f}{token.rank:>7}  {_quoted(token.text):<20}  {_quoted(token.expected)}\n"
    yield f"{_totals(found)}\n"


def _totals(found: "Surprisal") -> str:
    return (
        f"{len(found.tokens):,} tokens, {found.bits:,.1f} bits: {found.bits_per_token:.3f} per token, "
        f"{found.bits_per_character:.3f} per character; perplexity {found.perplexity:.2f}"
    )


def _facts(found: "Surprisal") -> dict[str, Any]:
    return {
        "bits": found.bits,
        "bits_per_token": found.bits_per_token,
        "bits_per_character": found.bits_per_character,
        "perplexity": found.perplexity,
        "tokens": [vars(token) for token in found.tokens],
    }


def _coloured(found: "Surprisal", name: str, language: str) -> "Coloured":
    from regard.insight import Coloured, Part

    parts = [Part(token.start, token.end, token.bits, note(token)) for token in found.tokens]
    return Coloured(
        found.text,
        parts,
        most=found.guessing,
        heading=(f"{name} · surprise" if name else "surprise", _totals(found)),
        legend=f"bits: the darker, the more surprising; from {found.guessing:.1f} on, no better than blind guessing",
        language=language,
    )


def note(token: "Surprise") -> str:
    """What is told of a token where it is pointed at."""
    instead = "" if token.rank == 1 else f", not {token.expected!r}"
    return f"{token.bits:.2f} bits, rank {token.rank}{instead}"


def _quoted(text: str) -> str:
    """With its spaces to be seen: " the", "\\n"."""
    return json.dumps(text, ensure_ascii=False)
