"""regard embed: a vector for each line, as a matrix or as JSON."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

import regard
from regard.cli.embed import embed
from regard.cli.export import export
from tests.models.pretrained.checkpoints import theirs, write
from tests.runs import run_tiny

LINES = ["the cat is in the house .", "", "Unable dogs, 猫", 'a "river" .']

app = typer.Typer(pretty_exceptions_enable=False)
for command in (embed, export):
    app.command()(command)


def run(*words: object, given: str | None = None) -> Result:
    return CliRunner().invoke(app, [*map(str, words)], input=given)


def told(*words: object) -> str:
    """What is wrong with a command."""
    error = run(*words).exception
    assert isinstance(error, regard.RegardError), error
    return str(error)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("bert"), theirs("BertModel"))


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return path


def test_row_n_of_the_matrix_belongs_to_line_n(model: Path, lines: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.npy"
    done = run("embed", model, "--input", lines, "--output", out)
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    found = np.load(out, allow_pickle=False)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, regard.load(model).embed(LINES))


def test_json_lines_hold_text_and_vector_exactly(model: Path, lines: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.jsonl"
    assert run("embed", model, "--input", lines, "--output", out).exit_code == 0
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["text"] for row in rows] == LINES
    found = np.array([row["vector"] for row in rows], dtype=np.float32)
    np.testing.assert_array_equal(found, regard.load(model).embed(LINES))
    packed = tmp_path / "lines.txt.gz"
    packed.write_bytes(gzip.compress(lines.read_bytes()))
    assert run("embed", model, "--input", packed).stdout == out.read_text(encoding="utf-8")


@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
def test_pooling_and_length_can_be_chosen(pooling: str, model: Path, lines: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.npy"
    assert run("embed", model, "--input", lines, "--output", out, "--pooling", pooling, "--normalize").exit_code == 0
    wanted = regard.load(model).embed(LINES, pooling=pooling, normalize=True)
    np.testing.assert_array_equal(np.load(out), wanted)


def test_a_line_that_is_too_long_is_named_or_cut(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("the cat\n" + "the " * 30 + "\n")
    said = told("embed", model, "--input", path)
    assert "Text 2 is longer than the model can take" in said
    assert "32 tokens" in said
    assert "at most 20" in said
    assert "--truncate" in said
    done = run("embed", model, "--input", path, "--truncate")
    assert len(done.stdout.splitlines()) == 2


def test_mistakes_are_told_before_the_work(model: Path, lines: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    assert "empty.txt is empty" in told("embed", model, "--input", tmp_path / "empty.txt")
    assert "gone.txt does not exist" in told("embed", model, "--input", tmp_path / "gone.txt")
    for name in ("x.csv", "x", "nowhere/x.npy"):
        assert ".npy or .jsonl" in told("embed", "nowhere", "--input", lines, "--output", tmp_path / name)
    assert "embed.pooling" in told("embed", model, "--input", lines, "--pooling", "sum")
    assert "There is no model directory nowhere" in told("embed", "nowhere", "--input", lines)


def test_a_model_without_vectors_is_refused(lines: Path, tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "translator")
    assert "cannot make vectors" in told("embed", tmp_path / "translator", "--input", lines)


def test_an_engine_gives_the_same_vectors(model: Path, lines: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.npy"
    run("embed", model, "--input", lines, "--output", out)
    wanted = np.load(out)
    assert run("embed", model, "--input", lines, "--output", out, "--engine", "ctranslate2").exit_code == 0
    assert np.abs(np.load(out) - wanted).max() < 1e-4
    assert (model / "engines").is_dir()
    assert "no engine 'gpu'" in told("embed", model, "--input", lines, "--engine", "gpu")
