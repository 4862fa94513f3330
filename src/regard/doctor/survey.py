"""One pass through the files of a split: what is odd is counted, what must be compared later is kept as numbers.

What is read are rows of one text or two. Each asks for something: a source for its target, a text for its label. Of
each row some 24 bytes are kept (two hashes, a line number …), so ten million of them take a quarter of a gigabyte.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from regard.data.tables import Row
from regard.doctor import oddities
from regard.doctor.characters import WITHOUT_SPACES, script_of
from regard.doctor.problems import Example, visible
from regard.doctor.sides import Side
from regard.doctor.slips import Stretch
from regard.errors import DataError

CHUNK = 4000
SHOWN = 3
"""Examples of each kind."""
LONGEST = 10_000
"""Longer lines are counted as this."""
DISTINCT = 1000
"""Different texts of a side are counted up to this number or more."""
Odd = Mapping[str, np.ndarray]
"""Kinds of oddities, and which texts have them."""


@dataclass
class Tally:
    """How many lines are odd in a certain way, and where the first of them stand."""

    count: int = 0
    lines: list[int] = field(default_factory=list)

    def add(self, found: np.ndarray, lines: np.ndarray) -> None:
        self.count += int(found.sum())
        if len(self.lines) < SHOWN:
            self.lines += lines[found][: SHOWN - len(self.lines)].tolist()


@dataclass
class BadRows:
    """Rows that cannot be read."""

    count: int = 0
    examples: list[Example] = field(default_factory=list)

    def add(self, row: Row, fault: DataError) -> None:
        self.count += 1
        if len(self.examples) < SHOWN:
            why = ", ".join(filter(None, [fault.what, fault.found and f"found {fault.found}"]))
            self.examples.append(Example(row.at.file, row.at.number, f"{why}: {visible(row.text, 80)}"))


@dataclass
class Survey:
    """Some files, read to the end (or to the `fault` that ended it). `tallies` are named by kind and side (0, 1, None
    for the whole row); `lengths[side][n]` is how many texts have n words (characters, without spaces). `sources` and
    `pairs` are hashes: of what asks, and of that together with what it asks for. `ratios` (logarithms) and `stretches`
    are of pairs; `labels`, as places in `classes`, and `distinct`, how many different texts each side has, are of
    labelled rows."""

    split: str
    paths: tuple[str, ...]
    scripts: tuple[tuple[str, ...], ...] = ()
    bad: BadRows = field(default_factory=BadRows)
    tallies: dict[tuple[str, int | None], Tally] = field(default_factory=lambda: defaultdict(Tally))
    characters: np.ndarray = field(default_factory=lambda: np.zeros(2, dtype=np.int64))
    lengths: list[np.ndarray] = field(default_factory=lambda: [np.zeros(LONGEST + 1, dtype=np.int64) for _ in "st"])
    lines: np.ndarray = field(default_factory=lambda: np.empty(0))
    sources: np.ndarray = field(default_factory=lambda: np.empty(0))
    pairs: np.ndarray = field(default_factory=lambda: np.empty(0))
    ratios: np.ndarray = field(default_factory=lambda: np.empty(0))
    stretches: list[Stretch] = field(default_factory=list)
    classes: tuple[str, ...] = ()
    labels: np.ndarray = field(default_factory=lambda: np.empty(0))
    distinct: tuple[int, ...] = ()
    fault: DataError | None = None

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def units(self) -> tuple[str, ...]:
        return tuple("characters" if WITHOUT_SPACES & set(scripts) else "words" for scripts in self.scripts)


def columns_of(rows: Iterator[Row], survey: Survey) -> Iterator[tuple[np.ndarray, list[tuple[str, ...]]]]:
    """The lines and the columns of the good rows, some thousands at a time. The bad ones are counted; a fault that ends
    the reading is kept, unless it comes before the first row: then it is an error as anywhere else."""
    for chunk in _chunks(rows, survey):
        good = [(row.lines[0].number, *row.result) for row in chunk if not isinstance(row.result, DataError)]
        for row in chunk:
            if isinstance(row.result, DataError):
                survey.bad.add(row, row.result)
        if good:
            numbers, *columns = zip(*good, strict=True)
            yield np.array(numbers, dtype=np.uint32), columns


def _chunks(rows: Iterator[Row], survey: Survey) -> Iterator[list[Row]]:
    chunk: list[Row] = []
    begun = False
    try:
        for row in rows:
            chunk.append(row)
            begun = True
            if len(chunk) == CHUNK:
                yield chunk
                chunk = []
    except DataError as fault:
        if not begun:
            raise
        survey.fault = fault
    if chunk:
        yield chunk


def scripts_of(languages: Sequence[str], sides: Sequence[Side]) -> tuple[tuple[str, ...], ...]:
    """The scripts of each side, by its language or by its letters."""
    both = zip(languages, sides, strict=True)
    return tuple(script_of(language, side.counts.sum(axis=0)) for language, side in both)


def odd(side: Side, scripts: tuple[str, ...]) -> dict[str, np.ndarray]:
    """What is odd in any text."""
    broken = oddities.broken(side, scripts)
    return {
        "mojibake": broken,
        "wrong-script": oddities.other_script(side, scripts) & ~broken,
        "control": oddities.control(side) & ~broken,
    }


def tally(survey: Survey, sides: Sequence[Side], found: Sequence[Odd], lines: np.ndarray) -> None:
    """Counts some texts of each side, and what was found odd in them."""
    for number, (side, kinds, unit) in enumerate(zip(sides, found, survey.units, strict=True)):
        for kind, where in kinds.items():
            survey.tallies[kind, number].add(where, lines)
        sizes = side.words if unit == "words" else side.lengths
        survey.lengths[number] += np.bincount(np.minimum(sizes, LONGEST), minlength=LONGEST + 1)
        survey.characters[number] += side.lengths.sum()


def hashed(values: Iterable[Hashable], count: int) -> np.ndarray:
    """The hashes of some texts or rows."""
    return np.fromiter(map(hash, values), dtype=np.int64, count=count)


class Gathered:
    """Numbers of each row that come in pieces, and are joined at the end."""

    def __init__(self, columns: int) -> None:
        self._parts: list[list[np.ndarray]] = [[] for _ in range(columns)]

    def add(self, *arrays: np.ndarray) -> None:
        for part, array in zip(self._parts, arrays, strict=True):
            part.append(array)

    def arrays(self) -> list[np.ndarray]:
        arrays = []
        while self._parts:
            parts = self._parts.pop(0)  # let go one after the other
            arrays.append(np.concatenate(parts) if parts else np.empty(0))
        return arrays
