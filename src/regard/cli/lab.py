"""regard lab"""

import sys
from pathlib import Path
from typing import Annotated

import typer

LARGEST = 2**63 - 1
"""What torch takes as a seed, with room for those that are derived from it."""


def lab(
    out: Annotated[Path, typer.Option(help="Directory for the report, the models and what was measured.")],
    claims: Annotated[list[str] | None, typer.Argument(help="Claims by name (default: all).")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One seed and short trainings: minutes, not hours.")] = False,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Models or claims at a time (default: as many as cores).")
    ] = None,
    seeds: Annotated[
        list[int] | None,
        typer.Option(
            min=0, max=LARGEST, help="A seed; give it again for more (default: 1 with --quick, else 4, 5, 6)."
        ),
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
    starts = tuple(dict.fromkeys(seeds or bench.usual_seeds(quick=quick)))
    shop = Shop(out, quick=quick, threads=max(1, cores() // at_once), watch=Labelled)
    bench.begin(shop)
    try:
        bench.run(chosen, shop, seeds=starts, jobs=at_once, say=_say)
    finally:  # what is done is told, however it ended
        results = bench.found(find(), shop, starts)
        page = findings.tell(results, shop, starts)
        _say(f"report: {page}")
    if as_json:
        sys.stdout.write((out / bench.KEPT).read_text(encoding="utf-8"))
    else:
        sys.stdout.write("".join(f"{findings.line(found)}\n" for found in results))


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
