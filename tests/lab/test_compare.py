"""`regard compare` on real files: trained once, reported, and not trained again."""

import json
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from regard.cli.main import main
from tests.runs import write_reversals

SETTINGS = (
    "tokenizer.kind=word", "tokenizer.size=50", "batch.tokens=200", "model.limit=40",
    "training.validate_every=10", "training.log_every=2"
)  # fmt: skip
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["regard", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as left:
            code = int(left.code or 0)
        return code, *capsys.readouterr()

    return call


def given(directory: Path) -> list[object]:
    files = {"train": (200, 6), "val": (12, 6), "test": (24, 30)}
    words: list[object] = ["compare", "--langs", "xx-yy"]
    for seed, (split, (count, longest)) in enumerate(files.items()):
        words += [f"--{split}", write_reversals(directory / f"{split}.tsv", count, seed=seed, longest=longest)]
    return words


class Tags(HTMLParser):
    """Which elements a page has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self.seen.append(tag)


@pytest.mark.slow
def test_a_comparison_trains_once_reports_and_goes_on(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    call = [*given(tmp_path), "--out", out, "--updates", 20, "--parameters", 30_000, *SETTINGS]
    code, text, said = run(*call, "--models", "rnn,bahdanau", "--trials", 2)
    assert code == 0, said
    data = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert set(data["results"]) == {"rnn", "bahdanau"}
    sizes = {name: figures[0]["parameters"] for name, figures in data["results"].items()}
    assert sizes["rnn"] == pytest.approx(sizes["bahdanau"], rel=0.1)
    assert [one["seed"] for one in data["results"]["rnn"]] == [1]
    assert all(len(tried) == 2 for tried in data["trials"].values())
    assert all(one["updates"] == 20 for figures in data["results"].values() for one in figures)
    assert "head" not in data["results"]["rnn"][0]
    assert data["results"]["bahdanau"][0]["head"]["name"] == "decoder.align"
    for heading in (
        "Scores on the test set",
        "BLEU by sentence length",
        "Are the differences real?",
        "Where they look",
    ):
        assert f"## {heading}" in text
    assert "chosen" in text
    assert Tags((out / "report.html").read_text(encoding="utf-8")).seen.count("img") >= 2
    written = {path: path.stat().st_mtime_ns for path in out.glob("runs/*/*/model.safetensors")}
    assert len(written) == 2 * (2 + 1)
    code, _, said = run(*call, "--models", "rnn,bahdanau", "--trials", 2)  # nothing is left to do
    assert code == 0
    assert "is done" not in said
    assert {path: path.stat().st_mtime_ns for path in written} == written
    (out / "runs" / "rnn" / "seed-1" / "figures.json").unlink()  # as if it had been stopped in the middle
    code, _, said = run(*call, "--models", "rnn,bahdanau", "--trials", 2)
    assert code == 0
    assert "rnn/seed-1 is done (1 of 1)" in said
    code, _, said = run(*call, "--models", "rnn,bahdanau", "--trials", 1)
    assert code == 1
    assert "other settings" in said
    assert "trials=2, now 1" in said
    test = tmp_path / "test.tsv"
    before = test.read_bytes()
    test.write_bytes(before + b"a b\tb a\n")
    code, _, said = run(*call, "--models", "rnn,bahdanau", "--trials", 2)
    assert code == 1
    assert "data has changed" in said
    test.write_bytes(before)


def test_what_is_missing_or_wrong_is_said_before_anything_is_trained(run: Run, tmp_path: Path) -> None:
    call = [*given(tmp_path), "--out", tmp_path / "out"]
    wrong = {
        "one of --minutes, --updates, --tokens": call,
        "needs test data": [*call[:-4], "--out", tmp_path / "out", "--updates", 5],
        "nearest|There is no model": [*call, "--updates", 5, "--models", "rnn,bahdana"],
        "is not in the paper": [
            *call, "--updates", 5, "--models", "luong", "models.luong.score=location", "models.luong.window=local-p",
        ],
        "none to train on": ["compare", "--test", tmp_path / "test.tsv", "--out", tmp_path / "out", "--updates", 5],
        "contradicts the budget": [*call, "--updates", 5, "training.updates=9"],
        "whole numbers": [*call, "--updates", 5, "--seeds", "one"],
    }  # fmt: skip
    for told, words in wrong.items():
        code, _, said = run(*words)
        assert code == 1, words
        assert any(part in said for part in told.split("|")), said
    assert not (tmp_path / "out").exists()


def test_a_directory_with_other_things_is_left_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine", encoding="utf-8")
    code, _, said = run(*given(tmp_path), "--out", tmp_path / "out", "--updates", 5)
    assert code == 1
    assert "is not empty" in said
