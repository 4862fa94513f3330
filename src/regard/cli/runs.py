"""regard runs"""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.errors import ConfigError, DataError

if TYPE_CHECKING:
    from regard.lab.runs import KnownRun
    from regard.report import Table


def runs(
    directories: Annotated[
        list[Path] | None, typer.Argument(help="Runs, or directories with runs below (default: here).")
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Show the settings that differ between these runs.")
    ] = False,
    report: Annotated[Path | None, typer.Option(help="Write a page with the curves of all runs: FILE.html.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything, as one JSON object.")] = False,
) -> None:
    """List training runs, the newest first: how far they are, what they score, which is the best."""
    from regard.lab.runs import compared, differences, find, listing, notes, page
    from regard.report.write import plain, write_page

    if report and report.suffix.lower() not in (".html", ".htm"):
        raise ConfigError("--report writes a page.", found=str(report), wanted="a name that ends in .html")
    places = directories or [Path()]
    found, where = find(places), " and ".join(map(str, places))
    if not found:
        raise DataError(f"There are no runs in or below {where}.", do="give the directory of a regard train --out")
    if as_json:
        sys.stdout.write(json.dumps(plain(_facts(found)), indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(_aligned(listing(found)) + "".join(f"{note}\n" for note in notes(found)))
        if compare:
            differ = _aligned(compared(found)) if differences(found) else "Their settings are all the same.\n"
            sys.stdout.write(f"\n{differ}")
    if report:
        write_page(page(found, title=f"Runs in {where}"), report)
        sys.stderr.write(f"written: {report}\n")


def _facts(found: "list[KnownRun]") -> dict[str, Any]:
    from regard.lab.runs import best_of, differences

    return {
        "runs": [{name: fact for name, fact in vars(run).items() if name != "records"} for run in found],
        "best": [run.name for run, _ in best_of(found)],
        "differences": differences(found),
    }


def _aligned(table: "Table") -> str:
    """The table in columns of equal width."""
    from rich.cells import cell_len

    lines = [[column.title for column in table.columns], *table.texts()]
    widths = [max(cell_len(line[i]) for line in lines) for i in range(len(table.columns))]
    sides = table.aligns()

    def cell(text: str, i: int) -> str:
        space = " " * (widths[i] - cell_len(text))
        return space + text if sides[i] == "right" else text + space

    return "".join("  ".join(cell(text, i) for i, text in enumerate(line)).rstrip() + "\n" for line in lines)
