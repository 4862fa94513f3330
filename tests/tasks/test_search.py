"""Exact search, beside a sort of all cosines."""

from pathlib import Path

import numpy as np
import pytest

from regard.errors import DataError
from regard.tasks import search
from regard.tasks.search import Index


def vectors(count: int, width: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)


@pytest.mark.parametrize("questions", [1, 5])
@pytest.mark.parametrize("block", [7, 1000])
def test_the_best_lines_are_those_of_a_full_sort(questions: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "BLOCK", block)
    lines, asked = vectors(50, 8, 1), vectors(questions, 8, 2)
    found = Index(lines).top(asked, 6)
    likeness = (asked / np.linalg.norm(asked, axis=1, keepdims=True)) @ (
        lines / np.linalg.norm(lines, axis=1, keepdims=True)
    ).T
    for hits, row in zip(found, likeness, strict=True):
        assert [hit.line for hit in hits] == np.argsort(-row)[:6].tolist()
        assert [hit.score for hit in hits] == pytest.approx(sorted(row.tolist(), reverse=True)[:6], abs=1e-5)


def test_more_than_there_is_and_equal_ones() -> None:
    hits = Index(np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]], dtype=np.float32)).top(np.array([[3.0, 0.0]]), 9)[0]
    assert [hit.line for hit in hits] == [0, 2, 1]


def test_files_that_do_not_fit_are_named(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", vectors(3, 4, 1))
    assert len(Index.read(tmp_path / "a.npy")) == 3
    with pytest.raises(DataError, match="different widths"):
        Index.read(tmp_path / "a.npy").top(vectors(1, 5, 1))
    np.save(tmp_path / "b.npy", np.arange(4))
    with pytest.raises(DataError, match="holds no vectors"):
        Index.read(tmp_path / "b.npy")
    (tmp_path / "c.npy").write_text("no array")
    with pytest.raises(DataError, match="cannot be read"):
        Index.read(tmp_path / "c.npy")
    with pytest.raises(DataError, match="not numbers"):
        Index(np.array([[1.0, 0.0], [np.nan, 1.0]], dtype=np.float32))
