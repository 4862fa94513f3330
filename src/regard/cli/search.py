"""regard search"""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from regard.errors import ConfigError, DataError


def search(
    model: Annotated[str, typer.Argument(help="What makes the vectors: a BERT or word vectors.", show_default=False)],
    question: Annotated[list[str], typer.Argument(help="What is looked for.", show_default=False)],
    lines: Annotated[str, typer.Option(help="The texts to search, one a line.", show_default=False)],
    vectors: Annotated[
        Path | None, typer.Option(help="Their vectors (.npy), made by regard embed with this model; else made now.")
    ] = None,
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
    texts = list(read_lines(lines))
    index = Index.read(vectors) if vectors else Index(encoder.embed(texts, truncate=True))
    if len(index) != len(texts):
        raise DataError(
            f"{vectors} does not belong to {lines}.",
            found=f"{len(index)} vectors, {len(texts)} lines",
            do="embed these lines again",
        )
    for asked, hits in zip(question, index.top(encoder.embed(question), top), strict=True):
        if as_json:
            found = [{"line": hit.line + 1, "score": hit.score, "text": texts[hit.line]} for hit in hits]
            sys.stdout.write(json.dumps({"question": asked, "found": found}, ensure_ascii=False) + "\n")
        else:
            shown = [f"{hit.score:.3f}  {hit.line + 1:>6}  {texts[hit.line]}\n" for hit in hits]
            sys.stdout.write((f"{asked}\n" if len(question) > 1 else "") + "".join(shown))
