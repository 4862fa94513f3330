"""regard search"""

import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.errors import ConfigError, DataError

if TYPE_CHECKING:
    from regard.tasks.search import Hit


def search(
    model: Annotated[str, typer.Argument(help="What makes the vectors: a BERT or word vectors.", show_default=False)],
    question: Annotated[list[str], typer.Argument(help="What is looked for.", show_default=False)],
    lines: Annotated[str, typer.Option(help="The texts to search, one a line.", show_default=False)],
    vectors: Annotated[
        Path | None,
        typer.Option(help="Their vectors (.npy), made by regard embed with this model and pooling; else made now."),
    ] = None,
    pooling: Annotated[
        str | None,
        typer.Option(
            help="cls, mean or max: of the lines and the questions (default: as the model was made for).",
            show_default=False,
        ),
    ] = None,
    truncate: Annotated[bool, typer.Option("--truncate", help="Cut what is longer than the model can take.")] = False,
    top: Annotated[int, typer.Option(help="So many lines for each question.", min=1)] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a question.")] = False,
) -> None:
    """Find the lines that mean what a question means: cosine, line number and line, the best first."""
    from regard.bundle import load
    from regard.data.readers import read_lines
    from regard.tasks.search import Index

    encoder = load(model)
    if not hasattr(encoder, "embed"):
        raise ConfigError(f"{model} makes no vectors.", do="give a BERT, or train one with --task similarity")
    embed = partial(encoder.embed, pooling=pooling, truncate=truncate)
    asked = embed(question, place=lambda row: f"Question {row + 1}")
    texts = read_lines(lines)
    index = Index.read(vectors) if vectors else Index(embed(texts, place=lambda row: f"{lines}, line {row + 1}"))
    if len(index) != len(texts):
        raise DataError(
            f"{vectors} does not belong to {lines}.",
            found=f"{len(index)} vectors, {len(texts)} lines",
            do="embed these lines again",
        )
    for text, hits in zip(question, index.top(asked, top), strict=True):
        if as_json:
            sys.stdout.write(_object(text, hits, texts))
        else:
            sys.stdout.write((f"{text}\n" if len(question) > 1 else "") + _rows(hits, texts))


def _object(question: str, hits: "Sequence[Hit]", texts: Sequence[str]) -> str:
    found = [{"line": hit.line + 1, "score": hit.score, "text": texts[hit.line]} for hit in hits]
    return json.dumps({"question": question, "found": found}, ensure_ascii=False) + "\n"


def _rows(hits: "Sequence[Hit]", texts: Sequence[str]) -> str:
    return "".join(f"{hit.score:.3f}  {hit.line + 1:>6}  {texts[hit.line]}\n" for hit in hits)
