"""regard word"""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.errors import ConfigError


def word(
    model: Annotated[str, typer.Argument(help="A BERT or word vectors: model directory; or as others write them.")],
    word: Annotated[str, typer.Argument(help="The word, such as bank.", show_default=False)],
    sentences: Annotated[
        str | None, typer.Option(help="For a BERT: sentences with the word, one a line.", show_default=False)
    ] = None,
    top: Annotated[int, typer.Option(help="For word vectors: so many neighbours.", min=1)] = 10,
    out: Annotated[Path, typer.Option(help="x.png or x.svg.")] = Path("word.svg"),
) -> None:
    """See what context makes of a word: its vector alone, and where each layer moves it in each sentence. Of word
    vectors, which know no context: the word among its nearest neighbours."""
    from regard.bundle import load

    loaded = load(model)
    if hasattr(loaded, "neighbourhood"):
        if sentences is not None:
            raise ConfigError(f"{model} has one vector for a word, whatever the sentence.", do="leave --sentences out")
        lines = _neighbourhood(loaded, word, top, out)
    elif hasattr(loaded.model, "bert"):
        if sentences is None:
            raise ConfigError(
                f"{model} is a BERT: what it makes of a word depends on the sentence.",
                do="give --sentences, a file of sentences with the word, one a line",
            )
        lines = _contexts(loaded, word, sentences, out)
    else:
        raise ConfigError(
            f"{model} is neither a BERT nor word vectors.", do="train one with --task masked-lm or --task words"
        )
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stderr.write(f"written: {out}\n")


def _neighbourhood(vectors: Any, word: str, top: int, out: Path) -> list[str]:
    """Draws the word among its neighbours; gives their cosines as lines."""
    from regard.insight import draw_neighbourhood

    found = vectors.neighbourhood(word, top=top)
    draw_neighbourhood(found, out)
    return [f"{cosine:.3f}  {near}" for near, cosine in found.neighbours()]


def _contexts(bert: Any, word: str, sentences: str, out: Path) -> list[str]:
    """Draws the word in its sentences; gives the sentences and cosines as lines."""
    from regard.data.readers import read_lines
    from regard.insight import draw_contexts
    from regard.insight.contexts import table
    from regard.tasks.contexts import word_contexts

    contexts = word_contexts(bert, word, [line for line in read_lines(sentences) if line.strip()])
    draw_contexts(contexts, out)
    return [*(f"{number:>4} {line}" for number, line in enumerate(contexts.sentences, start=1)), "", *table(contexts)]
