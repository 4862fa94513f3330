"""Batches keep to their budget, lose no row, waste little, and are a function of (seed, step)."""

import tracemalloc
from dataclasses import FrozenInstanceError
from itertools import count, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.batches import Order, PairBatch, group_by_length, pad
from regard.seeds import derive

SIZES = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=40).map(np.array)


def like_multi30k(rows: int = 29_000) -> np.ndarray:
    """Lengths as BPE of 6,000 entries gives them: log-normal, means 14.8 and 17.5, correlation 0.86."""
    common, *own = np.random.default_rng(0).standard_normal((3, rows))
    logs = [
        mean + 0.32 * (0.86**0.5 * common + 0.14**0.5 * noise) for mean, noise in zip((2.64, 2.81), own, strict=True)
    ]
    return np.stack([np.clip(np.exp(log).round(), 4, 60).astype(np.int64) for log in logs], axis=1)


def first_step(order: Order, number: int) -> int:
    """Of an epoch, found by asking step by step."""
    return next(step for step in count() if order.epoch(step) == number)


def epoch(order: Order, number: int) -> list[np.ndarray]:
    return [order[step] for step in range(first_step(order, number), first_step(order, number + 1))]


def same(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    return [group.tolist() for group in one] == [group.tolist() for group in other]


@given(lengths=SIZES, budget=st.integers(1, 100))
@settings(deadline=None)
def test_every_side_of_a_group_keeps_to_the_budget_unless_one_row_is_too_long_alone(
    lengths: np.ndarray, budget: int
) -> None:
    groups = group_by_length(lengths, budget, np.arange(len(lengths)))
    for group in groups:
        assert len(group) == 1 or (len(group) * lengths[group].max(axis=0) <= budget).all()
    assert sorted(row for group in groups for row in group) == list(range(len(lengths)))


@given(lengths=SIZES, budget=st.integers(1, 100))
@settings(deadline=None)
def test_a_group_ends_only_where_the_next_row_would_not_fit(lengths: np.ndarray, budget: int) -> None:
    groups = group_by_length(lengths, budget, np.arange(len(lengths)))
    for group, following in pairwise(groups):
        grown = [*group, following[0]]
        assert len(grown) * lengths[grown].max() > budget


def test_groups_may_have_one_side_or_three() -> None:
    for sides in (1, 3):
        lengths = np.random.default_rng(0).integers(1, 9, (50, sides))
        groups = group_by_length(lengths, 24, np.arange(50))
        assert all(len(group) * lengths[group].max() <= 24 for group in groups)


@given(lengths=SIZES, seed=st.integers(0, 9))
@settings(deadline=None, max_examples=50)
def test_each_epoch_has_every_row_once(lengths: np.ndarray, seed: int) -> None:
    order = Order(lengths, 60, seed)
    for number in range(3):
        assert sorted(row for group in epoch(order, number) for row in group) == list(range(len(lengths)))


@given(lengths=SIZES, seed=st.integers(0, 9), steps=st.lists(st.integers(0, 60), max_size=20))
@settings(deadline=None)
def test_a_step_has_the_same_rows_whatever_was_asked_before(lengths: np.ndarray, seed: int, steps: list[int]) -> None:
    sequential, random = Order(lengths, 60, seed), Order(lengths, 60, seed)
    groups = [sequential[step] for step in range(61)]
    epochs = [sequential.epoch(step) for step in range(61)]
    for step in steps:
        assert random[step].tolist() == groups[step].tolist()
        assert random.epoch(step) == epochs[step]
    assert random.updates_per_epoch == first_step(sequential, 1)


def test_epochs_are_counted_from_their_first_step() -> None:
    order = Order(like_multi30k(500), 1024, seed=1)
    updates = order.updates_per_epoch
    assert [order.epoch(step) for step in (0, updates - 1, updates)] == [0, 0, 1]


def test_epochs_differ_in_their_groups_and_not_only_in_their_order() -> None:
    order = Order(like_multi30k(2000), 1024, seed=1)
    first, second = epoch(order, 0), epoch(order, 1)
    assert not same(first, second)
    shared = {frozenset(group.tolist()) for group in first} & {frozenset(group.tolist()) for group in second}
    assert len(shared) < len(first) / 4


def test_short_and_long_batches_are_mixed() -> None:
    lengths = like_multi30k(5000)
    means = [lengths[group].mean() for group in epoch(Order(lengths, 1024, seed=1), 0)]
    assert abs(np.corrcoef(means, range(len(means)))[0, 1]) < 0.3


def test_the_same_seed_gives_the_same_order_and_another_seed_another() -> None:
    lengths = like_multi30k(2000)
    one, again, other = (epoch(Order(lengths, 1024, seed), 0) for seed in (1, 1, 2))
    assert same(one, again)
    assert not same(one, other)


@pytest.mark.parametrize(("budget", "most"), [(2048, 0.025), (4096, 0.04)])
def test_little_is_padded_on_lengths_like_those_of_multi30k(budget: int, most: float) -> None:
    lengths = like_multi30k()
    padded = sum(len(group) * lengths[group].max(axis=0) for group in epoch(Order(lengths, budget, seed=1), 0))
    assert 1 - lengths.sum() / padded.sum() < most


def test_an_epoch_is_planned_once_while_steps_are_taken_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[tuple[object, ...]] = []

    def counted(*words: object) -> int:
        planned.append(words)
        return derive(*words)  # type: ignore[arg-type]

    monkeypatch.setattr("regard.data.batches.derive", counted)
    order = Order(like_multi30k(300), 512, seed=1)
    for step in range(3 * order.updates_per_epoch):
        assert len(order[step])
    assert planned == [(1, "data", epoch) for epoch in range(3)]


# ---- tensors


def test_rows_are_padded_on_the_right() -> None:
    block, lengths = pad([[5, 6, 7], [], [8]], filler=0)
    assert block.tolist() == [[5, 6, 7], [0, 0, 0], [8, 0, 0]]
    assert lengths.tolist() == [3, 0, 1]
    assert block.dtype == lengths.dtype == torch.int64


def batch(rows: int = 2) -> PairBatch:
    source, target = pad([[4, 5, 6]] * rows, 0), pad([[1, 7, 2, 2]] * rows, 0)
    return PairBatch(*source, *target)


@pytest.mark.parametrize("device", ["meta", torch.device("meta")])
def test_a_batch_moves_as_a_whole(device: str | torch.device) -> None:
    moved = batch().to(device)
    assert isinstance(moved, PairBatch)
    assert {tensor.device.type for tensor in vars(moved).values()} == {"meta"}
    assert [tensor.shape for tensor in vars(moved).values()] == [tensor.shape for tensor in vars(batch()).values()]


def test_a_batch_that_is_moved_nowhere_keeps_its_numbers() -> None:
    moved = batch().to("cpu")
    assert moved.source.tolist() == batch().source.tolist()
    assert moved.target_lengths.tolist() == [4, 4]


def test_a_batch_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        batch().source = batch().target  # type: ignore[misc]


@given(lengths=SIZES, seed=st.integers(0, 9), cut=st.integers(0, 39))
@settings(deadline=None, max_examples=50)
def test_weights_say_how_often_a_row_comes(lengths: np.ndarray, seed: int, cut: int) -> None:
    first = min(cut, len(lengths))
    weights = [(first, 2.5), (len(lengths) - first, 1.0)]
    order = Order(lengths, 60, seed, weights=weights)
    for number in range(2):
        rows = np.concatenate(epoch(order, number))
        times = np.bincount(rows, minlength=len(lengths))
        assert set(times[:first]) <= {2, 3}
        assert set(times[first:]) <= {1}
        assert abs(times[:first].sum() - 2.5 * first) <= 1


def test_a_corpus_of_half_weight_is_seen_in_full_over_some_epochs() -> None:
    lengths = like_multi30k(400)
    order = Order(lengths, 512, seed=1, weights=[(200, 1.0), (200, 0.5)])
    assert order.updates_per_epoch < Order(lengths, 512, seed=1).updates_per_epoch
    epochs = [np.concatenate(epoch(order, number)) for number in range(16)]
    assert all(len(rows) == 300 for rows in epochs)
    assert len(np.unique(np.concatenate(epochs))) == 400
    for group in (order[step] for step in range(order.updates_per_epoch)):
        assert len(group) * lengths[group].max() <= 512


def test_weights_of_one_change_nothing_but_the_bookkeeping() -> None:
    lengths = like_multi30k(500)
    one, other = Order(lengths, 512, seed=1), Order(lengths, 512, seed=1, weights=[(100, 1.0), (400, 1.0)])
    assert same(epoch(one, 0), epoch(other, 0))


def test_a_million_rows_are_ordered_in_little_memory() -> None:
    lengths = like_multi30k(1_000_000).astype(np.uint16)
    tracemalloc.start()
    order = Order(lengths, 4096, seed=1)
    held, built = tracemalloc.get_traced_memory()
    order[0]
    tracemalloc.reset_peak()
    order[order.updates_per_epoch]
    kept, planned = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert built < 40e6
    assert held < 6e6
    assert kept < 11e6
    assert planned < 12e6
