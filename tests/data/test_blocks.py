"""Blocks of a ring of tokens: all of them in every epoch, cut anew each time."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.blocks import BlockOrder, Ring
from regard.data.store import Column


def predicted(order: BlockOrder, epoch: int) -> Counter[int]:
    """How often each token of the ring is predicted in an epoch."""
    steps = range(epoch * order.updates_per_epoch, (epoch + 1) * order.updates_per_epoch)
    begins = np.concatenate([order[step] for step in steps])
    places = (begins[:, None] + 1 + np.arange(order.length)) % order.tokens
    return Counter(places.ravel().tolist())


@settings(deadline=None)
@given(st.integers(1, 200), st.integers(1, 30), st.integers(1, 100), st.integers(0, 3))
def test_an_epoch_predicts_every_token_and_few_twice(tokens: int, length: int, budget: int, epoch: int) -> None:
    length = min(tokens, length)
    order = BlockOrder(tokens, length, budget, seed=5)
    counts = predicted(order, epoch)
    assert sorted(counts) == list(range(tokens))
    assert max(counts.values()) <= 2
    assert sum(counts.values()) - tokens < length
    assert {order.epoch(step) for step in range(order.updates_per_epoch)} == {0}
    assert order.epoch(order.updates_per_epoch) == 1


def test_groups_fill_the_budget_and_differ_by_one_block_at_most() -> None:
    order = BlockOrder(1000, 7, 64, seed=1)  # 143 blocks, 9 fit
    sizes = [len(order[step]) for step in range(order.updates_per_epoch)]
    assert sum(sizes) == 143
    assert (min(sizes), max(sizes)) == (8, 9)
    assert [len(BlockOrder(1000, 7, 3, seed=1)[step]) for step in (0, 142)] == [1, 1]


def test_a_step_is_the_same_whatever_was_asked_before_and_another_for_another_seed() -> None:
    order, again = (BlockOrder(1000, 7, 64, seed=1) for _ in range(2))
    later = order[40].tolist()
    assert [order[step].tolist() for step in (0, 40)] == [again[step].tolist() for step in (0, 40)]
    assert order[40].tolist() == later
    assert BlockOrder(1000, 7, 64, seed=2)[0].tolist() != order[0].tolist()


def test_epochs_cut_at_other_places_in_another_order() -> None:
    order = BlockOrder(7000, 7, 70, seed=3)
    phases = [int(order[epoch * order.updates_per_epoch][0]) % 7 for epoch in range(20)]
    assert len(set(phases)) > 4
    begins = np.concatenate([order[step] for step in range(order.updates_per_epoch)])
    assert abs(np.corrcoef(np.arange(len(begins)), begins)[0, 1]) < 0.2


def test_the_ring_goes_on_at_its_beginning() -> None:
    ring = Ring(Column(np.arange(10, dtype=np.uint16), np.array([10])))
    found = ring.stretches(np.array([0, 8]), 4)
    assert found.tolist() == [[0, 1, 2, 3], [8, 9, 0, 1]]
    assert found.dtype == np.int64


@pytest.mark.parametrize("length", [1, 3, 10])
def test_blocks_that_divide_the_ring_predict_each_token_once(length: int) -> None:
    assert set(predicted(BlockOrder(30, length, 20, seed=0), 0).values()) == {1}
