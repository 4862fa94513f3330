"""regard align and regard evaluate --alignments, on models trained in a second."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.commands import Run
from tests.runs import run_tiny

WORDS = "a b c ||| c b a\n\nd e ||| e d\nh ||| h\n"
GOLD = "0-2 1-1 2-0\n\n0-1 1-0p\n0p0\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("model")
    run_tiny(directory, directory / "out")
    return directory / "out"


@pytest.fixture(scope="module")
def reverse(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model as if it translated the other way: backwards is as good as forwards."""
    directory = tmp_path_factory.mktemp("reverse")
    for file in filter(Path.is_file, model.iterdir()):
        (directory / file.name).write_bytes(file.read_bytes())
    config = json.loads((directory / "config.json").read_text())
    config["data"]["langs"] = ["yy", "xx"]
    (directory / "config.json").write_text(json.dumps(config))
    return directory


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data.words").write_text(WORDS)
    (tmp_path / "data.gold").write_text(GOLD)
    return tmp_path / "data.words"


def links(line: str) -> set[tuple[int, ...]]:
    return {tuple(map(int, link.split("-"))) for link in line.split()}


def test_line_n_has_the_links_of_pair_n_and_stderr_the_head(model: Path, data: Path, run: Run) -> None:
    code, out, err = run("align", model, "--data", data)
    assert code == 0, err
    lines = out.split("\n")
    assert len(lines) == 5
    assert lines[1] == ""
    assert lines[3] == "0-0"
    assert all(i < 3 and j < 3 for i, j in links(lines[0]))
    assert err.startswith("out: decoder.")
    assert "on 3 pairs: its readings agree in " in err  # one has no words


def test_each_symmetrisation_holds_the_one_before(model: Path, data: Path, run: Run) -> None:
    options = ["--layer", 1, "--head", 0, "--shift", "reads"]
    made = [run("align", model, "--data", data, *options, "--symmetrise", name) for name in
            ("intersection", "grow-diag", "union")]  # fmt: skip
    assert all("decoder.1.cross, head 0, at the step that reads the word" in err for _, _, err in made)
    for lines in zip(*(out.split("\n") for _, out, _ in made), strict=True):
        small, grown, large = map(links, lines)
        assert small <= grown <= large


def test_without_symmetrisation_every_target_word_has_one_link(model: Path, data: Path, run: Run) -> None:
    _, out, _ = run("align", model, "--data", data, "--symmetrise", "none", "--head", "mean")
    assert sorted(j for _, j in links(out.split("\n")[0])) == [0, 1, 2]


def test_json_has_the_words(model: Path, data: Path, run: Run) -> None:
    _, out, _ = run("align", model, "--data", data, "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert rows[0]["source"] == ["a", "b", "c"]
    assert rows[1] == {"source": [], "target": [], "links": []}
    assert rows[3] == {"source": ["h"], "target": ["h"], "links": [[0, 0]]}


def test_ordinary_pairs_standard_input_and_a_file_for_the_output(
    model: Path, data: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, expected, _ = run("align", model, "--data", data)
    (tmp_path / "data.tsv").write_text("a b c\tc b a\nd e\te d\nh\th\n")
    code, out, _ = run("align", model, "--data", tmp_path / "data.tsv", "--output", tmp_path / "links.txt")
    assert (code, out) == (0, "")
    assert (tmp_path / "links.txt").read_text() == expected.replace("\n\n", "\n")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(WORDS.encode())))
    assert run("align", model, "--data", "-")[1] == expected


def test_the_head_is_chosen_on_the_validation_set(model: Path, data: Path, run: Run) -> None:
    gold = data.with_suffix(".gold")
    _, out, _ = run("align", model, "--data", data, "--layer", 1, "--head", 1, "--shift", "reads")
    gold.write_text(out)  # what this head says is gold, so it is the best
    code, chosen, err = run("align", model, "--data", data, "--val", data, "--val-alignments", gold)
    assert code == 0, err
    assert chosen == out
    assert "error rate 0.0%" in err


