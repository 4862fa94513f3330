"""Conversions are made once, appear whole, and belong to their weights."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.engines.cache import fingerprint, kept
from regard.engines.conversion import words_of
from regard.errors import BundleError, LimitError
from tests.engines.translators import random


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fill(directory: Path) -> None:
    (directory / "model.bin").write_bytes(b"weights")


def test_a_conversion_is_made_once_and_lies_beside_the_model(tmp_path: Path, cache: Path) -> None:
    made: list[Path] = []

    def make(directory: Path) -> None:
        made.append(directory)
        fill(directory)

    first, second = (kept("abc", tmp_path, make) for _ in range(2))
    assert (first, len(made)) == (second, 1)
    assert first == tmp_path / "engines" / "ctranslate2-abc"
    assert [path.name for path in first.iterdir()] == ["model.bin"]
    assert [path.name for path in first.parent.iterdir()] == [first.name]
    assert not cache.exists()


def test_what_was_made_of_other_weights_goes(tmp_path: Path, cache: Path) -> None:
    old, young = kept("old", tmp_path, fill), kept("young", tmp_path, fill)
    draft = old.with_name(".ctranslate2-killed-x")
    draft.mkdir()
    for path in (old, draft):
        os.utime(path, (0, 0))
    new = kept("new", tmp_path, fill)
    assert not old.exists()
    assert not draft.exists(), "of one who was killed"
    assert young.exists(), "somebody may be about to open it"
    assert new.exists()


def test_a_directory_that_cannot_be_written_leads_to_the_cache(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "engines").write_text("in the way")
    one, other = kept("one", tmp_path, fill), kept("other", None, fill)
    assert one.parent == other.parent == cache / "engines"
    assert one.exists(), "several models share the cache: nothing goes"


def test_without_any_place_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "file"))
    with pytest.raises(LimitError, match="(?s)no place for the converted model.*REGARD_CACHE"):
        kept("abc", None, fill)


def test_what_fails_leaves_nothing_behind(tmp_path: Path, cache: Path) -> None:
    def fail(directory: Path) -> None:
        fill(directory)
        raise BundleError("broken")

    with pytest.raises(BundleError):
        kept("abc", tmp_path, fail)
    assert list((tmp_path / "engines").iterdir()) == []
    assert kept("abc", tmp_path, fill).exists()


def test_two_at_once_get_the_same(tmp_path: Path, cache: Path) -> None:
    """Both begin before either is done."""
    both, found = threading.Barrier(2), list[Path]()

    def make(directory: Path) -> None:
        both.wait(timeout=20)
        fill(directory)

    threads = [threading.Thread(target=lambda: found.append(kept("abc", tmp_path, make))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [tmp_path / "engines" / "ctranslate2-abc"] * 2
    assert (found[0] / "model.bin").read_bytes() == b"weights"
    assert len(list(found[0].parent.iterdir())) == 1


def test_others_may_read_it(tmp_path: Path, cache: Path) -> None:
    mask = os.umask(0o022)
    try:
        made = kept("abc", tmp_path, fill)
    finally:
        os.umask(mask)
    assert made.stat().st_mode & 0o777 == 0o755


def test_the_fingerprint_is_that_of_weights_settings_and_words() -> None:
    def key(translator: Any) -> str:
        return fingerprint(translator.model, words_of(translator))

    first, second, other = random(), random(), random("norm after, gelu")
    assert key(first) == key(second)
    assert key(first) != key(other)
    with torch.no_grad():
        next(second.model.parameters()).flatten()[0] += 1e-3
    assert key(first) != key(second)
