"""regard world"""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer


def world(
    out: Annotated[Path, typer.Option(help="Directory for train.jsonl, val.jsonl and test.jsonl.")] = Path("world"),
    goal: Annotated[
        Literal["moves", "chance"],
        typer.Option(help="What is to be foretold: where each one runs, or the hiders' chance to win, one number."),
    ] = "moves",
    scenes: Annotated[int, typer.Option(help="How many to train on.", min=1)] = 4000,
    seed: Annotated[int, typer.Option(help="Same seed, same world.", min=0)] = 1,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that say something else.")] = False,
) -> None:
    """Write the little world: hunters, hiders, walls and who sees whom, for --task entities."""
    from regard.data.corpora.world import write_world

    files = write_world(out, seed, goal=goal, train=scenes, overwrite=overwrite)
    options = [word for split in ("train", "val", "test") for word in (f"--{split}", *files[split])]
    command = ["regard", "train", "--task", "entities", *options, "--out", str(out / "model")]
    sys.stdout.write(f"{shlex.join(command)}\n")
