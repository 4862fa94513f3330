"""Where each character of a text stands on a page of cells, as on a terminal: Chinese ones take two.

Lines end where the text ends them, and else between words; where a script has no spaces, between characters, but no
line begins with what closes (，。”) or ends with what opens.
"""

import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

TAB = 4


class Cell(NamedTuple):
    """Where a character begins, and how many cells it takes."""

    line: int
    column: int
    width: int


def laid_out(text: str, columns: int) -> list[Cell]:
    """The place of every character. A space or a line's end may stand behind the last column."""
    cells: list[Cell] = []
    line = column = 0
    for start, end in _chunks(text):
        needed = sum(width(char) for char in text[start:end].rstrip())
        if column and column + needed > columns:
            line, column = line + 1, 0
        for char in text[start:end]:
            size = width(char)
            if column + size > columns and not char.isspace():
                line, column = line + 1, 0
            cells.append(Cell(line, column, size))
            column = min(column + size, columns) if char.isspace() else column + size
            if char == "\n":
                line, column = line + 1, 0
    return cells


def width(char: str) -> int:
    """How many cells a character takes: none if it only changes the one before it."""
    if char == "\t":
        return TAB
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def drawable(text: str) -> str:
    """Without characters that cannot be drawn or written to a file: in their place stands �."""
    odd = {"Cc", "Cs", "Cn", "Co"}
    return "".join("\ufffd" if unicodedata.category(char) in odd and char not in "\n\t" else char for char in text)


def _chunks(text: str) -> Iterator[tuple[int, int]]:
    """The parts that are not broken, each with the spaces behind it."""
    start = 0
    for i in range(1, len(text)):
        if _may_break(text[i - 1], text[i]):
            yield start, i
            start = i
    if text:
        yield start, len(text)


def _may_break(before: str, after: str) -> bool:
    if before == "\n":
        return True
    if after.isspace():
        return False
    if before.isspace():
        return True
    closes = unicodedata.category(after) in {"Pe", "Pf", "Po"} or width(after) == 0
    opens = unicodedata.category(before) in {"Ps", "Pi"}
    return 2 in (width(before), width(after)) and not closes and not opens
