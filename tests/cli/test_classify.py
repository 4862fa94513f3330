"""regard train --task classification, classify, evaluate, look; fill."""

import json
from pathlib import Path
from typing import Any

import pytest

from regard.cli import main
from tests.tasks.test_classification import written


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """`regard …` in this process: exit code, standard output, standard error."""

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["regard", *arguments])
        try:
            main.main()
            code = 0
        except SystemExit as left:
            code = int(left.code or 0)
        caught = capsys.readouterr()
        return code, caught.out, caught.err

    return call


SETTINGS = [
    "training.updates=60", "training.warmup=5", "training.learning_rate=1e-2", "training.average=0", "batch.tokens=128",
    "model.width=16", "model.dropout=0", "training.validate_every=60",
]  # fmt: skip


def test_a_user_trains_asks_scores_and_looks(tmp_path: Path, run: Any) -> None:
    train, val = written(tmp_path / "train.tsv", 200, 1), written(tmp_path / "val.tsv", 40, 2)
    out = str(tmp_path / "out")
    asked = ["--task", "classification", "--model", "rnn", "--train", train, "--val", val, "--out", out]
    code, said, err = run("train", *asked, *SETTINGS)
    assert code == 0, err
    assert "accuracy 100.00%" in said

    code, said, err = run("classify", out, "the old horse is here", "the new fig is here")
    assert code == 0, err
    assert [line.split("\t")[0] for line in said.splitlines()] == ["animal", "fruit"]
    (tmp_path / "in.txt").write_text("the old saw is here\n")
    code, said, err = run("classify", out, "--input", str(tmp_path / "in.txt"), "--json")
    assert json.loads(said)["label"] == "tool"
    assert set(json.loads(said)["probabilities"]) == {"animal", "fruit", "tool"}

    picture, labels = tmp_path / "confusion.svg", tmp_path / "said.txt"
    code, said, err = run("evaluate", out, "--data", val, "--confusion", str(picture), "--outputs", str(labels))
    assert code == 0, err
    assert said.startswith("accuracy 100.00%, macro F1 1.000 (40 texts)")
    assert "animal" in said.splitlines()[3]
    assert picture.read_text().startswith("<?xml")
    assert len(labels.read_text().splitlines()) == 40
    code, said, err = run("evaluate", out, "--data", val, "--json")
    assert json.loads(said)["accuracy"] == 1.0

    code, said, err = run("look", out, "the old cat is here", "--out", str(tmp_path / "look.svg"))
    assert code == 0, err
    assert said == "animal\n"


def test_what_cannot_be_done_is_said(tmp_path: Path, run: Any) -> None:
    train = written(tmp_path / "train.tsv", 50, 1)
    out = str(tmp_path / "out")
    short = [*SETTINGS[1:-1], "training.updates=6", "training.warmup=1"]
    assert run("train", "--task", "classification", "--model", "rnn", "--train", train, "--out", out, *short)[0] == 0
    code, _, err = run("classify", out)
    assert (code, "nothing to classify" in err) == (1, True)
    code, _, err = run("classify", out, "cat " * 600)
    assert (code, "--truncate" in err) == (1, True)
    assert run("classify", out, "cat " * 600, "--truncate")[0] == 0
    code, _, err = run("fill", out, "a [MASK]")
    assert (code, "cannot fill in words" in err) == (1, True)
    (tmp_path / "odd.tsv").write_text("the sea\twater\n")
    code, _, err = run("evaluate", out, "--data", str(tmp_path / "odd.tsv"))
    assert (code, "odd.tsv, line 1" in err) == (1, True)


def test_hidden_words_are_filled_in(tmp_path: Path, run: Any) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the cat is here .\nthe dog is there .\n\nthe cat is there .\nthe dog is here .\n" * 5)
    out = str(tmp_path / "out")
    settings = ["model.width=16", "model.heads=2", "training.updates=4", "training.warmup=1", "tokenizer.size=100"]
    asked = ["--task", "masked-lm", "--model", "bert:tiny", "--train", str(corpus), "--out", out]
    code, _, err = run("train", *asked, *settings)
    assert code == 0, err
    code, said, err = run("fill", out, "the [MASK] is [MASK] .", "--top", "2")
    assert code == 0, err
    assert len(said.splitlines()) == 6
    code, said, err = run("fill", out, "the [MASK] is here .", "--json")
    assert len(json.loads(said)["masks"][0]) == 5
