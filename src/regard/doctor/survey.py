"""One pass through the files of a split: what is odd is counted, what must be compared later is kept as numbers.

For each pair 24 bytes are kept (two hashes, a line number, a ratio), so ten million pairs take a quarter of a gigabyte.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from regard.data.lines import lines_of, with_text
from regard.data.readers import rows_of
from regard.data.tables import Row
from regard.doctor import oddities
from regard.doctor.characters import WITHOUT_SPACES, script_of
from regard.doctor.problems import Example, visible
from regard.doctor.sides import Side
from regard.doctor.slips import SlipFinder, Stretch
from regard.errors import DataError
from regard.watching import Watch

CHUNK = 4000
SHOWN = 3
"""Examples of each kind."""
SHORT = 20
"""Characters up to which the lengths of two lines say little of each other."""
LONGEST = 10_000
"""Longer lines are counted as this."""
Langs = tuple[str, str]


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
    """Rows that are no pairs."""

    count: int = 0
    examples: list[Example] = field(default_factory=list)

    def add(self, row: Row, fault: DataError) -> None:
        self.count += 1
        if len(self.examples) < SHOWN:
            why = ", ".join(filter(None, [fault.what, fault.found and f"found {fault.found}"]))
            self.examples.append(Example(row.at.file, row.at.number, f"{why}: {visible(row.text, 80)}"))


@dataclass
class Survey:
    """One table or two files, read to the end (or to the `fault` that ended it). `tallies` are named by kind and side
    (0 source, 1 target, None both); `lengths[side][n]` is how many texts have n words (characters, without spaces).
    `sources` and `pairs` are hashes, `ratios` logarithms."""

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
    fault: DataError | None = None

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def units(self) -> tuple[str, ...]:
        return tuple("characters" if WITHOUT_SPACES & set(scripts) else "words" for scripts in self.scripts)


def read(split: str, paths: Sequence[str], langs: Langs, watch: Watch) -> Survey:
    """Goes through a table or two files. What cannot be opened, or is no text at all, is an error as anywhere else."""
    survey = Survey(split, tuple(paths))
    kept = _Gathered()
    finder = SlipFinder()
    rows = rows_of(paths, [with_text(path, lines_of(path)) for path in paths], langs if all(langs) else None)
    for chunk in _chunks(watch(rows, total=0, what=f"reading {split}"), survey):
        good = [(row.lines[0].number, *row.result) for row in chunk if not isinstance(row.result, DataError)]
        for row in chunk:
            if isinstance(row.result, DataError):
                survey.bad.add(row, row.result)
        if good:
            numbers, sources, targets = zip(*good, strict=True)
            sides, lines = (Side.of(sources), Side.of(targets)), np.array(numbers, dtype=np.uint32)
            survey.scripts = survey.scripts or _scripts(langs, sides)
            _judge(survey, sides, lines)
            kept.add(sides, lines)
            finder.add(*sides)
    survey.lines, survey.sources, survey.pairs, survey.ratios = kept.arrays()
    survey.stretches = finder.stretches()
    return survey


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


def _scripts(langs: Langs, sides: Sequence[Side]) -> tuple[tuple[str, ...], ...]:
    both = zip(langs, sides, strict=True)
    return tuple(script_of(language, side.counts.sum(axis=0)) for language, side in both)


def _judge(survey: Survey, sides: tuple[Side, Side], lines: np.ndarray) -> None:
    copies = oddities.copied(*sides)
    survey.tallies["copied", None].add(copies, lines)
    for number, (side, scripts, unit) in enumerate(zip(sides, survey.scripts, survey.units, strict=True)):
        broken = oddities.broken(side, scripts)
        found = {
            "mojibake": broken,
            "wrong-script": oddities.other_script(side, scripts) & ~broken & ~copies,
            "control": oddities.control(side) & ~broken,
            "long-line": oddities.long(side),
        }
        for kind, where in found.items():
            survey.tallies[kind, number].add(where, lines)
        sizes = side.words if unit == "words" else side.lengths
        survey.lengths[number] += np.bincount(np.minimum(sizes, LONGEST), minlength=LONGEST + 1)
        survey.characters[number] += side.lengths.sum()


class _Gathered:
    """What is kept of each pair: line, hash of the source, hash of both, log ratio of the lengths (or nothing, if both
    are short)."""

    def __init__(self) -> None:
        self._parts: list[list[np.ndarray]] = [[], [], [], []]

    def add(self, sides: tuple[Side, Side], lines: np.ndarray) -> None:
        source, target = sides
        hashed: Callable[..., np.ndarray] = partial(np.fromiter, dtype=np.int64, count=len(lines))
        ratios = np.log(target.lengths / source.lengths).astype(np.float32)
        ratios[np.maximum(source.lengths, target.lengths) < SHORT] = np.nan
        found = (
            lines,
            hashed(map(hash, source.texts)),
            hashed(map(hash, zip(*(s.texts for s in sides), strict=True))),
            ratios,
        )
        for part, array in zip(self._parts, found, strict=True):
            part.append(array)

    def arrays(self) -> list[np.ndarray]:
        arrays = []
        while self._parts:
            parts = self._parts.pop(0)  # let go one after the other
            arrays.append(np.concatenate(parts) if parts else np.empty(0))
        return arrays
