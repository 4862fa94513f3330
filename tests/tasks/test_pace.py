"""How many processes are tried, and which number is kept."""

import pytest

from regard.tasks.pace import Fixed, Measured, cores

SPEEDS = {
    "a machine of 8 cores": (8, {1: 100, 2: 190, 4: 360, 8: 700}, 8),
    "of 6": (6, {1: 100, 2: 190, 4: 360, 6: 500}, 6),
    "of 8 that share 4 kernels": (8, {1: 100, 2: 190, 4: 360, 8: 370}, 4),
    "where others are at work": (2, {1: 100, 2: 105}, 1),
    "with a single core": (1, {1: 100}, 1),
}


@pytest.mark.parametrize("name", SPEEDS)
def test_twice_as_many_are_kept_while_that_pays(name: str) -> None:
    most, speeds, best = SPEEDS[name]
    said: list[str] = []
    chosen: list[int] = []
    pace = Measured(float(speeds[1]), most, said.append, chosen.append)
    tried = []
    while not pace.settled:
        tried.append(pace.wanted)
        pace.told(1e9, pace.wanted - 1)  # not all were at work then
        for _ in range(tried[-1]):
            assert pace.wanted == tried[-1]
            pace.told(speeds[tried[-1]] / tried[-1], tried[-1])
    assert tried == [count for count in speeds if count > 1]
    assert pace.wanted == best
    assert chosen == ([best] if most > 1 else [])
    assert len(said) == len(tried)
    pace.told(1e9, best)
    assert pace.wanted == best


def test_a_number_that_was_asked_for_stays() -> None:
    pace = Fixed(3)
    for speed in (1.0, 1e9):
        pace.told(speed, 3)
    assert pace.wanted == 3


def test_there_is_a_core() -> None:
    assert cores() >= 1
