"""regard export"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from regard.config import nearest
from regard.errors import ConfigError

TO = "hf: for transformers and sentence-transformers; ctranslate2: for CTranslate2; word2vec: word vectors."
OUT = "New directory to write to; for word2vec a new file, x.txt or x.bin (.gz too)."


def export(
    model: Annotated[str, typer.Argument(help="Model directory.", show_default=False)],
    out: Annotated[Path, typer.Option(help=OUT, show_default=False)],
    to: Annotated[str, typer.Option(help=TO)] = "hf",
) -> None:
    """Write a model as others read it."""
    from regard.bundle import load
    from regard.engines.export import export_ctranslate2
    from regard.models.pretrained.export import FORMATS
    from regard.tasks.word_vectors import export_word2vec

    formats = {**FORMATS, "ctranslate2": export_ctranslate2, "word2vec": export_word2vec}
    if to not in formats:
        raise ConfigError(f"There is no format {to!r} to export to.", do=nearest(to, formats))
    written = formats[to](load(model), out)
    sys.stdout.write(f"{out}: {written}\n")
