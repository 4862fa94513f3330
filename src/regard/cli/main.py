"""`regard`: parse and print, nothing else. A file per command; torch is imported only when a command runs."""

import io
import os
import sys
from typing import Annotated

import typer

from regard import __version__
from regard.cli.align import align
from regard.cli.classify import classify
from regard.cli.compare import compare
from regard.cli.demo import demo
from regard.cli.doctor import doctor
from regard.cli.embed import embed
from regard.cli.evaluate import evaluate
from regard.cli.export import export
from regard.cli.fill import fill
from regard.cli.generate import generate
from regard.cli.info import info
from regard.cli.lab import lab
from regard.cli.look import look
from regard.cli.predict import predict
from regard.cli.runs import runs
from regard.cli.search import search
from regard.cli.serve import serve
from regard.cli.surprisal import surprisal
from regard.cli.train import train
from regard.cli.translate import translate
from regard.cli.word import word
from regard.cli.world import world
from regard.errors import RegardError

app = typer.Typer(
    name="regard",
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
COMMANDS = (
    *(demo, doctor, train, evaluate, compare, lab, runs, info, export),
    *(translate, generate, fill, classify, predict, embed, search, serve),
    *(look, surprisal, word, align, world),
)
for command in COMMANDS:
    app.command()(command)


@app.callback()
def about(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.", is_eager=True)] = False,
) -> None:
    """Train, run and see attention models on your own text and machine."""
    if version:
        sys.stdout.write(f"regard {__version__}\n")
        raise typer.Exit


def main() -> None:
    """The entry point: an error of the user's is told in a few lines; exit codes 0, 1 (error), 2 (usage), 130
    (Ctrl-C)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # Chinese, whatever the locale
    try:
        app()
    except RegardError as error:
        sys.stderr.write(f"regard: {error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        _flush()


def _flush() -> None:
    """The end of the output; if nobody reads it (`regard … | head`), nothing is said. (The signal for that, SIGPIPE,
    stays ignored: it would also end a server when a client goes away.)"""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more when it ends
        sys.exit(1)
