"""Passages: nothing is lost, nothing is too long, and what follows follows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.store import Column, Store
from regard.tasks.passages import Passages, _packed

START, END = 1, 2


def stored(documents: list[list[int]]) -> tuple[Store, list[int]]:
    """Sentences of these lengths; each id says which document and which token of it this is."""
    ids, ends = [], []
    for number, document in enumerate(documents):
        place = 0
        for length in document:
            ids += [1000 * (number + 1) + place + i for i in range(length)]
            place += length
            ends.append(len(ids))
    return Store((Column(np.array(ids), np.array(ends)),)), [len(document) for document in documents]


DOCUMENTS = [[5, 7, 3, 9, 4, 6], [8, 8, 8], [30, 2], [4]]


@given(lengths=st.lists(st.integers(1, 20), min_size=1, max_size=30))
@settings(deadline=None)
def test_packing_loses_nothing_and_keeps_to_the_room(lengths: list[int]) -> None:
    found = _packed(lengths, 20)
    assert [place for first, count in found for place in range(first, first + count)] == list(range(len(lengths)))
    assert all(sum(lengths[first : first + count]) <= 20 for first, count in found)


def test_a_passage_is_of_one_document_and_no_longer_than_asked() -> None:
    passages = Passages.of(*stored(DOCUMENTS), length=23, pairs=True)
    assert (passages.counts > 1).all()
    assert (passages.sizes <= 23).all()
    assert set(passages.owners.tolist()) == {0, 1, 2}  # the document of one sentence has no second to follow it


@pytest.mark.parametrize("pairs", [True, False])
def test_examples_keep_to_their_size(pairs: bool) -> None:
    passages = Passages.of(*stored(DOCUMENTS), length=23, pairs=pairs)
    for row in range(len(passages)):
        for seed in range(30):
            example = passages.example(row, START, END, np.random.default_rng(seed))
            assert len(example.ids) <= passages.sizes[row] <= 23
            assert example.ids[0] == START
            assert example.ids[-1] == END
            assert np.count_nonzero(example.ids == END) == (2 if pairs else 1)


def test_what_follows_follows_and_what_does_not_is_of_another_document() -> None:
    passages = Passages.of(*stored(DOCUMENTS), length=43, pairs=True)
    seen = set()
    for row in range(len(passages)):
        for seed in range(40):
            example = passages.example(row, START, END, np.random.default_rng(seed))
            cut = int(np.flatnonzero(example.ids == END)[0])
            a, b = example.ids[1:cut], example.ids[cut + 1 : -1]
            assert example.segments.tolist() == [0] * (cut + 1) + [1] * (len(b) + 1)
            assert (b[0] // 1000 != a[0] // 1000) == example.elsewhere
            if not example.elsewhere and a[-1] // 1000 != 3:  # the long sentence of the third is cut
                assert b[0] == a[-1] + 1
            seen.add(example.elsewhere)
    assert seen == {True, False}


def test_one_document_alone_always_follows_itself() -> None:
    passages = Passages.of(*stored(DOCUMENTS[:1]), length=43, pairs=True)
    assert not any(passages.example(0, START, END, np.random.default_rng(seed)).elsewhere for seed in range(20))
