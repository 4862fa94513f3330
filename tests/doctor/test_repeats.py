"""Hashes that are sorted say what a dictionary would."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.doctor import repeats
from regard.doctor.repeats import Split, shared
from regard.doctor.survey import Survey

Rows = list[tuple[int, int]]
rows = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), min_size=1, max_size=30)


def split(pairs: Rows, cut: int = 0) -> Split:
    """As if these numbers were texts, in two corpora."""
    surveys = []
    for part in (pairs[:cut], pairs[cut:]):
        survey = Survey("train", ("t.tsv",))
        survey.sources = np.array([source for source, _ in part], dtype=np.int64)
        survey.pairs = np.array([100 * source + target for source, target in part], dtype=np.int64)
        survey.lines = np.arange(1, len(part) + 1)
        surveys.append(survey)
    return Split("train", surveys)


@given(rows, st.integers(0, 5))
def test_repetitions_and_sources_with_many_targets(pairs: Rows, cut: int) -> None:
    targets = defaultdict(set)
    for source, target in pairs:
        targets[source].add(target)
    again, ambiguous = split(pairs, cut).repeats()
    assert again.tolist() == [row for row, pair in enumerate(pairs) if pair in pairs[:row]]
    assert ambiguous.tolist() == sorted(
        next(row for row, pair in enumerate(pairs) if pair[0] == source)
        for source, found in targets.items()
        if len(found) > 1
    )


@pytest.mark.parametrize("stretch", [1, 3, 100])
@given(held=rows, train=rows)
def test_what_two_splits_share(stretch: int, held: Rows, train: Rows) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeats, "STRETCH", stretch)
        sources, pairs = shared(split(held), split(train))
    assert sources.tolist() == [row for row, pair in enumerate(held) if pair[0] in dict(train)]
    assert pairs.tolist() == [row for row, pair in enumerate(held) if pair in train]


def test_a_row_is_found_in_its_corpus() -> None:
    both = split([(1, 1), (2, 2), (3, 3)], cut=2)
    assert [both.place(row).line for row in range(3)] == [1, 2, 1]
    with pytest.raises(IndexError):
        both.place(3)
