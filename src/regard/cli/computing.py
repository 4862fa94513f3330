"""--engine: who computes what a command asks a model for."""

import sys
from typing import Annotated

import typer

Engine = Annotated[
    str,
    typer.Option(help="Who computes: torch, ctranslate2, ctranslate2-int8; auto: the fastest that rounds nothing."),
]


def told(what: str) -> None:
    """A line for whoever started the command."""
    sys.stderr.write(f"regard: {what}\n")
    sys.stderr.flush()
