"""regard search: the lines that mean what a question means, from vectors made now or before."""

import json
from pathlib import Path

import numpy as np
import pytest

import regard
from tests.commands import Run
from tests.models.pretrained.checkpoints import theirs, write
from tests.runs import run_tiny

LINES = ["the cat is in the house .", "", "Unable dogs, 猫", "a river", "the bank is in a river ."]
QUESTION = "a dog in the river"
LONG = "the cat " * 12


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("bert"), theirs("BertModel"))


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    return written(tmp_path / "lines.txt", LINES)


def written(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def ranked(model: Path, question: str, texts: list[str] = LINES, **how: object) -> list[tuple[int, float]]:
    """Numbers and cosines of all lines, the best first."""
    asked, *rows = regard.load(model).embed([question, *texts], normalize=True, **how)
    scores = np.array(rows) @ asked
    return [(int(row) + 1, float(scores[row])) for row in np.argsort(-scores, kind="stable")]


def numbers(said: str) -> list[int]:
    """Of the lines that were found."""
    return [hit["line"] for hit in json.loads(said)["found"]]


def test_lines_are_shown_with_cosine_and_number_the_best_first(model: Path, lines: Path, run: Run) -> None:
    code, said, err = run("search", model, QUESTION, "--lines", lines, "--top", 3)
    assert code == 0, err
    wanted = [f"{score:.3f}  {number:>6}  {LINES[number - 1]}" for number, score in ranked(model, QUESTION)[:3]]
    assert said.splitlines() == wanted


def test_several_questions_stand_before_their_lines(model: Path, lines: Path, run: Run) -> None:
    code, said, err = run("search", model, QUESTION, "the cat", "--lines", lines, "--top", 1)
    assert code == 0, err
    assert said.splitlines()[::2] == [QUESTION, "the cat"]
    assert len(said.splitlines()) == 4


def test_json_has_an_object_for_each_question(model: Path, lines: Path, run: Run) -> None:
    code, said, err = run("search", model, QUESTION, "猫", "--lines", lines, "--json")
    assert code == 0, err
    for question, line in zip((QUESTION, "猫"), said.splitlines(), strict=True):
        held = json.loads(line)
        assert held["question"] == question
        assert [hit["line"] for hit in held["found"]] == [number for number, _ in ranked(model, question)]
        assert [hit["score"] for hit in held["found"]] == pytest.approx(
            [score for _, score in ranked(model, question)], abs=1e-5
        )
        assert all(hit["text"] == LINES[hit["line"] - 1] for hit in held["found"])


@pytest.mark.parametrize("pooling", [None, "cls", "max"])
def test_lines_and_questions_are_pooled_alike(
    pooling: str | None, model: Path, lines: Path, run: Run, tmp_path: Path
) -> None:
    how = ["--pooling", pooling] if pooling else []
    code, now, err = run("search", model, QUESTION, "--lines", lines, "--json", *how)
    assert code == 0, err
    wanted = ranked(model, QUESTION, **({"pooling": pooling} if pooling else {}))
    assert [hit["score"] for hit in json.loads(now)["found"]] == pytest.approx([score for _, score in wanted], abs=1e-5)
    kept = tmp_path / "lines.npy"
    assert run("embed", model, "--input", lines, "--output", kept, *how)[0] == 0
    code, before, err = run("search", model, QUESTION, "--lines", lines, "--vectors", kept, "--json", *how)
    assert code == 0, err
    assert numbers(before) == numbers(now)


def test_help_says_that_vectors_need_the_same_pooling(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    code, said, _ = run("search", "--help")
    assert code == 0
    assert "with this model and pooling" in said


def test_vectors_of_other_lines_are_refused(model: Path, lines: Path, run: Run, tmp_path: Path) -> None:
    kept = tmp_path / "lines.npy"
    assert run("embed", model, "--input", lines, "--output", kept)[0] == 0
    fewer = written(tmp_path / "fewer.txt", LINES[:3])
    code, said, err = run("search", model, QUESTION, "--lines", fewer, "--vectors", kept)
    assert (code, said) == (1, "")
    assert "lines.npy does not belong to" in err
    assert "5 vectors, 3 lines" in err
    np.save(kept, np.ones((5, 7), dtype=np.float32))
    code, _, err = run("search", model, QUESTION, "--lines", lines, "--vectors", kept)
    assert (code, "different widths" in err) == (1, True)


def test_vectors_as_json_lines_are_not_what_is_wanted(model: Path, lines: Path, run: Run, tmp_path: Path) -> None:
    kept = tmp_path / "faq.jsonl"
    assert run("embed", model, "--input", lines, "--output", kept)[0] == 0
    code, _, err = run("search", model, QUESTION, "--lines", lines, "--vectors", kept)
    assert code == 1
    assert "faq.jsonl cannot be read as vectors" in err
    assert "found: a file that ends in .jsonl" in err
    assert "(.npy)" in err
    assert "regard embed MODEL --input LINES --output faq.npy" in err
    code, _, err = run("search", model, QUESTION, "--lines", lines, "--vectors", tmp_path / "gone.npy")
    assert (code, "No such file" in err) == (1, True)


def test_a_line_that_is_too_long_is_named_or_cut(model: Path, run: Run, tmp_path: Path) -> None:
    texts = ["the cat", LONG, "a dog"]
    long = written(tmp_path / "long.txt", texts)
    code, said, err = run("search", model, QUESTION, "--lines", long)
    assert (code, said) == (1, "")
    assert "long.txt, line 2 is longer than the model can take" in err
    assert "found: 26 tokens" in err
    assert "cut it with --truncate" in err
    code, said, err = run("search", model, QUESTION, "--lines", long, "--truncate", "--json")
    assert code == 0, err
    assert numbers(said) == [number for number, _ in ranked(model, QUESTION, texts, truncate=True)]


def test_a_question_that_is_too_long_is_named_or_cut(model: Path, lines: Path, run: Run) -> None:
    code, _, err = run("search", model, "the cat", LONG, "--lines", lines)
    assert code == 1
    assert "Question 2 is longer than the model can take" in err
    assert run("search", model, "the cat", LONG, "--lines", lines, "--truncate")[0] == 0


def test_a_model_without_vectors_is_refused(lines: Path, run: Run, tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "translator")
    code, _, err = run("search", tmp_path / "translator", QUESTION, "--lines", lines)
    assert (code, "makes no vectors" in err) == (1, True)
    assert "--task similarity" in err
