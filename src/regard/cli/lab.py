"""regard lab"""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer


def lab(
    out: Annotated[Path, typer.Option(help="Directory for the report, the models and what was measured.")],
    claims: Annotated[list[str] | None, typer.Argument(help="Claims by name (default: all).")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One seed and short trainings: minutes, not hours.")] = False,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Models or claims at a time (default: as many as cores).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print lab.json instead of a line for each claim.")] = False,
) -> None:
    """Measure what is said of attention: every claim an experiment, with a number, a figure and a verdict."""
    from regard.cli.progress import Labelled
    from regard.lab import bench, findings
    from regard.lab.claims import find
    from regard.lab.shop import Shop
    from regard.training.launch import cores

    chosen = find(claims or ())
    at_once = jobs or cores()
    seeds = bench.SEEDS[:1] if quick else bench.SEEDS
    shop = Shop(out, quick=quick, threads=max(1, cores() // at_once), watch=Labelled)
    bench.run(chosen, shop, seeds=seeds, jobs=at_once, say=_say)
    results = bench.found(find(), shop, seeds)
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    page = findings.tell(results, out, quick=quick, command=command)
    if as_json:
        sys.stdout.write((out / bench.KEPT).read_text(encoding="utf-8"))
    else:
        sys.stdout.write("".join(f"{findings.line(found)}\n" for found in results))
    sys.stderr.write(f"report: {page}\n")


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
