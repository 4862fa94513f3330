"""What training would make of the data."""

from pathlib import Path
from typing import Any

import pytest

from regard.doctor import examine
from regard.errors import ConfigError, DataError
from regard.tasks import training_pairs
from regard.training.start import prepare
from tests.doctor.corpora import only, table
from tests.runs import Silent, tiny_tree


def test_the_figures_are_those_of_the_training(tmp_path: Path) -> None:
    tree = tiny_tree(tmp_path)
    facts = examine(tree, trial=0.01).facts
    run = prepare(tree, tmp_path / "out", Silent())
    pairs = run.task.train_pairs
    tokens = facts["tokens"]
    assert facts["splits"]["train"]["pairs"] == len(pairs) == 200
    assert tokens["tokens"] == (pairs.lengths().sum(axis=0) - 200).tolist()
    assert tokens["tokens_per_word"] == [1.0, 1.0]  # its tokens are words
    assert tokens["vocabulary"] == [len(run.task.tokenizers.source)]
    assert f"{tokens['updates_an_epoch']} updates an epoch" in run.task.describe()
    assert 0 < tokens["padding"] < 0.5
    assert facts["training"]["parameters"] == sum(p.numel() for p in run.model.parameters())
    each, epoch = facts["training"]["seconds_an_update"], facts["training"]["seconds_an_epoch"]
    assert epoch == pytest.approx(each * tokens["updates_an_epoch"], abs=0.1)
    assert facts["training"]["memory_bytes"] > 10_000_000
    assert not (tmp_path / "out").exists()


def test_without_a_trial_there_are_sizes_but_no_times(tmp_path: Path) -> None:
    training = examine(tiny_tree(tmp_path), trial=0.0).facts["training"]
    assert "seconds" not in training
    assert training["disk_bytes"] == 36 * training["parameters"]  # the model, and a checkpoint that replaces another


def test_lengths_are_counted_and_drawn(tmp_path: Path) -> None:
    tree = tiny_tree(tmp_path)
    tree["data"] = {"train": [table(tmp_path / "t.tsv", [("a b", "你 好吗"), ("a", "好"), ("a b c", "x y")] * 5)]}
    train = examine(tree, trial=0.0).facts["splits"]["train"]
    source = train["source"]
    assert (source["unit"], source["total"], source["median"], source["longest"]) == ("words", 30, 2, 3)
    assert source["histogram"] == {"from": [1, 2, 3], "counts": [5, 5, 5]}
    assert (train["target"]["unit"], train["target"]["total"]) == ("characters", 40)


def tree_with(tmp_path: Path, rows: list[tuple[str, str]], **data: Any) -> dict[str, Any]:
    tree = tiny_tree(tmp_path)
    return {**tree, "data": {**tree["data"], "train": [table(tmp_path / "rows.tsv", rows)], **data}}


def test_pairs_longer_than_the_model_stop_a_training_or_are_left_out(tmp_path: Path) -> None:
    rows = [("a b", "b a")] * 30
    rows[4] = ("a " * 40, "b")
    found = only(examine(tree_with(tmp_path, rows), trial=0.0).problems, "too-long")
    assert (found.severity, found.count, found.examples[0].line) == ("error", 1, 5)
    assert "more than 32 tokens (the longest: 41), at which training would stop" in found.what
    assert "data.too_long=skip" in found.advice
    found = only(examine(tree_with(tmp_path, rows, too_long="skip"), trial=0.0).problems, "too-long")
    assert found.severity == "warning"
    assert "left out" in found.what
    every = [("a " * 40, "b")] * 3
    assert "Every training pair" in only(examine(tree_with(tmp_path, every), trial=0.0).problems, "refused").what


def test_what_the_vocabulary_and_the_training_text_lack_is_told(tmp_path: Path) -> None:
    val = table(tmp_path / "v.tsv", [("a b zebra", "b a"), ("a b", "c a")])
    diagnosis = examine(tree_with(tmp_path, [("a b", "b a")] * 30, val=[val]), trial=0.0)
    held = diagnosis.facts["tokens"]["held_out"]["val"]
    assert held["source"] == {"tokens": 5, "unknown": 0.2, "unseen_words": 0.2}
    assert held["target"]["unseen_words"] == 0.25
    found = [problem for problem in diagnosis.problems if problem.kind == "unknown-tokens"]
    assert found[1].what == "val: 20.0% of the source tokens are unknown or spelt in bytes"


def test_bytes_count_as_unknown(tmp_path: Path) -> None:
    val = table(tmp_path / "v.tsv", [("abcд", "abc")])
    tree = tree_with(tmp_path, [("abc", "abc")] * 30, val=[val])
    tree["tokenizer"] = {"kind": "bpe", "size": 300}
    held = examine(tree, trial=0.0).facts["tokens"]["held_out"]["val"]["source"]
    assert held["unknown"] == round(2 / held["tokens"], 4)  # д is two bytes


def test_bad_rows_do_not_keep_it_from_looking_further(tmp_path: Path) -> None:
    tree = tiny_tree(tmp_path)
    path = Path(tree["data"]["train"][0])
    path.write_text("alone\n" + path.read_text(), encoding="utf-8")
    diagnosis = examine(tree, trial=0.0)
    assert diagnosis.has_error
    assert only(diagnosis.problems, "bad-rows").count == 1
    assert diagnosis.facts["tokens"]["tokens"][0] > 0


def test_tokens_on_disk_are_counted_among_what_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_pairs, "LARGE", 0)
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    facts = examine(tiny_tree(tmp_path), trial=0.0).facts
    kept = 2 * sum(facts["tokens"]["tokens"]) + 8 * 2 * 200  # two bytes a token, eight for the end of each text
    assert facts["training"]["disk_bytes"] == 36 * facts["training"]["parameters"] + kept


def test_what_cannot_be_examined_is_refused(tmp_path: Path) -> None:
    tree = tiny_tree(tmp_path)
    with pytest.raises(DataError, match="No training data"):
        examine({**tree, "data": {}})
    with pytest.raises(DataError, match="standard input can be read only once"):
        examine({**tree, "data": {"train": ["-"]}})
    with pytest.raises(ConfigError, match="no setting called"):
        examine({**tree, "model": {"widht": 3}})
