"""regard export"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from regard.config import nearest
from regard.errors import ConfigError


def export(
    model: Annotated[str, typer.Argument(help="Model directory.", show_default=False)],
    out: Annotated[Path, typer.Option(help="New directory to write to.", show_default=False)],
    to: Annotated[str, typer.Option(help="hf: for transformers and sentence-transformers.")] = "hf",
) -> None:
    """Write a model as others read it."""
    from regard.bundle import load
    from regard.models.pretrained.export import FORMATS

    if to not in FORMATS:
        raise ConfigError(f"There is no format {to!r} to export to.", do=nearest(to, FORMATS))
    written = FORMATS[to](load(model), out)
    sys.stdout.write(f"{out}: {written}\n")
