"""Which texts are computed next, and which together."""

from dataclasses import replace
from threading import Thread

import pytest

from regard.server.messages import Job
from regard.server.work.batching import SHORT, Entry, Waiting, together


def entries(first: int, *lengths: int, verb: str = "translate", options: object = 1) -> list[Entry]:
    """Jobs of one request, numbered from `first`."""
    return [
        Entry(Job(first + number, verb, "", (("beam", options),)), length, length)
        for number, length in enumerate(lengths)
    ]


def ids(batch: list[Entry]) -> list[int]:
    return [entry.job.id for entry in batch]


def test_a_batch_has_texts_of_like_length_and_keeps_to_the_budget() -> None:
    waiting = entries(0, 10, 50, 11, 9, 30, 10)
    assert ids(together(waiting[0], waiting, 40)) == [0, 5, 2]  # 3 rows of 11; a fourth would make 44
    assert ids(together(waiting[1], waiting, 40)) == [1]  # larger than the budget: alone
    assert ids(together(waiting[0], waiting, 10_000)) == [0, 5, 2, 3, 4, 1]


def test_padding_counts() -> None:
    waiting = entries(0, 10, 12, 12)
    assert ids(together(waiting[0], waiting, 35)) == [0, 1]  # three rows would be 3 × 12


def test_other_options_and_other_verbs_are_computed_apart() -> None:
    queue = Waiting(1000)
    queue.add(entries(0, 5, options=5) + entries(1, 5, options=1))
    queue.add(entries(2, 5, options=5) + entries(3, 5, verb="attention", options=5))
    assert [ids(queue.next()) for _ in range(3)] == [[0, 2], [1], [3]]


def test_a_single_sentence_does_not_wait_for_a_book() -> None:
    queue = Waiting(30)
    queue.add(entries(0, *[10] * 100))
    assert ids(queue.next()) == [0, 1, 2]
    queue.add(entries(1000, 10))
    assert 1000 in ids(queue.next())


def test_the_book_goes_on_whatever_comes() -> None:
    queue = Waiting(10)
    queue.add(entries(0, *[10] * 20))
    served = []
    for number in range(40):
        queue.add(entries(1000 + number, 10))
        served += ids(queue.next())
    assert sum(id < 1000 for id in served[:20]) >= 4
    assert sum(id < 1000 for id in served[20:]) >= 2  # its share, of many who wait
    assert [id for id in served if id >= 1000] == list(range(1000, 1000 + 40 - sum(id < 1000 for id in served)))


def test_what_is_dropped_is_not_computed() -> None:
    queue = Waiting(1000)
    queue.add(entries(0, 5, 5, 5))
    queue.drop([1, 77])
    assert ids(queue.next()) == [0, 2]


def test_short_texts_pass_a_long_one_in_the_second_lane() -> None:
    queue = Waiting(4096)
    queue.add(entries(0, SHORT + 1))
    assert ids(queue.next()) == [0]  # the first lane is at it
    queue.add(entries(1, SHORT + 5) + entries(2, SHORT, 3))
    assert sorted(ids(queue.next_short())) == [2, 3]
    assert ids(queue.next()) == [1]


def test_the_second_lane_stays_out_of_the_way_while_the_first_is_at_short_ones() -> None:
    queue = Waiting(4096)
    queue.add(entries(0, 5))
    assert ids(queue.next()) == [0]
    queue.add(entries(1, 5))
    found: list[int] = []
    lane = Thread(target=lambda: found.extend(ids(queue.next_short())), daemon=True)
    lane.start()
    lane.join(0.2)
    assert found == []
    assert ids(queue.next()) == [1]
    queue.add(entries(2, SHORT + 1))
    assert ids(queue.next()) == [2]
    queue.add(entries(3, 5))
    lane.join(20)
    assert found == [3]


def test_one_that_may_have_ended_a_process_is_computed_alone() -> None:
    queue = Waiting(1000)
    first, second = entries(0, 5, 5)
    alone = Entry(Job(0, "translate", "", first.job.options, alone=True), 5, 5)
    queue.add([alone, second])
    assert [ids(queue.next()) for _ in range(2)] == [[0], [1]]


def test_nobody_is_written_beside_one_that_may_have_ended_a_process() -> None:
    queue = Waiting(100)
    first, second = entries(0, 5, 5, verb="complete")
    alone = Entry(Job(0, "complete", "", first.job.options, alone=True), 5, 100)
    queue.add([alone, second])
    assert ids(queue.newcomers("complete", 100, wait=False, beside=9)) == [], "others are being written"
    assert ids(queue.newcomers("complete", 100, wait=True, beside=9)) == [0]
    queue.add([replace(alone, job=replace(alone.job, id=7))])
    assert ids(queue.newcomers("complete", 100, wait=True, beside=9)) == [1]


@pytest.mark.parametrize(("room", "found"), [(100, [0, 1, 2]), (25, [0, 1]), (5, [])])
def test_newcomers_come_in_order_as_far_as_there_is_room(room: int, found: list[int]) -> None:
    queue = Waiting(100)
    queue.add(entries(0, 10, 10, 10, verb="complete"))
    queue.add(entries(7, 1, verb="attention"))
    assert ids(queue.newcomers("complete", room, wait=False)) == found
    assert ids(queue.next(but="complete")) == [7]


def test_short_newcomers_come_in_beside_long_ones_that_have_taken_all_room() -> None:
    queue = Waiting(1000)
    queue.add(entries(0, 600, 600, verb="complete"))
    queue.add(entries(5, 10, 10, 10, verb="complete"))
    first = queue.newcomers("complete", 605, wait=False, beside=2)
    assert [(entry.job.id, entry.cost) for entry in first] == [(0, 600), (5, 0), (6, 0)]
    assert ids(queue.newcomers("complete", 5, wait=False, beside=0)) == []
    assert ids(queue.newcomers("complete", 1000, wait=False, beside=0)) == [7, 1]


def test_a_newcomer_that_is_larger_than_the_budget_comes_in_alone() -> None:
    queue = Waiting(100)
    queue.add(entries(0, 300, 10, verb="complete"))
    assert ids(queue.newcomers("complete", 90, wait=False)) == []
    assert ids(queue.newcomers("complete", 100, wait=True)) == [0]
    assert ids(queue.newcomers("complete", 100, wait=True)) == [1]
