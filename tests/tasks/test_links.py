"""From weights to links, and from two readings to one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.tasks.links import SYMMETRISATIONS, Links, by_source, by_target, claims, grow_diag, pharaoh, turned

LINKS = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=14)
WEIGHTS = np.array([[0.7, 0.2, 0.1], [0.6, 0.1, 0.3]], dtype=np.float32)  # 2 target words, 3 source words


def test_each_target_word_is_linked_with_the_source_word_it_looks_at_most() -> None:
    assert by_target(WEIGHTS) == {(0, 0), (0, 1)}


def test_each_source_word_is_linked_with_the_target_word_that_looks_at_it_most() -> None:
    assert by_source(WEIGHTS) == {(0, 0), (1, 0), (2, 1)}


def test_a_word_that_gets_no_weight_has_no_link() -> None:
    weights = np.array([[0.0, 0.0], [0.4, 0.0]], dtype=np.float32)
    assert by_target(weights) == {(0, 1)}
    assert by_source(weights) == {(0, 1)}
    assert by_target(np.zeros((0, 3), dtype=np.float32)) == by_source(np.zeros((0, 3), dtype=np.float32)) == set()


def test_readings_equal_those_of_numpy() -> None:
    weights = np.random.default_rng(0).random((7, 5)).astype(np.float32)
    assert by_target(weights) == set(zip(weights.argmax(1).tolist(), range(7), strict=True))
    assert by_source(weights) == set(zip(range(5), weights.argmax(0).tolist(), strict=True))


def test_growing_adds_neighbours_of_words_that_are_still_free() -> None:
    first, second = frozenset({(0, 0), (1, 1), (4, 4)}), frozenset({(0, 0), (2, 2), (4, 4), (5, 3)})
    # (1, 1) touches (0, 0), then (2, 2) touches (1, 1); (5, 3) touches (4, 4) at a corner
    assert grow_diag(first, second) == first | second
    # (1, 0) touches (0, 0), but both of its words are linked
    assert grow_diag(frozenset({(0, 0), (1, 1), (1, 0)}), frozenset({(0, 0), (1, 1)})) == {(0, 0), (1, 1)}
    assert grow_diag(frozenset({(0, 0), (3, 3)}), frozenset({(0, 0), (3, 5)})) == {(0, 0)}  # too far away
    assert grow_diag(frozenset({(0, 0)}), frozenset({(1, 1)})) == set()  # nothing to begin with


def grown_by_the_book(first: Links, second: Links) -> Links:
    """The pseudo-code of Koehn, Och & Marcu as it stands, on a grid: target words outside, source words inside."""
    union = first | second
    grid = np.zeros((6, 6), dtype=bool)
    for link in first & second:
        grid[link] = True
    added = True
    while added:
        added = False
        for j in range(6):
            for i in range(6):
                for a, b in (
                    ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)) if grid[i, j] else ()
                ):
                    new = i + a, j + b
                    if new in union and not (grid[new[0]].any() and grid[:, new[1]].any()):
                        grid[new] = added = True
    return frozenset((int(i), int(j)) for i, j in np.argwhere(grid))


@given(LINKS, LINKS)
def test_growing_is_that_of_the_book(first: Links, second: Links) -> None:
    assert grow_diag(first, second) == grown_by_the_book(first, second)


@given(LINKS, LINKS)
def test_the_intersection_lies_in_what_grows_and_that_in_the_union(first: Links, second: Links) -> None:
    made = {name: combine(first, second) for name, combine in SYMMETRISATIONS.items()}
    assert made["intersection"] <= made["grow-diag"] <= made["union"]
    assert made["intersection"] <= made["none"] <= made["union"]


@given(LINKS)
def test_what_agrees_stays_as_it_is(links: Links) -> None:
    assert all(combine(links, links) == links for combine in SYMMETRISATIONS.values())
    assert turned(turned(links)) == links


@pytest.mark.parametrize(
    ("links", "line"), [(frozenset({(1, 2), (0, 0), (10, 1), (2, 1)}), "0-0 1-2 2-1 10-1"), (frozenset(), "")]
)
def test_a_line_of_pharaoh_is_in_order(links: Links, line: str) -> None:
    assert pharaoh(links) == line


def test_a_word_that_all_look_at_is_claimed_by_none() -> None:
    weights = np.array([[0.5, 0.4, 0.0], [0.5, 0.0, 0.4], [0.6, 0.1, 0.1]])
    assert by_target(weights) == {(0, 0), (0, 1), (0, 2)}
    assert by_target(claims(weights)) == {(1, 0), (2, 1), (0, 2)}
    expected = [[w * w / sum(row[i] for row in weights) for i, w in enumerate(row)] for row in weights]
    assert np.allclose(claims(weights), expected)
    assert not claims(np.zeros((2, 2))).any()
