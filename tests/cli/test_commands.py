"""The commands as a person types them, on a model trained in a second."""

import gzip
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import regard
from regard import bundle
from regard.cli.main import COMMANDS, app
from tests.commands import Run
from tests.models.pretrained import marians
from tests.runs import run_tiny, write_reversals

Regard = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("model")
    run_tiny(directory, directory / "out")
    return directory / "out"


def test_help_does_not_import_torch_or_pydantic() -> None:
    script = (
        "import sys, regard.cli.main; print(sorted({'torch', 'pydantic', 'matplotlib', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "command", ["demo", "doctor", "train", "translate", "evaluate", "align", "compare", "lab", "look", "info", "runs"]
)
def test_every_command_explains_itself(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert "Usage" in result.stdout


def test_square_brackets_in_help_are_not_swallowed_as_markup() -> None:
    for command in COMMANDS:
        options = inspect.get_annotations(command).values()
        helps = [mark.help or "" for option in options for mark in getattr(option, "__metadata__", ())]
        assert not [text for text in helps if re.search(r"\[[a-z]", text)], command.__name__
    shown = CliRunner().invoke(app, ["lab", "--help"]).output
    assert "(default: as many as cores)" in re.sub(r"[│\s]+", " ", shown)


def test_train_writes_a_model_and_prints_scores_on_stdout(tmp_path: Path, run: Run) -> None:
    train, val = write_reversals(tmp_path / "t.tsv", 60), write_reversals(tmp_path / "v.tsv", 10, seed=1)
    small = ["model.width=16", "model.heads=2", "model.hidden=16", "tokenizer.kind=word", "training.threads=1"]
    code, out, err = run(
        "train", "--train", train, "--val", val, "--test", val, "--langs", "xx-yy", "--out", tmp_path / "out",
        "training.updates=4", "training.warmup=2", *small,
    )  # fmt: skip
    assert code == 0, err
    assert "val: BLEU" in out
    assert "test: BLEU" in out
    assert "nrefs:1" in out
    assert "60 pairs" in err
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert set(card["scores"]) == {"val", "test"}
    assert set(card["data"]) == {"train", "val", "test"}


def test_a_dry_run_prints_the_settings_and_writes_nothing(tmp_path: Path, run: Run) -> None:
    data = write_reversals(tmp_path / "t.tsv", 60)
    code, out, _ = run("train", "--train", data, "--out", tmp_path / "out", "--dry-run", "model.width=64")
    assert code == 0
    settings = json.loads(out)
    assert settings["model"]["width"] == 64
    assert settings["facts"]["data"].startswith("60 pairs")
    assert not (tmp_path / "out").exists()


def test_languages_come_from_the_suffixes_of_two_files(tmp_path: Path, run: Run) -> None:
    for name in ("train.en", "train.zh"):
        (tmp_path / name).write_text("a b\nb a\n")
    code, out, err = run(
        "train", "--train", tmp_path / "train.en", "--train", tmp_path / "train.zh",
        "--out", tmp_path / "o", "--dry-run",
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["data"]["langs"] == ["en", "zh"]


def test_line_n_of_the_output_belongs_to_line_n_of_the_input(model: Path, tmp_path: Path, run: Run) -> None:
    source = tmp_path / "in.txt.gz"
    source.write_bytes(gzip.compress(b"a b\n\n   \nb c d\n"))
    code, out, _ = run("translate", model, "--input", source, "--output", tmp_path / "out.txt")
    assert code == 0
    assert out == ""
    lines = (tmp_path / "out.txt").read_text().split("\n")
    assert len(lines) == 5
    assert lines[0]
    assert lines[1] == lines[2] == lines[4] == ""
    assert lines[3]


def test_translate_gives_the_same_alone_and_in_a_file(model: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "in.txt").write_text("a b c\nd\nh g f e\n")
    _, together, _ = run("translate", model, "--input", tmp_path / "in.txt")
    alone = "".join(run("translate", model, text)[1] for text in ("a b c", "d", "h g f e"))
    assert together == alone


def test_json_and_nbest_hold_scores_in_falling_order(model: Path, run: Run) -> None:
    _, out, _ = run("translate", model, "a b c", "--nbest", 3, "--json")
    scores = [one["score"] for one in json.loads(out)["translations"]]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    _, out, _ = run("translate", model, "a b c", "--nbest", 3)
    assert [line.split("\t")[0] for line in out.splitlines()] == ["1", "1", "1"]


def test_an_input_longer_than_the_model_names_line_length_and_limit(model: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "in.txt").write_text("a\n" + "a " * 40 + "\n")
    code, _, err = run("translate", model, "--input", tmp_path / "in.txt")
    assert code == 1
    assert "Line 2" in err
    assert "41 tokens" in err
    assert "32" in err
    assert "--truncate" in err
    code, out, _ = run("translate", model, "--input", tmp_path / "in.txt", "--truncate")
    assert code == 0
    assert len(out.splitlines()) == 2


def test_evaluate_prints_the_signature_and_compares_with_a_baseline(model: Path, tmp_path: Path, run: Run) -> None:
    data = write_reversals(tmp_path / "v.tsv", 12, seed=5)
    code, out, err = run("evaluate", model, "--data", data, "--outputs", tmp_path / "o.txt")
    assert code == 0, err
    assert "nrefs:1|case:mixed" in out
    code, out, err = run("evaluate", model, "--data", data, "--baseline", tmp_path / "o.txt", "--json")
    figures = json.loads(out)
    assert figures["against_baseline"]["difference"] == 0
    assert figures["against_baseline"]["p_value"] == 1


def test_evaluate_scores_challenge_sets(model: Path, tmp_path: Path, run: Run) -> None:
    side = {"source": "a b", "target": "b a", "key": "b a"}
    other = {"source": "b a", "target": "a b", "key": "a b"}
    path = tmp_path / "c.jsonl"
    path.write_text(json.dumps({"phenomenon": "order", "first": side, "second": other}) + "\n")
    _, out, _ = run("evaluate", model, "--challenges", path, "--json")
    assert json.loads(out)["challenges"]["order"]["pairs"] == 1
    path.write_text('{"phenomenon": "order"}\n')
    code, _, err = run("evaluate", model, "--challenges", path)
    assert code == 1
    assert "line 1" in err


@pytest.mark.parametrize("suffix", [".svg", ".png", ".json", ".npz"])
def test_look_writes_each_kind_of_file(model: Path, tmp_path: Path, run: Run, suffix: str) -> None:
    out = tmp_path / f"x{suffix}"
    code, said, err = run("look", model, "a b c", "--out", out, "--layer", 0, "--head", 1)
    assert code == 0, err
    assert out.stat().st_size > 500
    assert said.strip()


def test_look_says_where_a_word_looks(model: Path, tmp_path: Path, run: Run) -> None:
    _, out, _ = run("look", model, "a b c", "c b a", "--out", tmp_path / "x.svg", "--word", "b", "--head", 0)
    assert out.startswith("encoder.0.self head 0: *b* gives ")


def test_info_tells_sizes_scores_and_what_was_noticed(model: Path, run: Run, tmp_path: Path) -> None:
    _, out, _ = run("info", model)
    assert "transformer for translation, xx → yy" in out
    assert "12 updates" in out
    facts = json.loads(run("info", model, "--json")[1])
    assert facts["weights"]["parameters"] == facts["card"]["parameters"]
    assert facts["config"]["training"]["updates"] == 12
    found = {"what": "overfitting", "evidence": "val loss 2.1, best 1.9", "advice": "stop earlier"}
    noticed = shutil.copytree(model, tmp_path / "noticed")
    bundle.write_card(noticed, {**facts["card"], "diagnoses": [found]})
    assert "diagnosis   overfitting: val loss 2.1, best 1.9\n" in run("info", noticed)[1]


def test_info_knows_models_of_others(run: Run, tmp_path: Path) -> None:
    marians.write(tmp_path / "marian")
    _, out, _ = run("info", tmp_path / "marian")
    assert out.startswith("model       transformer for translation")
    assert "training    elsewhere\n" in out
    loaded = regard.load(tmp_path / "marian")
    facts = json.loads(run("info", tmp_path / "marian", "--json")[1])
    assert facts["weights"]["parameters"] == sum(one.numel() for one in loaded.model.parameters())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["translate", "nowhere", "x"], "There is no model directory nowhere"),
        (["train", "--out", "x", "--train", "missing.tsv"], "missing.tsv"),
        (["train", "--out", "x"], "No training data"),
        (["train", "--out", "x", "--train", "-", "--val", "-"], "only once"),
        (["doctor", "--train", "-", "--train", "-"], "only once"),
        (["train", "--out", "x", "--train", "a.tsv", "--model", "transfomer"], "did you mean transformer?"),
        (["train", "--out", "x", "--train", "a.tsv", "--langs", "english"], "en-zh"),
        (["train", "--out", "x", "--train", "a.tsv", "model.heads"], "section.key=value"),
        (["train", "--out", "x", "--train", "a.tsv", "model=3", "model.heads=8"], "used as a section"),
        (["translate", "nowhere", "x", "--output", "no/where.txt"], "cannot be written"),
        (["translate", "nowhere", "x", "--beam", "5", "--nbest", "9"], "n-best 9"),
        (["train", "--out", "x", "--train", "a.tsv", "--config", "no.toml"], "no.toml does not exist"),
        (["train", "--out", "x", "--train", "a.tsv", "--minutes", "-1"], "above 0"),
        (["evaluate", "nowhere"], "nothing to evaluate on"),
        (["evaluate", "nowhere", "--challenges", "c.jsonl", "--outputs", "o.txt"], "leave out --outputs"),
        (["evaluate", "nowhere", "--challenges", "c.jsonl", "--baseline", "b.txt"], "leave out --baseline"),
        (["look", "nowhere", "x", "--out", "x.gif"], "ends in .html or .png or .svg or .json or .npz"),
    ],
)
def test_mistakes_are_told_on_stderr_with_exit_code_1(
    words: list[str], expected: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*words)
    assert code == 1
    assert out == ""
    assert err.startswith("regard: ")
    assert expected in err
    assert "Traceback" not in err


