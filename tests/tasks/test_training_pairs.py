"""Training data in memory, on disk, and from several corpora: the same pairs, the same batches."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regard
from regard.errors import BundleError, ConfigError
from regard.tasks import training_pairs
from regard.training.start import prepare
from tests.runs import Silent, run_tree, tiny_tree, write_reversals


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Everything counts as large; tokens are kept in a directory of the test."""
    monkeypatch.setattr(training_pairs, "LARGE", 0)
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def batches(tree: dict[str, Any], out: Path, count: int = 30) -> list[list[list[int]]]:
    task = prepare(tree, out, Silent()).task
    return [task.batch(step).source.tolist() for step in range(count)]


def test_a_run_on_tokens_from_disk_is_the_run_on_tokens_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_tree(tiny_tree(tmp_path), tmp_path / "memory")
    monkeypatch.setattr(training_pairs, "LARGE", 0)
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    run_tree(tiny_tree(tmp_path), tmp_path / "disk")
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        assert (tmp_path / "memory" / name).read_bytes() == (tmp_path / "disk" / name).read_bytes()


def test_text_is_tokenised_once_and_again_when_it_changes(tmp_path: Path, large: Path) -> None:
    tree = tiny_tree(tmp_path)
    first = batches(tree, tmp_path / "out")
    made = sorted((path, path.stat().st_mtime_ns) for path in large.rglob("*"))
    assert {path.parent.name for path, _ in made if path.is_dir()} >= {"tokens", "tokenizers"}
    assert batches(tree, tmp_path / "out") == first
    assert sorted((path, path.stat().st_mtime_ns) for path in large.rglob("*")) == made
    with (tmp_path / "train.tsv").open("a") as file:
        file.write("a b\tb a\n")
    batches(tree, tmp_path / "out")
    assert len(list((large / "tokens").iterdir())) == len(list((large / "tokenizers").iterdir())) == 2


def test_truncated_tokens_are_not_trained_on(tmp_path: Path, large: Path) -> None:
    tree = tiny_tree(tmp_path)
    batches(tree, tmp_path / "out", 1)
    ids = next((large / "tokens").rglob("0.ids"))
    ids.write_bytes(ids.read_bytes()[:-2])
    with pytest.raises(BundleError, match="damaged"):
        prepare(tree, tmp_path / "out", Silent())


@pytest.mark.parametrize("bytes_", [0, 10**9])
def test_several_corpora_with_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: Path, bytes_: int
) -> None:
    monkeypatch.setattr(training_pairs, "LARGE", bytes_)
    tree = tiny_tree(tmp_path)
    own, other = write_reversals(tmp_path / "own.tsv", 40, seed=5), tmp_path / "other"
    for number, side in enumerate(("xx", "yy")):
        lines = [line.split("\t")[number] for line in write_reversals(other, 90, seed=6).read_text().splitlines()]
        (tmp_path / f"other.{side}").write_text("\n".join(lines) + "\n")
    pair = [str(tmp_path / "other.xx"), str(tmp_path / "other.yy")]
    tree["data"]["train"] = [{"path": str(own), "weight": 3}, {"path": pair}]
    task = prepare(tree, tmp_path / "out", Silent()).task
    assert task.train_pairs.weights == ((40, 3.0), (90, 1.0))
    updates = task._order.updates_per_epoch
    seen = Counter(tuple(row) for step in range(updates) for row in _rows(task, task.batch(step)))
    expected = Counter(_lines(task, own) * 3 + _lines(task, other))
    assert seen == expected
    assert json.loads(json.dumps(prepare(tree, tmp_path / "out", Silent()).config.tree()))["data"]["train"][1] == {
        "path": pair, "weight": 1.0,
    }  # fmt: skip


def _rows(task: Any, batch: Any) -> list[list[int]]:
    lengths = batch.source_lengths.tolist()
    return [row[: length - 1] for row, length in zip(batch.source.tolist(), lengths, strict=True)]


def _lines(task: Any, path: Path) -> list[tuple[int, ...]]:
    return [tuple(task.tokenizers.source.encode(line.split("\t")[0])) for line in path.read_text().splitlines()]


def test_pairs_that_are_too_long_are_left_out_of_every_corpus(tmp_path: Path) -> None:
    tree = tiny_tree(tmp_path)
    (tmp_path / "long.tsv").write_text("a b\tb a\n" + "a " * 50 + "\tb\n" + "c\tc\n")
    tree["data"] |= {
        "train": [{"path": str(tmp_path / "long.tsv")}, *({"path": path} for path in tree["data"]["train"])],
        "too_long": "skip",
    }
    task = prepare(tree, tmp_path / "out", Silent()).task
    assert task.train_pairs.weights == ((2, 1.0), (200, 1.0))
    assert task.skipped() == ["training pair 2: 51 tokens, more than 32"]
    assert len(task.train_pairs.lengths()) == len(task.train_pairs) == 202
    first = task.train_pairs.batch(np.array([1, 2]))
    assert _rows(task, first)[0] == task.tokenizers.source.encode("c")


def test_a_sample_is_even_and_no_larger_than_asked() -> None:
    pairs = [(str(number), "x") for number in range(1000)]
    sample = [int(source) for source, _ in training_pairs._sample(iter(pairs), 100)]
    assert sample == list(range(0, 1000, 16))
    assert training_pairs._sample(iter(pairs), 1000) == pairs


def test_fine_tuning_begins_with_the_weights_and_the_tokenizer_of_another_model(tmp_path: Path) -> None:
    run_tree(tiny_tree(tmp_path), tmp_path / "first")
    more = {
        "init": str(tmp_path / "first"),
        "data": {"train": [str(write_reversals(tmp_path / "more.tsv", 60, seed=9))]},
        "batch": {"tokens": 200},
        "training": {"updates": 1, "learning_rate": 1e-12, "threads": 1, "average": 0, "warmup": 1},
    }
    outcome = run_tree(more, tmp_path / "second")
    assert outcome.finished
    assert (tmp_path / "second" / "tokenizer.json").read_bytes() == (tmp_path / "first" / "tokenizer.json").read_bytes()
    one, other = (regard.load(tmp_path / name).model.state_dict() for name in ("first", "second"))
    assert all(np.allclose(one[name], other[name], atol=1e-6) for name in one)
    assert regard.load(tmp_path / "second").langs == ("xx", "yy")
    with pytest.raises(ConfigError, match="is a transformer, not a luong"):
        prepare({**more, "model": {"name": "luong"}}, tmp_path / "third", Silent())
    with pytest.raises(BundleError, match="no model directory"):
        prepare({**more, "init": str(tmp_path / "none")}, tmp_path / "third", Silent())