def test_a_head_is_chosen_on_pairs_that_have_words(model: Path, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "late.words"
    path.write_text("a |||\n" * 200 + WORDS)
    code, out, err = run("align", model, "--data", path)
    assert code == 0, err
    assert "on 3 pairs: " in err
    assert len(out.split("\n")) == 205


def test_pairs_without_words_need_a_head_that_is_named(model: Path, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "empty.words"
    path.write_text("a |||\n\n")
    code, _, err = run("align", model, "--data", path, "--layer", 1, "--head", 0)
    assert code == 1
    assert "no pair to choose a head by" in err
    assert "do this: give such pairs, or all of --layer, --head and --shift" in err
    code, out, err = run("align", model, "--data", path, "--layer", 1, "--head", 0, "--shift", "reads")
    assert (code, out) == (0, "\n\n")
    assert err == "out: decoder.1.cross, head 0, at the step that reads the word\n"


@pytest.mark.parametrize("command", ["align", "evaluate"])
def test_a_bad_row_is_to_be_corrected_not_skipped(command: str, model: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "bad.tsv").write_text("a\tb\nno tab\n")
    code, _, err = run(command, model, "--data", tmp_path / "bad.tsv")
    assert code == 1
    assert "do this: correct the row\n" in err


def test_a_reverse_model_gives_the_second_reading(model: Path, reverse: Path, data: Path, run: Run) -> None:
    code, out, err = run("align", model, "--data", data, "--reverse", reverse, "--symmetrise", "union")
    assert code == 0, err
    assert len(err.splitlines()) == 2
    lines = [links(line) for line in out.split("\n")[:4]]
    assert {i for i, _ in lines[0]} == {j for _, j in lines[0]} == {0, 1, 2}  # each reading covers one side
    code, _, err = run("align", model, "--data", data, "--reverse", model)
    assert code == 1
    assert "does not translate in the other direction" in err
    assert "found: xx → yy" in err


def test_a_pair_that_is_too_long_is_named_or_cut(model: Path, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "long.words"
    path.write_text("a ||| a\n" + "a " * 40 + "||| b\n")
    code, _, err = run("align", model, "--data", path)
    assert code == 1
    assert "long.words, line 2 is longer than the model can take" in err
    assert "--truncate" in err
    code, out, _ = run("align", model, "--data", path, "--truncate", "--symmetrise", "union")
    assert code == 0
    assert {i for i, _ in links(out.split("\n")[1])} == set(range(31))  # 31 words and the end mark


def test_evaluate_gives_error_rate_precision_and_recall(model: Path, data: Path, run: Run) -> None:
    gold = data.with_suffix(".gold")
    code, out, err = run("evaluate", model, "--data", data, "--alignments", gold, "--json")
    assert code == 0, err
    figures = json.loads(out)
    assert figures["sentences"] == 4
    aligned = figures["alignments"]
    assert (aligned["sure"], aligned["possible"]) == (4, 6)
    assert 0 <= aligned["aer"] <= 1
    assert aligned["attention"].startswith("decoder.")
    _, out, _ = run("evaluate", model, "--data", data, "--alignments", gold)
    assert f"AER {aligned['aer']:.1%}" in out
    assert "BLEU" in out


def test_evaluate_scores_what_align_gives(model: Path, data: Path, run: Run, tmp_path: Path) -> None:
    choice = ["--layer", 0, "--head", 1, "--shift", "predicts", "--symmetrise", "intersection"]
    _, out, _ = run("align", model, "--data", data, *choice)
    shifted = "\n".join(" ".join(f"{i + 1}-{j + 1}" for i, j in sorted(links(line))) for line in out.split("\n"))
    (tmp_path / "own.gold").write_text(shifted)
    words = ["evaluate", model, "--data", data, "--alignments", tmp_path / "own.gold", *choice, "--json"]
    code, _, err = run(*words)
    assert code == 1
    assert "--base 1" in err
    _, out, _ = run(*words, "--base", 1)
    assert json.loads(out)["alignments"]["aer"] == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["align", "MODEL", "--data", "missing.words"], "missing.words"),
        (["align", "MODEL", "--data", "DATA", "--layer", "7"], "no layer 7"),
        (["align", "MODEL", "--data", "DATA", "--head", "7"], "no head 7"),
        (["align", "MODEL", "--data", "DATA", "--head", "x"], "neither a number nor mean"),
        (["align", "MODEL", "--data", "DATA", "--val-alignments", "x"], "add --val"),
        (["align", "MODEL", "--data", "DATA", "--output", "no/where.txt"], "cannot be written"),
        (["evaluate", "MODEL", "--alignments", "x"], "add --data"),
        (["evaluate", "MODEL", "--data", "DATA", "--alignments", "DATA"], "line 1: not a link"),
        (["evaluate", "MODEL", "--data", "DATA", "--head", "1"], "--head: of use only with gold alignments"),
    ],
)
def test_mistakes_are_told(words: list[str], expected: str, model: Path, data: Path, run: Run) -> None:
    names = {"MODEL": model, "DATA": data}
    code, out, err = run(*(names.get(word, word) for word in words))
    assert (code, out) == (1, "")
    assert expected in err
    assert "Traceback" not in err


@pytest.mark.parametrize("option", ["--base=2", "--shift=later", "--symmetrise=most"])
def test_an_unknown_value_is_a_usage_error(option: str, model: Path, data: Path, run: Run) -> None:
    assert run("align", model, "--data", data, option)[0] == 2
