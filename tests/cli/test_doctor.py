"""regard doctor, as a person types it."""

import json
from pathlib import Path

import pytest

from tests.commands import Run
from tests.doctor.corpora import healthy, held_out, shared, table
from tests.doctor.mails import Rows, mails, write
from tests.doctor.mails import held_out as new_mails
from tests.runs import write_reversals

SMALL = ["model.width=16", "model.heads=2", "model.hidden=16", "tokenizer.kind=character", "training.threads=1"]


def test_good_data_gives_facts_and_exit_code_0(tmp_path: Path, run: Run) -> None:
    train, val = table(tmp_path / "t.tsv", healthy()), table(tmp_path / "v.tsv", held_out())
    code, out, err = run(
        "doctor", "--train", train, "--val", val, "--langs", "en-zh", "--no-trial", "model.limit=400", *SMALL
    )
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
    code, out, err = run("doctor", "--train", train, *SMALL)
    assert code == 0, err
    assert "s an update" in out
    assert "in all, validation apart" in out
    assert "memory  up to " in out


def test_bad_data_gives_the_worst_first_and_exit_code_1(tmp_path: Path, run: Run) -> None:
    pairs = healthy()
    pairs[5] = pairs[5][0], "cafÃ© " + pairs[5][1]
    shifted = [(source, target) for (source, _), (_, target) in zip(pairs, pairs[:999] + pairs[1000:], strict=False)]
    train = table(tmp_path / "t.tsv", shifted)
    code, out, _ = run("doctor", "--train", train, "--langs", "en-zh", "--no-trial", *SMALL)
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
    code, out, _ = run("doctor", "--train", train, "--json", "--no-trial", *SMALL)
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
    code, out, _ = run("doctor", "--train", tmp_path / "t.en", "--train", tmp_path / "t.de")
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
    code, out, err = run("doctor", *words)
    assert (code, out) == (1, "")
    assert err.startswith("regard: ")
    assert expected in err


def test_multi30k_is_healthy(run: Run) -> None:
    paths = shared("multi30k", "train.en.gz", "train.de.gz"), shared("multi30k", "val.en.gz", "val.de.gz")
    options = [
        word for name, two in zip(("--train", "--val"), paths, strict=True) for path in two for word in (name, path)
    ]
    code, out, err = run("doctor", *options, "--no-trial", "tokenizer.size=1000")
    assert code == 0, err
    assert out.startswith("no errors, no warnings, 4 notes\n")
    assert "train: 3 pairs (under 0.1%) repeat an earlier one" in out
    assert "val: 1 of 1,014 sources (under 0.1%) is also in train, with another target" in out


# ---- labelled data

CLASSIFIER = ["model.width=16", "model.heads=2", "model.hidden=16", "training.threads=1"]


def labelled(tmp_path: Path, train: Rows, val: Rows) -> list[str]:
    files = write(tmp_path / "t.tsv", train), write(tmp_path / "v.tsv", val)
    return ["--task", "classification", "--train", files[0], "--val", files[1]]


def test_good_labelled_data_gives_a_table_of_classes_and_exit_code_0(tmp_path: Path, run: Run) -> None:
    train = [(text, "好评" if number % 3 else "order") for number, (text, _) in enumerate(mails())]
    val = [(text, "好评" if number % 2 else "order") for number, (text, _) in enumerate(new_mails())]
    code, out, err = run("doctor", *labelled(tmp_path, train, val), "--no-trial", *CLASSIFIER)
    assert (code, err) == (0, "")
    assert out.startswith("no errors, no warnings, no notes\n")
    found = out.splitlines()
    assert "train     300 examples of 2 classes" in found
    assert any(line.startswith("  text    ") and "words; in a line: " in line for line in found)
    table = found.index(next(line for line in found if line.startswith("classes ")))
    assert [line.split() for line in found[table : table + 3]] == [
        ["classes", "train", "val"],
        ["好评", "200", "(66.7%)", "30", "(50.0%)"],
        ["order", "100", "(33.3%)", "30", "(50.0%)"],
    ]
    assert found[table + 1].index("200") == found[table + 2].index("100") - 2  # two characters, four places
    assert found[table + 3] == "  always saying '好评' is right in 66.7% of train, 50.0% of val"
    assert any(
        line.startswith("tokens    vocabulary ") and " for a word; the longest text has " in line for line in found
    )
    assert any(line.startswith("  val     text: ") for line in found)
    assert any(line.startswith("training  transformer, ") for line in found)


