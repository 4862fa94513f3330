"""Slipped lines are found where they are, and nowhere else."""

import random

import numpy as np
import pytest

from regard.data.readers import read_pairs
from regard.doctor import slips
from regard.doctor.sides import Side
from regard.doctor.slips import Kept, SlipFinder, Stretch, find
from tests.doctor.corpora import healthy, shared

NEAR = 15
"""Lines by which the place may be missed."""


def found(sources: list[str], targets: list[str]) -> list[Stretch]:
    return find(Kept.of(Side.of(sources)), Kept.of(Side.of(targets)))


@pytest.fixture
def sides() -> tuple[list[str], list[str]]:
    sources, targets = zip(*healthy(), strict=True)
    return list(sources), list(targets)


def test_nothing_is_found_in_healthy_data(sides: tuple[list[str], list[str]]) -> None:
    assert found(*sides) == []


@pytest.mark.parametrize("key", [len, str], ids=["by length", "by alphabet"])
def test_nothing_is_found_in_sorted_data(sides: tuple[list[str], list[str]], key: type) -> None:
    sources, targets = zip(*sorted(zip(*sides, strict=True), key=lambda pair: key(pair[0])), strict=True)
    assert found(list(sources), list(targets)) == []


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_lost_target_line_shifts_all_that_follow(sides: tuple[list[str], list[str]], lost: int) -> None:
    sources, targets = sides
    (stretch,) = found(sources[:-lost], targets[:1000] + targets[1000 + lost :])
    assert stretch.slip == -lost
    assert abs(stretch.first - 1000) <= NEAR
    assert stretch.end == len(sources) - lost
    assert all(stretch.first <= row < stretch.end for row in stretch.telling)


def test_a_target_line_too_many_shifts_the_other_way(sides: tuple[list[str], list[str]]) -> None:
    sources, targets = sides
    (stretch,) = found(sources, [*targets[:2000], "这是一句多余的话。", *targets[2000:-1]])
    assert stretch.slip == 1
    assert abs(stretch.first - 2000) <= NEAR


def test_a_shift_that_ends_is_found_with_its_end(sides: tuple[list[str], list[str]]) -> None:
    sources, targets = sides
    moved = [*targets[:1000], *targets[1001:1201], targets[1000], *targets[1201:]]
    (stretch,) = found(sources, moved)
    assert stretch.slip == -1
    assert abs(stretch.first - 1000) <= NEAR
    assert abs(stretch.end - 1200) <= NEAR


def test_a_file_that_is_shifted_from_the_first_line_on_is_found(sides: tuple[list[str], list[str]]) -> None:
    sources, targets = sides
    (stretch,) = found(sources[:-2], targets[2:])
    assert stretch[:3] == (0, len(sources) - 2, -2)


def test_lines_that_belong_to_no_line_near_are_found(sides: tuple[list[str], list[str]]) -> None:
    sources, targets = sides
    mixed = random.Random(1).sample(targets[1000:2000], 1000)
    (stretch,) = found(sources, [*targets[:1000], *mixed, *targets[2000:]])
    assert stretch.slip is None
    assert abs(stretch.first - 1000) <= NEAR
    assert abs(stretch.end - 2000) <= NEAR
    (stretch,) = found(sources, random.Random(1).sample(targets, len(targets)))
    assert stretch[:3] == (0, len(sources), None)


def test_windows_find_what_one_look_finds(sides: tuple[list[str], list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slips, "SPAN", 600)
    sources, targets = sides[0][:-1], sides[1][:700] + sides[1][701:]
    finder = SlipFinder()
    for first in range(0, len(sources), 250):
        finder.add(Side.of(sources[first : first + 250]), Side.of(targets[first : first + 250]))
    (stretch,) = finder.stretches()
    assert stretch.slip == -1
    assert abs(stretch.first - 700) <= NEAR
    assert stretch.end == len(sources)


def test_a_few_lines_are_not_judged() -> None:
    assert found(["a b"] * 20, ["c"] * 20) == []
    assert SlipFinder().stretches() == []


@pytest.mark.parametrize(
    ("folder", "names"),
    [
        ("multi30k", ("train.en.gz", "train.de.gz")),
        ("tatoeba-en-zh", ("train.tsv.gz",)),
        ("captions-en-zh", ("train.tsv.gz",)),
    ],
)
def test_in_pieces_of_real_data_every_slip_is_found_and_nothing_else(folder: str, names: tuple[str, ...]) -> None:
    text, draw = read_pairs(shared(folder, *names)), random.Random(1)
    source, target = Kept.of(Side.of(text.sources)), Kept.of(Side.of(text.targets))
    for size in [500, 1000, 3000] * 10:
        first = draw.randrange(len(text.sources) - size)
        lost = draw.randrange(200, size - 200)
        sources, targets = source.cut(first, first + size - 1), target.cut(first, first + size)
        assert find(sources, targets.cut(0, size - 1)) == []
        without = Kept(*(np.delete(array, lost) for array in targets))
        (stretch,) = find(sources, without)
        assert (stretch.slip, stretch.end) == (-1, size - 1)
        assert abs(stretch.first - lost) <= 2 * NEAR
