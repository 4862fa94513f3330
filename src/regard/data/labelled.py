"""Texts with labels, from tables: a text and its label, or two texts and the label of the pair."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from regard.data.lines import Line, joined_digest, lines_of, with_text
from regard.data.tables import READERS, Fields, Reader, Table, kind_of, stopped
from regard.errors import DataError

ONE = Table((("text", "label"), ("sentence", "label")))
TWO = Table((("text", "second", "label"), ("sentence1", "sentence2", "label"), ("premise", "hypothesis", "label")))
PAIRED = Table((("text", "second"), ("sentence1", "sentence2"), ("question", "answer")))
SCORED = Table((("text", "second", "score"), ("sentence1", "sentence2", "score")), number="score")


@dataclass(frozen=True)
class Labelled:
    """`texts[i]` has one text or two, and belongs to `labels[i]`; `places[i]` says where it stands."""

    texts: tuple[Fields, ...]
    labels: tuple[str, ...]
    places: tuple[str, ...]
    fingerprint: str = ""

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def sides(self) -> int:
        """Texts in an example: one or two."""
        return len(self.texts[0])


def read_labelled(paths: Sequence[str], *tables: Table) -> Labelled:
    """The rows of some files, one after the other; the last column is the label. tables: what they may have as columns;
    which of these it is, the first row tells."""
    texts: list[Fields] = []
    labels, places, digests = [], [], []
    for path in paths:
        digest = hashlib.sha256()
        lines = with_text(path, lines_of(path, digest.update), wanted=rows_wanted(tables))
        first = next(lines)  # with_text: there is one
        tables = (fitting(path, first, tables),)
        for row in reader(path)(chain([first], lines), tables[0]):
            if isinstance(row.result, DataError):
                raise stopped(row, row.result, or_skip=False)
            *found, label = row.result
            texts.append(tuple(found))
            labels.append(label)
            places.append(f"{row.at.file}, line {row.at.number}")
        digests.append(digest.hexdigest())
    if not texts:
        raise DataError(f"There is no example in {' and '.join(paths) or 'no file'}.", do="add rows")
    return Labelled(tuple(texts), tuple(labels), tuple(places), joined_digest(digests))


def rows_wanted(tables: Sequence[Table]) -> str:
    """What should be in a file that is one of these."""
    return "rows of " + "; or of ".join(", ".join(table.names[0]) for table in dict.fromkeys(tables))


def reader(path: str) -> Reader:
    kind = kind_of(path)
    if kind not in READERS:
        wanted = " ".join(suffix for suffix in READERS if suffix != "-")
        raise DataError(f"{path} cannot be read as a table.", wanted=f"one of {wanted}, each also .gz")
    return READERS[kind]


def fitting(path: str, first: Line, tables: Sequence[Table]) -> Table:
    """The table that the first line is a row or a header of; the last one if none."""
    for table in tables:
        if not any(isinstance(row.result, DataError) for row in reader(path)(iter([first]), table)):
            return table
    return tables[-1]
