"""Tokens on disk are the tokens in memory, and nothing half-made is ever read."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from regard.data import store
from regard.errors import BundleError, LimitError
from regard.text import Tokenizer, TokenizerConfig, train_tokenizer
from tests.text.corpus import CHINESE, ENGLISH

ROWS = list(zip(ENGLISH, CHINESE, strict=True)) * 3


@pytest.fixture(scope="module")
def tokenizers() -> tuple[Tokenizer, Tokenizer]:
    config = TokenizerConfig(kind="bpe", size=600)
    return train_tokenizer(ENGLISH, config), train_tokenizer(CHINESE, config)


def test_what_is_on_disk_is_what_is_in_memory(
    tmp_path: Path, tokenizers: tuple[Tokenizer, Tokenizer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "CHUNK", 7)
    store.write(tmp_path / "a", ROWS, tokenizers, lambda: ["a note"])
    held, mapped = store.in_memory(ROWS, tokenizers), store.on_disk(tmp_path / "a")
    assert len(held) == len(mapped) == len(ROWS)
    assert np.array_equal(held.lengths(), mapped.lengths())
    for kept in (held, mapped):
        sources, targets = kept.rows([0, len(ROWS) - 1, 4])
        assert [ids.tolist() for ids in sources] == [tokenizers[0].encode(ROWS[i][0]) for i in (0, -1, 4)]
        assert [ids.tolist() for ids in targets] == [tokenizers[1].encode(ROWS[i][1]) for i in (0, -1, 4)]
    assert store.notes(tmp_path / "a") == ["a note"]
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("name", ["0.ids", "1.ends", "meta.json"])
def test_a_truncated_file_is_named_with_what_to_do(
    tmp_path: Path, tokenizers: tuple[Tokenizer, Tokenizer], name: str
) -> None:
    place = tmp_path / "a"
    store.write(place, ROWS, tokenizers, list)
    content = (place / name).read_bytes()
    (place / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(BundleError, match=f"{name} are damaged") as caught:
        store.on_disk(place)
    assert f"delete {place}" in str(caught.value)
    assert (place / name).read_bytes() == content[: len(content) // 2]


def test_a_row_that_fails_leaves_nothing_behind(tmp_path: Path, tokenizers: tuple[Tokenizer, Tokenizer]) -> None:
    def rows() -> "list[tuple[str, str]]":
        raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"):
        store.write(tmp_path / "a", (row for row in rows()), tokenizers, list)
    assert not list(tmp_path.iterdir())


def test_two_makers_of_the_same_tokens_do_not_disturb_each_other(
    tmp_path: Path, tokenizers: tuple[Tokenizer, Tokenizer]
) -> None:
    def rows() -> "list[tuple[str, str]]":
        store.write(tmp_path / "a", ROWS, tokenizers, lambda: "the first")
        return ROWS

    made = (row for row in rows())
    store.publish(tmp_path / "b", lambda place: store.write(tmp_path / "a", made, tokenizers, lambda: "the second"))
    assert store.notes(tmp_path / "a") == "the first"


def test_a_full_disk_is_told_and_leaves_nothing_behind(tmp_path: Path) -> None:
    script = (
        "import resource, signal, sys; from pathlib import Path; from regard.data.store import publish\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "publish(Path(sys.argv[1]) / 'a', lambda made: (made / 'x').write_bytes(bytes(5000)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, env=environment, check=False
    )
    assert "LimitError" in done.stderr
    assert "REGARD_CACHE" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LimitError, match="could not be written"):
        store.publish(tmp_path / "file" / "a", lambda made: None)


def test_what_was_looked_at_does_not_stay_in_memory(tmp_path: Path) -> None:
    place, texts = tmp_path / "a", 60_000
    ends = np.arange(1, texts + 1, dtype=np.int64) * 500
    place.mkdir()
    (place / "0.ids").write_bytes(np.zeros(texts * 500, dtype=np.uint16).tobytes())
    (place / "0.ends").write_bytes(ends.tobytes())
    store._write_meta(place, ["uint16"], None)
    kept = store.on_disk(place)
    before = _resident()
    for first in range(0, texts, 100):
        kept.rows(range(first, first + 100))
    assert _resident() - before < 20e6  # of 60 MB


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if Path("/proc/self/statm").exists() else 0
    return pages * resource.getpagesize()
