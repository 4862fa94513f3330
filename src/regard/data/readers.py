"""Parallel text from files: lines → rows → pairs, in one pass.

One table (`READERS`: TSV, CSV, JSONL) or two line-aligned text files; each may be gzipped, and "-" is standard input.
A row that cannot become a pair stops the reading or is skipped and listed, as the user chooses; nothing disappears
silently.
"""

import csv
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Literal, NamedTuple

from regard.data.lines import Line, fingerprint, joined_digest, lines_of, read_lines, with_text
from regard.errors import DataError

__all__ = ["READERS", "BadRow", "PairReader", "ParallelText", "fingerprint", "read_lines", "read_pairs"]

Pair = tuple[str, str]
Langs = tuple[str, str] | None
Columns = tuple[int, int, int]  # where the source stands, where the target stands, how many columns there are
TWO: Columns = (0, 1, 2)
CORRECT = "correct the row"
SHOWN = 80  # characters of a bad row that are quoted


@dataclass(frozen=True)
class BadRow:
    """A row that gave no pair; `text` is its beginning."""

    file: str
    line: int
    why: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.why}: {self.text}"


@dataclass(frozen=True)
class ParallelText:
    """`sources[i]` and `targets[i]` say the same; `fingerprint` is that of the files, taken while they were read."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    skipped: tuple[BadRow, ...]
    fingerprint: str = ""


class Row(NamedTuple):
    """The lines of a row, its pair or what is wrong with it, and the line to blame."""

    lines: Sequence[Line]
    result: Pair | DataError
    at: Line

    @property
    def text(self) -> str:
        return "\t".join(line.shown(SHOWN) for line in self.lines)[:SHOWN]


class PairReader:
    """The pairs of one table or of two line-aligned files, one by one; `langs` names the columns or keys (source,
    target). It may be gone through again, unless it is standard input. `skipped` and `fingerprint` belong to the last
    time it was gone through to the end.

    bad_rows is the setting data.bad_rows; None where there is no such setting: then a bad row stops the reading.
    """

    def __init__(
        self, paths: Sequence[str], *, langs: Langs = None, bad_rows: Literal["stop", "skip"] | None = None
    ) -> None:
        self.paths, self.langs, self.bad_rows = paths, langs, bad_rows
        self.skipped: list[BadRow] = []
        self.fingerprint = ""

    def __iter__(self) -> Iterator[Pair]:
        digests = [hashlib.sha256() for _ in self.paths]
        read = zip(self.paths, digests, strict=True)
        files = [with_text(path, lines_of(path, digest.update)) for path, digest in read]
        self.skipped, found = [], False
        for row in rows_of(self.paths, files, self.langs):
            if not isinstance(row.result, DataError):
                found = True
                yield row.result
            elif self.bad_rows == "skip":
                self.skipped.append(BadRow(row.at.file, row.at.number, _why(row.result), row.text))
            else:
                raise _stopped(row, row.result, or_skip=self.bad_rows is not None)
        if not found:
            raise _nothing_left(self.paths, self.skipped)
        self.fingerprint = joined_digest([digest.hexdigest() for digest in digests])


def read_pairs(
    paths: Sequence[str], *, langs: Langs = None, bad_rows: Literal["stop", "skip"] | None = None
) -> ParallelText:
    """All pairs at once (see `PairReader`)."""
    reader = PairReader(paths, langs=langs, bad_rows=bad_rows)
    sources, targets = zip(*reader, strict=True)
    return ParallelText(sources, targets, tuple(reader.skipped), reader.fingerprint)


def rows_of(paths: Sequence[str], files: Sequence[Iterator[Line]], langs: Langs) -> Iterator[Row]:
    """The rows of one table or of two files, good and bad, with the lines they stand on."""
    # the suffix says how to read a file: ".csv" for "A.CSV.gz", "-" for standard input
    kinds = [path if path == "-" else Path(path.lower().removesuffix(".gz")).suffix for path in paths]
    if len(paths) == 1 and kinds[0] in READERS:
        return READERS[kinds[0]](files[0], langs)
    if len(paths) == 2 and kinds != ["-", "-"] and not any(kind in READERS for kind in kinds if kind != "-"):
        return _aligned(*files)
    tables = " ".join(suffix for suffix in READERS if suffix != "-")
    raise DataError(
        "these files cannot be read as pairs",
        found=f"{len(paths)} file{'s' * (len(paths) != 1)}: {', '.join(paths) or 'none'}",
        wanted=f'one table ({tables}, each also .gz, or "-": TSV from standard input) or two line-aligned text files',
        do="give one table, or the source file and the target file as plain text",
    )


def _row(lines: Sequence[Line], parse: Callable[..., Pair], *, blame: Line | None = None) -> Row:
    """What `parse` makes of the texts of the lines; the first one is to blame, or the one that is not UTF-8."""
    at, texts = lines[0], []
    try:
        for at in lines:
            texts.append(at.decoded())
        at = blame or lines[0]
        result: Pair | DataError = parse(*texts)
    except DataError as fault:
        result = fault
    return Row(lines, result, at)


def _both(source: str, target: str) -> Pair:
    pair = source.strip(), target.strip()
    empty = [name for name, text in zip(("source", "target"), pair, strict=True) if not text]
    if empty:
        raise DataError(f"empty {' and '.join(empty)}", do="fill in the text or delete the row")
    return pair


def _aligned(sources: Iterator[Line], targets: Iterator[Line]) -> Iterator[Row]:
    source = target = None
    for ours, theirs in zip_longest(sources, targets):
        source, target = ours or source, theirs or target
        if ours and theirs:
            yield _row((ours, theirs), _both, blame=theirs if ours.shown().strip() else ours)
    if source and target and source.number != target.number:
        raise DataError(
            "the two files are not line-aligned",
            found=f"{source.file} has {source.number} lines, {target.file} has {target.number} lines",
            wanted="equal line counts: line N of one is the translation of line N of the other",
            do="find where they part (an empty line dropped, a sentence split in two) and mend that file",
        )


# ---- tables


def _tsv(lines: Iterator[Line], langs: Langs) -> Iterator[Row]:
    """Two columns and no header: every line is a pair, whatever `langs`."""
    return (_row([line], lambda text: _cells(text.split("\t"), TWO, "separated by one tab")) for line in lines)


def _csv(lines: Iterator[Line], langs: Langs) -> Iterator[Row]:
    """Two columns, or a header that names them. A row may span lines, and is named by its first."""
    columns = TWO
    for number, (record, fields) in enumerate(_csv_records(lines)):
        header = _header(fields, langs) if number == 0 else None
        if header:
            columns = header
        else:
            yield _row(record, partial(_csv_pair, fields, columns))


def _jsonl(lines: Iterator[Line], langs: Langs) -> Iterator[Row]:
    """An object per line with the keys "source" and "target", or the two languages, at the top or in "translation"."""
    return (_row([line], partial(_json_pair, langs)) for line in lines)


READERS: dict[str, Callable[[Iterator[Line], Langs], Iterator[Row]]] = {
    ".tsv": _tsv,
    ".csv": _csv,
    ".jsonl": _jsonl,
    ".json-lines": _jsonl,
    "-": _tsv,
}


def _names(langs: Langs) -> list[Pair]:
    return [("source", "target"), *([(langs[0].lower(), langs[1].lower())] if langs else [])]


def _cells(cells: list[str], columns: Columns, how: str) -> Pair:
    source, target, count = columns
    if len(cells) != count:
        found = f"{len(cells)} column{'s' * (len(cells) != 1)}"
        raise DataError("wrong number of columns", found=found, wanted=f"{count} columns, {how}", do=CORRECT)
    return _both(cells[source], cells[target])


def _csv_records(lines: Iterator[Line]) -> Iterator[tuple[list[Line], list[str] | DataError]]:
    """The lines and the fields of each row. Strict, or an open quote would swallow the rest of the file in silence."""
    record: list[Line] = []

    def feed() -> Iterator[str]:
        for line in lines:
            record.append(line)
            yield line.shown() + "\n"  # _row refuses what is not UTF-8

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


def _header(fields: list[str] | DataError, langs: Langs) -> Columns | None:
    """The columns that this row names, if it is a header."""
    names = [] if isinstance(fields, DataError) else [field.strip().lower() for field in fields]
    for source, target in _names(langs):
        if source in names and target in names:
            return names.index(source), names.index(target), len(names)
    return None


def _csv_pair(fields: list[str] | DataError, columns: Columns, *_: str) -> Pair:
    if isinstance(fields, DataError):
        raise fields
    return _cells(fields, columns, "separated by a comma, or a header that names source and target")


def _json_pair(langs: Langs, text: str) -> Pair:
    try:
        row = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError("not JSON", found=f"{error.msg} at column {error.colno}", do=CORRECT) from None
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, a thousand nested lists
        raise DataError("not readable JSON", found=str(error), do=CORRECT) from None
    held = row if isinstance(row, dict) else {}
    for texts in (held, held.get("translation")):
        named = {key.lower(): value for key, value in texts.items()} if isinstance(texts, dict) else {}
        for source, target in _names(langs):
            if source in named and target in named:
                return _both(_text(source, named[source]), _text(target, named[target]))
    kind = f"an object with the keys {list(row)}" if isinstance(row, dict) else f"a {type(row).__name__}"
    raise DataError(
        "no pair in this JSON",
        found=kind[: 2 * SHOWN],
        wanted="an object with " + ", or ".join(f'"{source}" and "{target}"' for source, target in _names(langs)),
        do="rename the keys" if langs else "rename the keys, or name the languages that are keys: --langs en-zh",
    )


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise DataError(f'"{key}" is not text', found=json.dumps(value)[:SHOWN], wanted="a string", do=CORRECT)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        found = f"a lone surrogate, \\u{ord(value[error.start]):04x}, at character {error.start}"
        raise DataError(f'"{key}" is not valid Unicode', found=found, do=CORRECT) from None
    return value


# ---- what the user is told


def _why(fault: DataError) -> str:
    parts = [f"found {fault.found}" if fault.found else "", f"wanted {fault.wanted}" if fault.wanted else ""]
    return ": ".join(filter(None, [fault.what, ", ".join(filter(None, parts))]))


def _stopped(row: Row, fault: DataError, *, or_skip: bool) -> DataError:
    found = f"{fault.found} in {row.text!r}" if fault.found else repr(row.text)
    do = f"{fault.do}; or skip such rows: data.bad_rows=skip" if or_skip else fault.do
    return row.at.blamed(DataError(fault.what, found=found, wanted=fault.wanted, do=do))


def _nothing_left(paths: Sequence[str], skipped: list[BadRow]) -> DataError:
    first = f"; the first: {skipped[0].file}, line {skipped[0].line}: {skipped[0].why}" if skipped else ""
    return DataError(
        f"no pair is left of {' and '.join(paths)}",
        found=f"{len(skipped)} bad row{'s' * (len(skipped) != 1)}, all skipped{first}" if skipped else "only a header",
        wanted="at least one pair",
        do="mend the rows, or read them with data.bad_rows=stop to see the first in full" if skipped else "add pairs",
    )
