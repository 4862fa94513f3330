"""Tables of texts: TSV, CSV and JSONL, line by line, each row as a tuple of its columns or as what is wrong with it."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from regard.data.lines import Line, valid_unicode
from regard.errors import DataError

Fields = tuple[str, ...]
CORRECT = "correct the row"
SHOWN = 80  # characters of a bad row that are quoted


@dataclass(frozen=True)
class Table:
    """What the columns are called: first in our words, then in those that are understood, too. `inside`: a key under
    which JSON objects may have them; `rename`: what to do where they are called otherwise; `number`: a column that JSON
    objects may have as a number."""

    names: tuple[Fields, ...]
    inside: str = ""
    rename: str = "rename the keys"
    number: str = ""

    @property
    def width(self) -> int:
        return len(self.names[0])


class Row(NamedTuple):
    """The lines of a row, its texts or what is wrong with it, and the line to blame."""

    lines: Sequence[Line]
    result: Fields | DataError
    at: Line

    @property
    def text(self) -> str:
        return "\t".join(line.shown(SHOWN) for line in self.lines)[:SHOWN]


@dataclass(frozen=True)
class BadRow:
    """A row that could not be used; `text` is its beginning."""

    file: str
    line: int
    why: str
    text: str

    @classmethod
    def of(cls, row: Row, fault: DataError) -> "BadRow":
        return cls(row.at.file, row.at.number, _why(fault), row.text)

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.why}: {self.text}"


def kind_of(path: str) -> str:
    """The suffix that says how to read a file: ".csv" for "A.CSV.gz"; "-" for standard input."""
    return path if path == "-" else Path(path.lower().removesuffix(".gz")).suffix


def row_of(lines: Sequence[Line], parse: Callable[..., Fields], *, blame: Line | None = None) -> Row:
    """What `parse` makes of the texts of the lines; the first one is to blame, or the one that is not UTF-8."""
    at, texts = lines[0], []
    try:
        for at in lines:
            texts.append(at.decoded())
        at = blame or lines[0]
        result: Fields | DataError = parse(*texts)
    except DataError as fault:
        result = fault
    return Row(lines, result, at)


def filled(names: Fields, texts: Sequence[str]) -> Fields:
    """The texts without the space around them; none may be empty."""
    stripped = tuple(text.strip() for text in texts)
    empty = [name for name, text in zip(names, stripped, strict=True) if not text]
    if empty:
        raise DataError(f"empty {' and '.join(empty)}", do="fill in the text or delete the row")
    return stripped


def stopped(row: Row, fault: DataError, *, or_skip: bool) -> DataError:
    """The fault of a row as one that stops the reading: with its file, line and beginning."""
    found = f"{fault.found} in {row.text!r}" if fault.found else repr(row.text)
    do = f"{fault.do}; or skip such rows: data.bad_rows=skip" if or_skip else fault.do
    return row.at.blamed(DataError(fault.what, found=found, wanted=fault.wanted, do=do))


def _tsv(lines: Iterator[Line], table: Table) -> Iterator[Row]:
    """No header: every line is a row, whatever it says."""
    places = range(table.width)
    return (
        row_of([line], lambda text: _cells(text.split("\t"), table, places, table.width, "separated by one tab"))
        for line in lines
    )


def _csv(lines: Iterator[Line], table: Table) -> Iterator[Row]:
    """The columns in their order, or a header that names them. A row may span lines, and is named by its first."""
    places: Sequence[int] = range(table.width)
    count = table.width
    for number, (record, fields) in enumerate(_csv_records(lines)):
        header = _header(fields, table) if number == 0 else None
        if header:
            places, count = header
        else:
            yield row_of(record, partial(_csv_row, fields, table, places, count))


def _jsonl(lines: Iterator[Line], table: Table) -> Iterator[Row]:
    """An object per line, with a key per column."""
    return (row_of([line], partial(_json_row, table)) for line in lines)


Reader = Callable[[Iterator[Line], Table], Iterator[Row]]
READERS: dict[str, Reader] = {
    ".tsv": _tsv,
    ".csv": _csv,
    ".jsonl": _jsonl,
    ".json-lines": _jsonl,
    "-": _tsv,
}


def _cells(cells: list[str], table: Table, places: Sequence[int], count: int, how: str) -> Fields:
    if len(cells) != count:
        found = f"{len(cells)} column{'s' * (len(cells) != 1)}"
        raise DataError("wrong number of columns", found=found, wanted=f"{count} columns, {how}", do=CORRECT)
    return filled(table.names[0], [cells[place] for place in places])


def _csv_records(lines: Iterator[Line]) -> Iterator[tuple[list[Line], list[str] | DataError]]:
    """The lines and the fields of each row. Strict, or an open quote would swallow the rest of the file in silence."""
    record: list[Line] = []

    def feed() -> Iterator[str]:
        for line in lines:
            record.append(line)
            yield line.shown() + "\n"  # row_of refuses what is not UTF-8

    reader = csv.reader(feed(), strict=True)
    while True:
        record.clear()
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            span = f" (lines {record[0].number} to {record[-1].number} were taken as one row)" if record[1:] else ""
            do = 'close the quotes, and write a quote inside a text as ""'
            yield list(record), DataError("not CSV", found=str(error) + span, do=do)
        else:
            yield list(record), fields


def _header(fields: list[str] | DataError, table: Table) -> tuple[list[int], int] | None:
    """Where the columns are that this row names, and how many it has, if it is a header."""
    found = [] if isinstance(fields, DataError) else [field.strip().lower() for field in fields]
    for names in table.names:
        if set(names) <= set(found):
            return [found.index(name) for name in names], len(found)
    return None


def _csv_row(fields: list[str] | DataError, table: Table, places: Sequence[int], count: int, *_: str) -> Fields:
    if isinstance(fields, DataError):
        raise fields
    names = " and ".join(table.names[0])
    return _cells(fields, table, places, count, f"separated by a comma, or a header that names {names}")


def _json_row(table: Table, text: str) -> Fields:
    try:
        row = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError("not JSON", found=f"{error.msg} at column {error.colno}", do=CORRECT) from None
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, a thousand nested lists
        raise DataError("not readable JSON", found=str(error), do=CORRECT) from None
    held = row if isinstance(row, dict) else {}
    for texts in (held, held.get(table.inside)):
        named = {key.lower(): value for key, value in texts.items()} if isinstance(texts, dict) else {}
        for names in table.names:
            if set(names) <= set(named):
                return filled(table.names[0], [_text(name, named[name], table.number) for name in names])
    kind = f"an object with the keys {list(row)}" if isinstance(row, dict) else f"a {type(row).__name__}"
    raise DataError(
        f"no {' and '.join(table.names[0])} in this JSON",
        found=kind[: 2 * SHOWN],
        wanted="an object with " + ", or ".join(" and ".join(f'"{name}"' for name in names) for names in table.names),
        do=table.rename,
    )


def _text(key: str, value: object, number: str) -> str:
    if key == number and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise DataError(f'"{key}" is not text', found=json.dumps(value)[:SHOWN], wanted="a string", do=CORRECT)
    return valid_unicode(f'"{key}"', value)


def _why(fault: DataError) -> str:
    parts = [f"found {fault.found}" if fault.found else "", f"wanted {fault.wanted}" if fault.wanted else ""]
    return ": ".join(filter(None, [fault.what, ", ".join(filter(None, parts))]))
