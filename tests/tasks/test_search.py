"""Exact search, beside a stable sort of all cosines."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import DataError
from regard.tasks import search
from regard.tasks.search import Index

MAPS = Path("/proc/self/maps")


def vectors(count: int, width: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)


def cosines(lines: np.ndarray, asked: np.ndarray) -> np.ndarray:
    return (asked / np.linalg.norm(asked, axis=1, keepdims=True)) @ (
        lines / np.linalg.norm(lines, axis=1, keepdims=True)
    ).T


@pytest.mark.parametrize("questions", [1, 5])
@pytest.mark.parametrize("scores", [3, 40, 1000])
def test_the_best_lines_are_those_of_a_full_sort(questions: int, scores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SCORES", scores)
    lines, asked = vectors(50, 8, 1), vectors(questions, 8, 2)
    found = Index(lines).top(asked, 6)
    for hits, row in zip(found, cosines(lines, asked), strict=True):
        assert [hit.line for hit in hits] == np.argsort(-row)[:6].tolist()
        assert [hit.score for hit in hits] == pytest.approx(sorted(row.tolist(), reverse=True)[:6], abs=1e-5)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_of_equal_lines_the_earlier_comes_first(data: st.DataObject) -> None:
    """Whole numbers: products are exact, and lines that point the same way are equal to the last bit."""
    draw = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    count, most = data.draw(st.integers(1, 60)), data.draw(st.integers(1, 12))
    lines = draw.integers(0, 2, size=(count, 4)).astype(np.float32)
    asked = draw.integers(0, 3, size=(data.draw(st.integers(1, 3)), 4)).astype(np.float32)
    lengths = np.maximum(np.sqrt((lines * lines).sum(1)), np.float32(1e-12))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "SCORES", data.draw(st.sampled_from([1, 20, 1000])))
        found = Index(lines).top(asked, most)
    for hits, question in zip(found, asked, strict=True):
        wanted = np.argsort(-(lines @ question) / lengths, kind="stable")[:most]
        assert [hit.line for hit in hits] == wanted.tolist()


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("more", [0, 1, 5])
def test_many_lines_are_shared_out_among_threads(threads: int, more: int) -> None:
    vectors = np.random.default_rng(threads).standard_normal((search.MANY + more, 6), dtype=np.float32)
    vectors[[-1, 17]] = vectors[5]
    question = vectors[5:6] * 3
    cosines = vectors @ vectors[5] / (np.linalg.norm(vectors, axis=1) * np.linalg.norm(vectors[5]))
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        (found,) = Index(vectors).top(question, 20)
    finally:
        torch.set_num_threads(before)
    assert {hit.line for hit in found[:3]} == {5, 17, len(vectors) - 1}
    np.testing.assert_allclose([hit.score for hit in found], np.sort(cosines)[::-1][:20], rtol=1e-5)


def test_more_than_there_is_and_nothing_at_all() -> None:
    lines = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 0.0]], dtype=np.float32)
    (hits,) = Index(lines).top(np.array([[3.0, 0.0]]), 9)
    assert [(hit.line, hit.score) for hit in hits] == [(0, 1.0), (2, 1.0), (1, 0.0), (3, 0.0)]
    assert Index(lines).top(np.empty((0, 2))) == []
    assert Index(lines[:0]).top(np.ones((2, 2))) == [[], []]
    assert [hit.score for hit in Index(lines).top(np.zeros((1, 2)), 2)[0]] == [0.0, 0.0]


@pytest.mark.parametrize("kind", ["float32", "float16", "float64", ">f4", "columns"])
def test_a_file_gives_what_its_matrix_gives(kind: str, tmp_path: Path) -> None:
    lines, asked = vectors(40, 8, 3), vectors(2, 8, 4)
    stored = np.asfortranarray(lines) if kind == "columns" else lines.astype(kind)
    np.save(tmp_path / "x.npy", stored)
    found = Index.read(tmp_path / "x.npy").top(asked, 5)
    for hits, row in zip(found, cosines(stored.astype(np.float32), asked), strict=True):
        assert [hit.line for hit in hits] == np.argsort(-row)[:5].tolist()


@pytest.mark.skipif(not MAPS.exists(), reason="asks Linux what is where in memory")
def test_vectors_of_a_file_are_not_copied(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", vectors(1000, 64, 1))
    index = Index.read(tmp_path / "x.npy")
    mapped = [line.split()[0].split("-") for line in MAPS.read_text().splitlines() if line.endswith("x.npy")]
    start = index.vectors.data_ptr()
    assert any(int(first, 16) <= start < int(end, 16) for first, end in mapped)
    before = (tmp_path / "x.npy").read_bytes()
    index.vectors.zero_()
    assert (tmp_path / "x.npy").read_bytes() == before


def test_files_that_do_not_fit_are_named(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", vectors(3, 4, 1))
    assert len(Index.read(tmp_path / "a.npy")) == 3
    with pytest.raises(DataError, match="different widths"):
        Index.read(tmp_path / "a.npy").top(vectors(1, 5, 1))
    np.save(tmp_path / "b.npy", np.arange(4))
    with pytest.raises(DataError, match=r"holds no vectors.\n  found: int64 of shape \(4,\)"):
        Index.read(tmp_path / "b.npy")
    np.savez(tmp_path / "two.npz", a=vectors(3, 4, 1), b=vectors(3, 4, 1))
    with pytest.raises(DataError, match=r"holds no vectors.\n  found: several arrays"):
        Index.read(tmp_path / "two.npz")
    np.save(tmp_path / "none.npy", vectors(0, 4, 1))
    assert len(Index.read(tmp_path / "none.npy")) == 0
    whole = (tmp_path / "a.npy").read_bytes()
    for name, content in (("c.npy", b"no array"), ("empty.npy", b""), ("cut.npy", whole[:-9])):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=f"{name} cannot be read"):
            Index.read(tmp_path / name)
    with pytest.raises(DataError, match=r"not numbers.\n  found: row 1"):
        Index(np.array([[1.0, 0.0], [np.nan, 1.0], [np.inf, 0.0]], dtype=np.float32))
