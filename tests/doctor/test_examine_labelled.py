"""What training would make of labelled texts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.doctor import examine, first_look
from regard.errors import ConfigError, DataError, LimitError
from regard.tasks import training_pairs
from regard.tasks.classification import Examples
from regard.training.start import prepare
from tests.doctor.corpora import only
from tests.doctor.mails import Rows, held_out, mails, pairs_of_mails, write
from tests.runs import Silent, run_tree, tiny_tree


def tree_with(tmp_path: Path, train: Rows, val: Rows | None = None, **data: Any) -> dict[str, Any]:
    """Settings of a small classifier of these texts."""
    files = {"train": train} | ({"val": val} if val else {})
    return {
        "task": "classification",
        "model": {"name": "rnn", "width": 8, "limit": 40},
        "tokenizer": {"kind": "word", "size": 5000, "lowercase": False},
        "batch": {"tokens": 200},
        "data": {name: [write(tmp_path / f"{name}.tsv", rows)] for name, rows in files.items()} | data,
        "training": {"updates": 2, "warmup": 1, "threads": 1},
    }


@pytest.mark.parametrize("pairs", [False, True])
def test_the_figures_are_those_of_the_training(tmp_path: Path, pairs: bool) -> None:
    train, val = (pairs_of_mails(), pairs_of_mails(60, seed=11)) if pairs else (mails(), held_out())
    tree = tree_with(tmp_path, train, val, too_long="cut")
    diagnosis = examine(tree, trial=0.01)
    run = prepare(tree, tmp_path / "out", Silent())
    facts, tokens = diagnosis.facts, diagnosis.facts["tokens"]
    texts = [text for row in train for text in row[:-1]]
    words = sum(len(text.split()) for text in texts)
    assert facts["splits"]["train"]["examples"] == 300
    assert (
        facts["splits"]["train"]["text"]["total"] + facts["splits"]["train"].get("second", {"total": 0})["total"]
        == words
    )
    encoded = run.task.tokenizers.tokenizer.encode_all(texts)
    assert tokens["tokens"] == [sum(map(len, encoded))]
    assert tokens["tokens_per_word"] == [round(tokens["tokens"][0] / words, 2)]
    assert tokens["vocabulary"] == [len(run.task.tokenizers.tokenizer)]
    assert f"{tokens['updates_an_epoch']} updates an epoch" in run.task.describe()
    assert 0 <= tokens["padding"] < 0.5
    assert set(tokens["held_out"]["val"]) == {"text"}
    assert facts["training"]["parameters"] == sum(p.numel() for p in run.model.parameters())
    each, epoch = facts["training"]["seconds_an_update"], facts["training"]["seconds_an_epoch"]
    assert epoch == pytest.approx(each * tokens["updates_an_epoch"], abs=0.1)
    assert facts["training"]["memory_bytes"] > 10_000_000
    assert facts["training"]["disk_bytes"] == 36 * facts["training"]["parameters"]
    assert not (tmp_path / "out").exists()


def test_classes_are_counted_and_always_saying_the_largest_is_scored(tmp_path: Path) -> None:
    train = [(text, "order" if number % 3 else "praise") for number, (text, _) in enumerate(mails())]
    val = [(text, "order" if number % 2 else "praise") for number, (text, _) in enumerate(held_out())]
    splits = examine(tree_with(tmp_path, train, val), trial=0.0).facts["splits"]
    assert splits["train"]["classes"] == {"order": 200, "praise": 100}
    assert splits["train"]["always"] == {"label": "order", "accuracy": 0.6667}
    assert splits["val"]["always"] == {"label": "order", "accuracy": 0.5}


def long_texts(rows: Rows) -> Rows:
    rows[4] = ("word " * 60 + "five", rows[4][1])
    rows[8] = ("word " * 39, rows[8][1])  # with two marks, 41 tokens
    rows[9] = ("word " * 38, rows[9][1])
    return rows


def test_texts_longer_than_the_model_stop_a_training_or_are_cut(tmp_path: Path) -> None:
    tree = tree_with(tmp_path, long_texts(mails()), long_texts(held_out()))
    problems = examine(tree, trial=0.0).problems
    found = {problem.split: problem for problem in problems if problem.kind == "too-long"}
    assert {problem.severity for problem in found.values()} == {"error"}
    assert found["train"].what == (
        "train: 2 texts (0.7%) of more than 40 tokens (the longest: 63), at which training would stop"
    )
    assert [example.line for example in found["val"].examples] == [5, 9]
    with pytest.raises(LimitError) as refused:
        prepare(tree, tmp_path / "out", Silent())
    assert (refused.value.what.split()[0], refused.value.do) == ("2", found["train"].advice)

    tree["data"]["too_long"] = "cut"
    diagnosis = examine(tree, trial=0.0)
    found = {problem.split: problem for problem in diagnosis.problems if problem.kind == "too-long"}
    assert {split: problem.severity for split, problem in found.items()} == {"train": "note", "val": "warning"}
    assert "of which the end will be cut off" in found["val"].what
    assert diagnosis.facts["tokens"]["longest"] == 63
    assert not diagnosis.has_error


def test_a_label_that_training_lacks_is_told_in_the_words_of_training(tmp_path: Path) -> None:
    val = held_out()
    val[4] = val[4][0], "refund"
    tree = tree_with(tmp_path, mails(), val)
    diagnosis = examine(tree, trial=0.0)
    found = only(diagnosis.problems, "unseen-labels")
    with pytest.raises(DataError) as refused:
        prepare(tree, tmp_path / "out", Silent())
    assert refused.value.what.removeprefix("The ").rstrip(".") in found.what
    assert refused.value.found == f"{found.examples[0].file}, line {found.examples[0].line}"
    assert refused.value.do == found.advice
    assert "tokens" not in diagnosis.facts  # nothing can be trained


def test_the_vocabulary_is_held_against_the_held_out_texts(tmp_path: Path) -> None:
    val = [("zebra zebra zebra", label) for _, label in held_out()]
    diagnosis = examine(tree_with(tmp_path, mails(), val), trial=0.0)
    assert diagnosis.facts["tokens"]["held_out"]["val"]["text"] == {"tokens": 180, "unknown": 1.0, "unseen_words": 1.0}
    assert only(diagnosis.problems, "unknown-tokens").split == "val"


def test_lengths_before_the_cut_are_those_of_all_texts(tmp_path: Path) -> None:
    rows = long_texts(mails())
    tree = tree_with(tmp_path, rows, too_long="cut")
    tokens = examine(tree, trial=0.0).facts["tokens"]
    run = prepare(tree, tmp_path / "out", Silent())
    whole = Examples([row[:-1] for row in rows], run.task.tokenizers.tokenizer).lengths
    assert run.task.examples["train"].lengths.sum() < whole.sum()
    assert tokens["tokens"] == [int(np.sum(whole - 2))]


@pytest.mark.parametrize("task", ["masked-lm", "similarity", "words"])
def test_other_tasks_are_refused_with_what_can_be_looked_at(tmp_path: Path, task: str) -> None:
    with pytest.raises(ConfigError, match=f"cannot look at the data of {task}") as refused:
        examine({"task": task, "data": {"train": [write(tmp_path / "t.tsv", mails())]}})
    assert "--task translation (pairs of texts) or --task classification" in refused.value.wanted
    assert first_look({"task": task, "data": {"train": [write(tmp_path / "t.tsv", mails())]}}) == []


def test_what_cannot_be_examined_is_refused(tmp_path: Path) -> None:
    tree = tree_with(tmp_path, mails())
    with pytest.raises(DataError, match="a text and a label a line"):
        examine({**tree, "data": {}})
    with pytest.raises(DataError, match="standard input can be read only once"):
        examine({**tree, "data": {"train": [*tree["data"]["train"], "-"]}})
    with pytest.raises(ConfigError, match="no setting called"):
        examine({**tree, "model": {"name": "rnn", "widht": 3}})


# ---- at the beginning of a training


def test_a_first_look_finds_what_the_examination_of_the_text_finds(tmp_path: Path) -> None:
    rows = mails()
    rows[100] = rows[5]
    rows[7] = rows[7][0], "legal"
    tree = tree_with(tmp_path, rows, held_out())
    assert {problem.kind for problem in first_look(tree)} == {"duplicates", "rare-classes", "missing-classes"}
    assert {problem.kind for problem in first_look(tiny_tree(tmp_path))} >= {"few-pairs"}


def test_a_first_look_takes_no_time_where_there_is_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tree_with(tmp_path, [*mails(), mails()[0]])
    assert first_look(tree)
    monkeypatch.setattr("regard.doctor.subjects.LARGE", 1000)
    assert first_look(tree) == []
    monkeypatch.undo()
    assert training_pairs.LARGE > 1000
    assert first_look({**tree, "data": {"train": ["-"]}}) == []
    with pytest.raises(ConfigError, match="no setting called"):
        first_look({**tree, "model": {"name": "rnn", "widht": 3}})


def test_a_model_to_begin_with_brings_its_labels_its_tokenizer_and_its_task(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    taught = [*mails(), *((text, "refund") for text, _ in mails(30, seed=5, part=4))]
    run_tree(tree_with(tmp_path / "first", taught), tmp_path / "model")
    val = held_out()
    val[4] = val[4][0], "refund"
    tree = {**tree_with(tmp_path, mails(), val), "init": str(tmp_path / "model")}
    del tree["model"], tree["tokenizer"]
    assert [problem.kind for problem in first_look(tree)] == []
    found = examine(tree, trial=0.0)
    assert {problem.kind for problem in found.problems} == {"unknown-tokens"}
    assert found.facts["training"]["model"] == "rnn"
    del tree["task"]
    assert examine(tree, trial=0.0).facts == found.facts
    assert first_look(tree) == []  # only the model knows the task
    val[5] = val[5][0], "legal"
    write(tmp_path / "val.tsv", val)
    assert "'legal' does not" in only(examine(tree, trial=0.0).problems, "unseen-labels").what