def test_a_wrong_option_is_a_usage_error(run: Run) -> None:
    assert run("translate")[0] == 2
    assert run("train", "--nonsense")[0] == 2


def test_the_same_command_with_resume_goes_on_and_ends_the_same(tmp_path: Path, run: Run) -> None:
    data = write_reversals(tmp_path / "t.tsv", 60)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('[model]\nname = "transformer"\nwidth = 16\nheads = 2\nhidden = 16\n[training]\nupdates = 4\n')
    words = ["train", "--train", data, "--config", recipe, "--out", tmp_path / "out", "training.device=auto"]
    assert run(*words)[0] == 0
    model = (tmp_path / "out" / "model.safetensors").read_bytes()
    assert run(*words)[0] == 1  # not empty
    code, _, err = run(*words, "--resume")
    assert code == 0, err
    assert (tmp_path / "out" / "model.safetensors").read_bytes() == model


def test_overwrite_with_a_mistake_keeps_the_old_model(model: Path, tmp_path: Path, run: Run) -> None:
    out = shutil.copytree(model, tmp_path / "copy")
    code, _, err = run("train", "--train", tmp_path / "typo.tsv", "--out", out, "--overwrite")
    assert code == 1
    assert "typo.tsv" in err
    assert (out / "model.safetensors").read_bytes() == (model / "model.safetensors").read_bytes()


def test_chinese_is_written_whatever_the_locale(model: Path) -> None:
    script = "import sys; from regard.cli.main import main; sys.argv = ['regard', 'info', sys.argv[1]]; main()"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script, str(model)], capture_output=True, env=environment, check=True)
    assert "xx → yy" in done.stdout.decode("utf-8")


@pytest.mark.parametrize("at_once", ["", "1"], ids=["at the end", "on the way"])
def test_it_ends_in_silence_when_nobody_reads_its_output(at_once: str) -> None:
    """`regard … | head`"""
    with subprocess.Popen(
        [sys.executable, "-m", "regard", "--version"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": at_once},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_a_picture_that_cannot_be_written_is_told(model: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "file").write_text("not a directory")
    for suffix in ("svg", "json", "npz"):
        code, _, err = run("look", model, "a b", "--out", tmp_path / "file" / f"x.{suffix}")
        assert code == 1
        assert "Could not write" in err


def test_the_version_is_told(run: Run) -> None:
    assert run("--version")[1] == "regard 0.1.0\n"
