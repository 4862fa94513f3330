"""Parallel text from files: lines → rows → pairs, in one pass.

One table (data/tables.py: TSV, CSV, JSONL) or two line-aligned text files; each may be gzipped, and "-" is standard
input. A row that cannot become a pair stops the reading or is skipped and listed, as the user chooses; nothing
disappears silently.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from regard.data.lines import Line, fingerprint, joined_digest, lines_of, read_lines, with_text
from regard.data.tables import READERS, BadRow, Fields, Row, Table, filled, kind_of, row_of, stopped
from regard.errors import DataError

__all__ = ["READERS", "BadRow", "PairReader", "ParallelText", "fingerprint", "read_lines", "read_pairs"]

Pair = tuple[str, str]
Langs = tuple[str, str] | None
NAMES = ("source", "target")


@dataclass(frozen=True)
class ParallelText:
    """`sources[i]` and `targets[i]` say the same; `fingerprint` is that of the files, taken while they were read."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    skipped: tuple[BadRow, ...]
    fingerprint: str = ""


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
        files = [with_text(path, lines_of(path, digest.update), wanted=each_line(self.paths)) for path, digest in read]
        self.skipped, found = [], False
        for row in rows_of(self.paths, files, self.langs):
            if not isinstance(row.result, DataError):
                found = True
                source, target = row.result
                yield source, target
            elif self.bad_rows == "skip":
                self.skipped.append(BadRow.of(row, row.result))
            else:
                raise stopped(row, row.result, or_skip=self.bad_rows is not None)
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


def each_line(paths: Sequence[str]) -> str:
    """What should be in each of the files."""
    return f"a {'pair' if len(paths) == 1 else 'sentence'} on each line"


def rows_of(paths: Sequence[str], files: Sequence[Iterator[Line]], langs: Langs) -> Iterator[Row]:
    """The rows of one table or of two files, good and bad, with the lines they stand on."""
    kinds = [kind_of(path) for path in paths]
    if len(paths) == 1 and kinds[0] in READERS:
        return READERS[kinds[0]](files[0], _table(langs))
    if len(paths) == 2 and kinds != ["-", "-"] and not any(kind in READERS for kind in kinds if kind != "-"):
        return _aligned(*files)
    tables = " ".join(suffix for suffix in READERS if suffix != "-")
    raise DataError(
        "these files cannot be read as pairs",
        found=f"{len(paths)} file{'s' * (len(paths) != 1)}: {', '.join(paths) or 'none'}",
        wanted=f'one table ({tables}, each also .gz, or "-": TSV from standard input) or two line-aligned text files',
        do="give one table, or the source file and the target file as plain text",
    )


def _table(langs: Langs) -> Table:
    if langs is None:
        do = "rename the keys, or name the languages that are keys: --langs en-zh"
        return Table((NAMES,), inside="translation", rename=do)
    return Table((NAMES, (langs[0].lower(), langs[1].lower())), inside="translation")


def _both(source: str, target: str) -> Fields:
    return filled(NAMES, (source, target))


def _aligned(sources: Iterator[Line], targets: Iterator[Line]) -> Iterator[Row]:
    source = target = None
    for ours, theirs in zip_longest(sources, targets):
        source, target = ours or source, theirs or target
        if ours and theirs:
            yield row_of((ours, theirs), _both, blame=theirs if ours.shown().strip() else ours)
    if source and target and source.number != target.number:
        raise DataError(
            "the two files are not line-aligned",
            found=f"{source.file} has {source.number} lines, {target.file} has {target.number} lines",
            wanted="equal line counts: line N of one is the translation of line N of the other",
            do="find where they part (an empty line dropped, a sentence split in two) and mend that file",
        )


def _nothing_left(paths: Sequence[str], skipped: list[BadRow]) -> DataError:
    first = f"; the first: {skipped[0].file}, line {skipped[0].line}: {skipped[0].why}" if skipped else ""
    return DataError(
        f"no pair is left of {' and '.join(paths)}",
        found=f"{len(skipped)} bad row{'s' * (len(skipped) != 1)}, all skipped{first}" if skipped else "only a header",
        wanted="at least one pair",
        do="mend the rows, or read them with data.bad_rows=stop to see the first in full" if skipped else "add pairs",
    )
