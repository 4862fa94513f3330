"""A text whose parts are coloured by a value, such as how surprising each was: a picture, or a page."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.errors import ConfigError, DataError
from regard.files import write_text
from regard.insight.canvas import SUFFIXES, paint
from regard.insight.coloured_page import page
from regard.insight.panels import GREY
from regard.insight.parts import DARK, PALETTE, Coloured
from regard.insight.wrapping import Cell, drawable, laid_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HTML = ".html"
COLUMNS = 92
SIZE = 11.0
"""Of the font, in points."""
ACROSS, DOWN = 0.602 * SIZE / 72, 1.75 * SIZE / 72
"""A cell in inches: as broad as a letter of a font whose letters are equally broad, as high as a line."""
EDGE, HEADING, LEGEND = 0.2, 0.24, 0.62
LONGEST = 20_000
"""Characters of a picture; a page takes any number."""


def draw_coloured(coloured: Coloured, path: Path | str) -> Path:
    """As .png or .svg, or as .html."""
    path = Path(path)
    check_drawing(coloured.text, path)
    if path.suffix.lower() == HTML:
        write_text(path, page(coloured))
        return path
    return paint(lambda: _figure(coloured), path)


def check_drawing(text: str, path: Path) -> None:
    """Refuses what cannot be drawn there."""
    if not text.strip():
        raise DataError("There is no text to draw.", found=repr(text[:20]))
    if path.suffix.lower() not in (*SUFFIXES, HTML):
        found = path.suffix or f"no suffix in {path.name}"
        raise ConfigError(
            "The suffix of a picture says what to write.", found=found, wanted=" or ".join((*SUFFIXES, HTML))
        )
    if len(text) > LONGEST and path.suffix.lower() != HTML:
        raise ConfigError(
            "The text is too long for a picture.",
            found=f"{len(text):,} characters",
            wanted=f"at most {LONGEST:,}",
            do="write .html, or draw a part of it",
        )


def _figure(coloured: Coloured) -> "Figure":
    from matplotlib.figure import Figure

    text = drawable(coloured.text)
    cells = laid_out(text, COLUMNS)
    lines = cells[-1].line + 1
    top = EDGE + HEADING * len(coloured.heading) + LEGEND
    size = (2 * EDGE + (COLUMNS + 1) * ACROSS, top + lines * DOWN + EDGE)
    figure = Figure(figsize=size)
    for i, line in enumerate(coloured.heading):
        y = 1 - (EDGE + HEADING * i) / size[1]
        figure.text(EDGE / size[0], y, line, size=11 if i == 0 else 9, color="black" if i == 0 else GREY, va="top")
    _legend(figure, coloured, size, top)
    axes = figure.add_axes((EDGE / size[0], EDGE / size[1], 1 - 2 * EDGE / size[0], lines * DOWN / size[1]))
    axes.set(xlim=(0, COLUMNS + 1), ylim=(lines, 0))
    axes.axis("off")
    _paint_parts(axes, coloured, cells)
    _write(axes, coloured, text, cells)
    return figure


def _legend(figure: "Figure", coloured: Coloured, size: tuple[float, float], top: float) -> None:
    """The colours and what they mean, under the heading."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    place = (EDGE / size[0], 1 - (top - LEGEND + 0.22) / size[1], 2.6 / size[0], 0.12 / size[1])
    bar = figure.colorbar(
        ScalarMappable(Normalize(0, coloured.most), PALETTE),
        cax=figure.add_axes(place),
        orientation="horizontal",
    )
    bar.outline.set_linewidth(0.5)
    bar.ax.tick_params(labelsize=8, length=2, width=0.5)
    x, y = (EDGE + 2.6 + 0.2) / size[0], 1 - (top - LEGEND + 0.16) / size[1]
    figure.text(x, y, coloured.legend, size=9, color=GREY, va="center")


def _paint_parts(axes: "Axes", coloured: Coloured, cells: Sequence[Cell]) -> None:
    """A box behind each part, one for each line that it touches; a little apart, so that each can be told."""
    from matplotlib import colormaps
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    boxes: list[Any] = []
    shares: list[float] = []
    for part, share in zip(coloured.joined(), coloured.shares(), strict=True):
        for line, run in groupby(cells[part.start : part.end], key=lambda cell: cell.line):
            row = list(run)
            last = max(cell.column + cell.width for cell in row)
            boxes.append(Rectangle((row[0].column + 0.05, line + 0.06), last - row[0].column - 0.1, 0.88))
            shares.append(share)
    axes.add_collection(PatchCollection(boxes, facecolors=colormaps[PALETTE](shares), edgecolors="none"))


def _write(axes: "Axes", coloured: Coloured, text: str, cells: Sequence[Cell]) -> None:
    """The text itself, run by run, each where its cells are: a font that is a little broader moves nothing else."""
    shares = coloured.shares_by_character()
    for start, end in _runs(text, cells, shares):
        cell, ending = cells[start], text[start] == "\n"
        colour = "white" if (shares[start] or 0) > DARK else GREY if ending else "black"
        shown = "↵" if ending else text[start:end]
        middle = cell.column + cell.width / 2 if cell.width == 2 else cell.column
        axes.text(
            middle,
            cell.line + 0.7,
            shown,
            size=SIZE,
            family=["monospace", "sans-serif"],
            color=colour,
            ha="center" if cell.width == 2 else "left",
            va="baseline",
        )


def _runs(text: str, cells: Sequence[Cell], shares: Sequence[float | None]) -> Iterator[tuple[int, int]]:
    """Narrow characters that stand next to each other and look alike; wide ones alone; ends of lines where they have a
    colour. Spaces are left out."""
    start = None
    for i, char in enumerate(text):
        goes_on = start is not None and cells[i].line == cells[start].line and not char.isspace()
        alike = goes_on and (cells[i].width == 0 or cells[i].width == cells[start or 0].width == 1)
        if alike and (cells[i].width == 0 or shares[i] == shares[i - 1]):
            continue
        if start is not None:
            yield start, i
        start = i if not char.isspace() or (char == "\n" and shares[i] is not None) else None
    if start is not None:
        yield start, len(text)
