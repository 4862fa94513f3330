"""`regard`: parse and print, nothing else. A file per command; torch is imported only when a command runs."""

import sys

import typer

from regard.cli.demo import demo
from regard.cli.evaluate import evaluate
from regard.cli.info import info
from regard.cli.look import look
from regard.cli.train import train
from regard.cli.translate import translate
from regard.errors import RegardError

app = typer.Typer(
    name="regard",
    help="Train, run and see attention models on your own text and machine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (demo, train, translate, evaluate, look, info):
    app.command()(command)


def main() -> None:
    """The entry point: an error of the user's is told in a few lines; exit codes 0, 1 (error), 2 (usage), 130
    (Ctrl-C)."""
    try:
        app()
    except RegardError as error:
        sys.stderr.write(f"regard: {error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)
