"""A word among its neighbours, and names that do not lie on each other."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from regard.insight import Neighbourhood, draw_neighbourhood
from regard.insight.labels import DOT, Box, is_far, place_labels

ROOM = (400.0, 300.0)


def test_cosines_are_with_the_first_word() -> None:
    found = Neighbourhood(("a", "b", "c"), np.array([[1.0, 0.0], [2.0, 2.0], [0.0, 3.0]]))
    assert found.neighbours() == [("b", pytest.approx(2**-0.5)), ("c", pytest.approx(0.0))]


@pytest.mark.parametrize("count", [1, 2, 30])
def test_every_word_is_in_the_picture(count: int, tmp_path: Path) -> None:
    words = ("银行", "$bank", *(f"word{number}" for number in range(count)))[:count]
    vectors = np.random.default_rng(1).normal(size=(count, 7))
    drawn = draw_neighbourhood(Neighbourhood(words, vectors), tmp_path / "x.svg").read_text(encoding="utf-8")
    assert all(f">{word}</text>" in drawn for word in words)
    assert draw_neighbourhood(Neighbourhood(words[1:] or ("a",), vectors[-len(words[1:] or "a") :]), tmp_path / "x.png")


def test_names_lie_neither_on_each_other_nor_on_dots_nor_outside() -> None:
    draw = np.random.default_rng(2)
    points = [(float(x), float(y)) for x, y in draw.normal((200, 150), 45, size=(20, 2))]
    boxes = place_labels(points, [(40.0, 13.0)] * len(points), ROOM)
    assert all(not a.overlap(b) for a, b in combinations(boxes, 2))
    assert all(not box.overlap(Box(*point, 2 * DOT, 2 * DOT)) for box in boxes for point in points)
    assert all(box.inside(ROOM) for box in boxes)


def test_a_name_stands_beside_its_dot_if_it_can() -> None:
    alone, edge = place_labels([(200.0, 150.0), (395.0, 20.0)], [(40.0, 13.0)] * 2, ROOM)
    assert alone.y == 150
    assert alone.x > 200
    assert edge.x < 395
    assert not is_far(alone, (200.0, 150.0))
    assert is_far(alone, (100.0, 150.0))


def test_where_there_is_no_room_each_name_has_a_place_all_the_same() -> None:
    assert len(place_labels([(5.0, 5.0)] * 9, [(40.0, 13.0)] * 9, (30.0, 30.0))) == 9
