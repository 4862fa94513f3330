"""Pairs to plant faults in, and files to put them into."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pytest

from regard.data.corpora import build
from regard.doctor import Problem

SHARED = Path(__file__).parents[3] / "shared" / "data"
Pairs = list[tuple[str, str]]


@cache
def _built() -> tuple[tuple[tuple[str, str], ...], ...]:
    corpus = build(train=3000, validation=200, test=100, contrasts=1)
    return tuple(tuple((pair.source, pair.target) for pair in split) for split in (corpus.train, corpus.validation))


def healthy() -> Pairs:
    """3,000 English–Chinese pairs."""
    return list(_built()[0])


def held_out() -> Pairs:
    """200 more."""
    return list(_built()[1])


def table(path: Path, pairs: Iterable[tuple[str, str]]) -> str:
    """A TSV file."""
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return str(path)


def text(path: Path, lines: Iterable[str]) -> str:
    """A file of lines."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def only(problems: Sequence[Problem], kind: str) -> Problem:
    """The one problem of this kind."""
    (found,) = [problem for problem in problems if problem.kind == kind]
    return found


def shared(folder: str, *names: str) -> tuple[str, ...]:
    """Files of the real data, if it is there."""
    paths = [SHARED / folder / name for name in names]
    if not all(path.exists() for path in paths):
        pytest.skip(f"the real data is not there: {SHARED / folder}")
    return tuple(map(str, paths))
