"""What a report is made of: sections of paragraphs, tables, plots, pictures and commands.

All text is plain text; the writers escape it. Numbers stay numbers, so that each writer can show them its way.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from regard.errors import DataError

NOTHING = "–"  # what is shown where there is no number
READ = 12  # points of a curve that its alternative text tells at most

Number = int | float


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Code:
    """Commands or output, shown as they are."""

    text: str


@dataclass(frozen=True)
class Cell:
    """A number that is shown as a text of its own ("31.2 ± 0.9") but judged by its value."""

    value: Number
    text: str


Content = str | Number | Cell | None


@dataclass(frozen=True)
class Column:
    """`format` is for the numbers in it (".2f"); `best` marks the largest or smallest of them in bold."""

    title: str
    format: str = ""
    best: Literal["max", "min"] | None = None
    align: Literal["left", "right", "center"] | None = None
    """None: right if the column has a number, else left."""


@dataclass(frozen=True)
class Table:
    """The first column names the rows. A cell is a text, a number, a Cell, or None: not known."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Content]]
    caption: str = ""
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows, start=1):
            if len(row) != len(self.columns):
                raise DataError(
                    f"Row {number} of the table {self.caption!r} does not fit its columns.",
                    found=f"{len(row)} cells",
                    wanted=f"{len(self.columns)}: {', '.join(column.title for column in self.columns)}",
                )

    def texts(self) -> list[list[str]]:
        """The rows as they are shown."""
        return [[_shown(cell, column) for cell, column in zip(row, self.columns, strict=True)] for row in self.rows]

    def aligns(self) -> list[str]:
        numeric = [any(_value(row[i]) is not None for row in self.rows) for i in range(len(self.columns))]
        return [c.align or ("right" if right else "left") for c, right in zip(self.columns, numeric, strict=True)]

    def best(self) -> set[tuple[int, int]]:
        """The places (row, column) of best values. What looks equal is equally good."""
        texts, places = self.texts(), set()
        for j, column in enumerate(self.columns):
            values = {i: value for i, row in enumerate(self.rows) if (value := _value(row[j])) is not None}
            if column.best and values:
                winner = (max if column.best == "max" else min)(values, key=values.__getitem__)
                places |= {(i, j) for i in values if values[i] == values[winner] or texts[i][j] == texts[winner][j]}
        return places


@dataclass(frozen=True)
class Series:
    """A line or a colour of bars: a value for each x, None where there is none; `low` and `high` bound them."""

    label: str
    values: Sequence[Number | None]
    low: Sequence[Number | None] | None = None
    high: Sequence[Number | None] | None = None


@dataclass(frozen=True)
class Plot:
    """Several series over the same x: categories (texts) or, for lines, numbers."""

    kind: Literal["lines", "bars"]
    x: Sequence[str] | Sequence[Number]
    series: Sequence[Series]
    x_title: str
    y_title: str
    caption: str = ""
    connected: bool = False
    """Lines go on over missing values; otherwise they leave a gap."""

    def __post_init__(self) -> None:
        for one in self.series:
            sizes = {len(values) for values in (one.values, one.low, one.high) if values is not None}
            if sizes != {len(self.x)} or (one.low is None) != (one.high is None):
                raise DataError(
                    f"The series {one.label!r} of a plot does not fit its x axis.",
                    found=f"{' and '.join(map(str, sorted(sizes)))} values",
                    wanted=f"{len(self.x)} values, and as many in both low and high or in neither",
                )

    @property
    def title(self) -> str:
        """What is shown over what; bars that stand for nothing but themselves have no x_title."""
        return f"{self.y_title} by {self.x_title}" if self.x_title else self.y_title

    def alt(self) -> str:
        """The plot in words, for those who cannot see it; of a long curve some points, evenly spread."""
        points = range(len(self.x))
        thinned = self.kind == "lines" and len(points) > READ
        told = [round(i * (len(points) - 1) / (READ - 1)) for i in range(READ)] if thinned else points
        lines = [f"{self.title}."] + [f"{READ} of {len(points)} points."] * thinned
        for one in self.series:
            values = [NOTHING if value is None else f"{value:.4g}" for value in one.values]
            lines.append(f"{one.label}: " + ", ".join(f"{self.x[i]}: {values[i]}" for i in told) + ".")
        return " ".join(lines)


@dataclass(frozen=True)
class Picture:
    """A picture made elsewhere (.svg or .png); `alt` says what is seen on it."""

    file: Path
    alt: str
    caption: str = ""


@dataclass(frozen=True)
class Pictures:
    """Several side by side, to be compared."""

    pictures: Sequence[Picture]


Block = Paragraph | Code | Table | Plot | Picture | Pictures


@dataclass(frozen=True)
class Section:
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Report:
    """`data` is what report.json holds: the numbers behind the sections, for programs."""

    title: str
    intro: str
    sections: Sequence[Section]
    data: Mapping[str, Any] = field(default_factory=dict)
    language: str = "en"


def clean(text: str) -> str:
    """The text without characters that no page may hold: controls and halves of surrogate pairs."""
    text = text.replace("\r\n", "\n")
    return "".join("\ufffd" if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\n\t" else c for c in text)


def _shown(cell: Content, column: Column) -> str:
    if cell is None:
        return NOTHING
    if isinstance(cell, str):
        return cell
    return cell.text if isinstance(cell, Cell) else format(cell, column.format)


def _value(cell: Content) -> Number | None:
    """What a cell counts in a comparison; nothing if it is a text, or not a number."""
    value = cell.value if isinstance(cell, Cell) else cell
    return None if value is None or isinstance(value, str) or value != value else value
