"""Where a problem is seen: lines of files, and what stands there."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from regard.data.lines import lines_of
from regard.doctor.problems import Example, Problem, visible

SHOWN = 60
"""Characters of a text that are shown."""


class Place(NamedTuple):
    """A line of a table, or of two files."""

    paths: tuple[str, ...]
    line: int


class Finding(NamedTuple):
    """A problem, where it is seen, and the side (0 source, 1 target, None both) that is to be shown."""

    problem: Problem
    places: Sequence[Place] = ()
    side: int | None = None


def with_examples(findings: Iterable[Finding]) -> list[Problem]:
    """The problems, with what stands at their places. Each file is read once more, as far as needed."""
    found = list(findings)
    wanted: dict[tuple[str, ...], set[int]] = {}
    for place in (place for finding in found for place in finding.places):
        wanted.setdefault(place.paths, set()).add(place.line)
    texts = {paths: _texts(paths, lines) for paths, lines in wanted.items()}

    def example(place: Place, side: int | None) -> Example:
        quoted, both = texts[place.paths][place.line], side is None or len(place.paths) == 1
        return Example(
            place.paths[0 if both else side or 0], place.line, " ⇥ ".join(quoted) if both else quoted[side or 0]
        )

    return [
        replace(problem, examples=tuple(example(place, side) for place in places)) if places else problem
        for problem, places, side in found
    ]


def _texts(paths: Sequence[str], wanted: set[int]) -> dict[int, list[str]]:
    """What these lines begin with: the cells of a table, a text of each file."""
    last, found = max(wanted), {}
    for lines in zip(*map(lines_of, paths), strict=False):
        number = lines[0].number
        if number in wanted:
            cells = lines[0].shown().split("\t") if len(paths) == 1 else [line.shown() for line in lines]
            most = 2 * SHOWN if len(cells) == 1 else SHOWN
            found[number] = [visible(cell, most) for cell in cells]
        if number == last:
            break
    return found