def test_of_many_classes_the_rest_is_counted(tmp_path: Path, run: Run) -> None:
    train = [(text, f"class {number % 25}") for number, (text, _) in enumerate(mails())]
    code, out, err = run("doctor", *labelled(tmp_path, train, train[:250]), "--no-trial", *CLASSIFIER)
    assert code == 0, err
    assert sum(line.startswith("  class ") for line in out.splitlines()) == 20
    (rest,) = [line for line in out.splitlines() if line.startswith("  and 5 more")]
    assert rest.split() == ["and", "5", "more", "60", "(20.0%)", "50", "(20.0%)"]


def test_a_trial_tells_how_long_a_classifier_takes(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.doctor.checkup.SECONDS", 0.01)
    code, out, err = run("doctor", *labelled(tmp_path, mails(), new_mails()), "--model", "rnn", "model.width=16")
    assert code == 0, err
    assert "training  rnn, " in out
    assert "in all, validation apart" in out
    assert "memory  up to " in out


def test_bad_labelled_data_gives_exit_code_1_and_json_has_it_all(tmp_path: Path, run: Run) -> None:
    train, val = mails(), new_mails()
    train[:15] = [(text, "Praise") for text, _ in train[:15]]
    val[4] = val[4][0], "refund"
    words = labelled(tmp_path, train, val)
    code, out, _ = run("doctor", *words, "--no-trial", *CLASSIFIER)
    assert code == 1
    assert out.startswith("1 error, 1 warning, 1 note\n")
    assert "error    val: the label 'refund' does not occur in the training data" in out
    assert "warning  labels that differ only in case, space or punctuation: 'praise' (" in out
    assert "when the errors are mended" in out
    code, out, _ = run("doctor", *words, "--json", "--no-trial", *CLASSIFIER)
    found = json.loads(out)
    assert code == 1
    assert [problem["kind"] for problem in found["problems"]] == ["unseen-labels", "alike-labels", "missing-classes"]
    assert found["facts"]["splits"]["train"]["classes"]["Praise"] == 15
    assert found["facts"]["splits"]["val"]["always"]["label"] == next(
        iter(found["facts"]["splits"]["train"]["classes"])
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--task", "masked-lm", "--train", "a.txt"], "--task translation (pairs of texts) or --task classification"),
        (["--task", "similarity", "--train", "a.tsv"], "cannot look at the data of similarity"),
        (["--task", "words", "--train", "a.txt"], "cannot look at the data of words"),
        (["--task", "clasification", "--train", "a.tsv"], "did you mean classification?"),
        (["--task", "classification", "--train", "missing.tsv"], "missing.tsv does not exist"),
        (["--task", "classification"], "a text and a label a line"),
        (["--task", "classification", "--train", "a.tsv", "--init", "nowhere"], "no model directory nowhere"),
    ],
)
def test_mistakes_with_tasks_are_the_usual_errors(
    words: list[str], expected: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run("doctor", *words)
    assert (code, out) == (1, "")
    assert expected in err


def test_trec_is_healthy(run: Run) -> None:
    (train,) = shared("trec", "train.tsv.gz")
    code, out, err = run("doctor", "--task", "classification", "--train", train, "--no-trial", *CLASSIFIER)
    assert code == 0, err
    assert out.startswith("no errors, no warnings, 1 note\n")
    assert "train     5,452 examples of 6 classes" in out
    assert "always saying 'ENTY' is right in 22.9% of train" in out
