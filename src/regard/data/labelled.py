"""Texts with labels, from tables: a text and its label, or two texts and the label of the pair."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from regard.data.lines import Line, joined_digest, lines_of, with_text
from regard.data.tables import READERS, Fields, Row, Table, kind_of, stopped
from regard.errors import DataError

ONE = Table((("text", "label"), ("sentence", "label")))
TWO = Table((("text", "second", "label"), ("sentence1", "sentence2", "label"), ("premise", "hypothesis", "label")))
SCORED = Table((("text", "second", "score"), ("sentence1", "sentence2", "score")))


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


def read_labelled(paths: Sequence[str], *, sides: int = 0, last: str = "label") -> Labelled:
    """The rows of some tables, one after the other. sides: 1 or 2 texts a row, 0 if the first row shall tell; last:
    "label", or "score" where the last column holds one."""
    texts: list[Fields] = []
    labels, places, digests = [], [], []
    for path in paths:
        digest = hashlib.sha256()
        for row in _rows(path, with_text(path, lines_of(path, digest.update)), sides, last):
            if isinstance(row.result, DataError):
                raise stopped(row, row.result, or_skip=False)
            *found, label = row.result
            sides = sides or len(found)
            texts.append(tuple(found))
            labels.append(label)
            places.append(f"{row.at.file}, line {row.at.number}")
        digests.append(digest.hexdigest())
    if not texts:
        raise DataError(f"There is no example in {' and '.join(paths) or 'no file'}.", do="add rows")
    return Labelled(tuple(texts), tuple(labels), tuple(places), joined_digest(digests))


def _rows(path: str, lines: Iterator[Line], sides: int, last: str) -> Iterator[Row]:
    kind = kind_of(path)
    if kind not in READERS:
        tables = " ".join(suffix for suffix in READERS if suffix != "-")
        raise DataError(f"{path} cannot be read as a table.", wanted=f"one of {tables}, each also .gz")
    read, first = READERS[kind], next(lines)  # with_text: there is one
    if last == "score":
        table = SCORED
    elif sides == 2 or (not sides and _fits(read(iter([first]), TWO))):
        table = TWO
    else:
        table = ONE
    return read(chain([first], lines), table)


def _fits(rows: Iterator[Row]) -> bool:
    """Whether a first line is a row or a header of its table."""
    return not any(isinstance(row.result, DataError) for row in rows)
