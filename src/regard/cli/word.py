"""regard word"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from regard.errors import ConfigError


def word(
    model: Annotated[str, typer.Argument(help="A BERT: model directory, or as Hugging Face writes it.")],
    word: Annotated[str, typer.Argument(help="The word, such as bank.", show_default=False)],
    sentences: Annotated[str, typer.Option(help="Sentences with it, one a line.", show_default=False)],
    out: Annotated[Path, typer.Option(help="x.png or x.svg.")] = Path("word.svg"),
) -> None:
    """See what context makes of a word: its vector alone, and where each layer moves it in each sentence."""
    from regard.bundle import load
    from regard.data.readers import read_lines
    from regard.insight import draw_contexts
    from regard.insight.contexts import table
    from regard.tasks.contexts import word_contexts

    encoder = load(model)
    if not hasattr(encoder.model, "bert"):
        raise ConfigError(f"{model} is not a BERT.", do="train one with --task masked-lm, or give a BERT")
    lines = [line for line in read_lines(sentences) if line.strip()]
    contexts = word_contexts(encoder, word, lines)
    draw_contexts(contexts, out)
    listed = [f"{number:>4} {line}" for number, line in enumerate(contexts.sentences, start=1)]
    sys.stdout.write("\n".join([*listed, "", *table(contexts)]) + "\n")
    sys.stderr.write(f"written: {out}\n")
