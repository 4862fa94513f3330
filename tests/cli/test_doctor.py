"""regard doctor, as a person types it."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from regard.cli.main import main
from tests.doctor.corpora import healthy, held_out, shared, table
from tests.runs import write_reversals

Run = Callable[..., tuple[int, str, str]]
SMALL = ["model.width=16", "model.heads=2", "model.hidden=16", "tokenizer.kind=character", "training.threads=1"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def doctor(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["regard", "doctor", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as left:
            code = int(left.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return doctor


def test_good_data_gives_facts_and_exit_code_0(tmp_path: Path, run: Run) -> None:
    train, val = table(tmp_path / "t.tsv", healthy()), table(tmp_path / "v.tsv", held_out())
    code, out, err = run("--train", train, "--val", val, "--langs", "en-zh", "--no-trial", "model.limit=400", *SMALL)
    assert code == 0, err
    assert out.startswith("no errors, no warnings, 1 note\n")
    assert "train     3,000 pairs" in out
    assert "characters; in a line: " in out
    assert "1.0 for a target character; the longest text has " in out
    assert "  val     target: 0.0% of the tokens unknown" in out
    assert "parameters;" in out
    assert "s an update" not in out
    assert err == ""


def test_a_trial_tells_how_long_training_takes(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.doctor.checkup.SECONDS", 0.01)
    train = write_reversals(tmp_path / "t.tsv", 200)
    code, out, err = run("--train", train, *SMALL)
    assert code == 0, err
    assert "s an update" in out
    assert "in all, validation apart" in out
    assert "memory  up to " in out


def test_bad_data_gives_the_worst_first_and_exit_code_1(tmp_path: Path, run: Run) -> None:
    pairs = healthy()
    pairs[5] = pairs[5][0], "cafÃ© " + pairs[5][1]
    shifted = [(source, target) for (source, _), (_, target) in zip(pairs, pairs[:999] + pairs[1000:], strict=False)]
    train = table(tmp_path / "t.tsv", shifted)
    code, out, _ = run("--train", train, "--langs", "en-zh", "--no-trial", *SMALL)
    assert code == 1
    severities = [line.split()[0] for line in out.splitlines() if line.startswith(("error ", "warning ", "note "))]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
    assert {"error", "warning"} < set(severities)
    assert "the source of line N belongs to the target of line N − 1" in out
    assert f"{train}, line 6: " in out
    assert out.count("do this: ") == len(severities)


def test_json_is_one_object(tmp_path: Path, run: Run) -> None:
    train = tmp_path / "t.tsv"
    train.write_text("a b\tc d\nalone\n" * 30, encoding="utf-8")
    code, out, _ = run("--train", train, "--json", "--no-trial", *SMALL)
    assert code == 1
    found = json.loads(out)
    assert set(found) == {"problems", "facts"}
    bad = next(problem for problem in found["problems"] if problem["kind"] == "bad-rows")
    assert (bad["severity"], bad["count"], bad["share"]) == ("error", 30, 0.5)
    assert bad["examples"][0] == {"file": str(train), "line": 2, "text": bad["examples"][0]["text"]}
    assert {"advice", "what", "split"} <= set(bad)
    assert found["facts"]["splits"]["train"]["pairs"] == 30


def test_files_of_unequal_length_leave_tokens_for_later(tmp_path: Path, run: Run) -> None:
    (tmp_path / "t.en").write_text("a\nb\nc\n")
    (tmp_path / "t.de").write_text("d\ne\n")
    code, out, _ = run("--train", tmp_path / "t.en", "--train", tmp_path / "t.de")
    assert code == 1
    assert "not line-aligned" in out
    assert "when the errors are mended" in out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--train", "missing.tsv"], "missing.tsv does not exist"),
        (["--train", "-"], "standard input can be read only once"),
        ([], "No training data"),
        (["--train", "a.tsv", "--model", "transfomer"], "did you mean transformer?"),
        (["--train", "a.tsv", "--langs", "english"], "en-zh"),
        (["--train", "a.tsv", "--config", "no.toml"], "no.toml does not exist"),
    ],
)
def test_mistakes_are_the_usual_errors(
    words: list[str], expected: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    assert err.startswith("regard: ")
    assert expected in err


def test_multi30k_is_healthy(run: Run) -> None:
    paths = shared("multi30k", "train.en.gz", "train.de.gz"), shared("multi30k", "val.en.gz", "val.de.gz")
    options = [
        word for name, two in zip(("--train", "--val"), paths, strict=True) for path in two for word in (name, path)
    ]
    code, out, err = run(*options, "--no-trial", "tokenizer.size=1000")
    assert code == 0, err
    assert out.startswith("no errors, no warnings, 4 notes\n")
    assert "train: 3 pairs (under 0.1%) repeat an earlier one" in out
    assert "val: 1 of 1,014 sources (under 0.1%) is also in train, with another target" in out
