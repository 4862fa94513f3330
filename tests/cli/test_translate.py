"""regard translate, as a person types it: its options, whole libraries, and what is left when it is killed."""

import gzip
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import regard
from regard import engines
from regard.models.pretrained.gpt2 import write_gpt2
from regard.tasks import windows
from regard.tasks.searching import Search
from regard.tasks.translator import Translator
from tests.commands import Run
from tests.engines.translators import learned, learned_directory
from tests.models.pretrained import marians
from tests.tasks.generators import letters
from tests.tasks.libraries import brief, lines, write_bundle

TEXT = "The cat chased a dog."
GREEDY = ("--beam", 1)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bundle(tmp_path_factory.mktemp("model"), brief())


@pytest.fixture(scope="module")
def model(directory: Path) -> Translator:
    loaded = regard.load(directory)
    assert isinstance(loaded, Translator)
    return loaded


def write(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


# Options


@pytest.mark.parametrize(
    ("words", "how"),
    [
        ((), {}),
        (("--beam", 2, "--length-penalty", 0.2), {"beam": 2, "penalty": 0.2}),
        (("--prefix", "那只"), {"prefix": "那只"}),
        (("--repetition-penalty", 2.0, "--no-repeat-ngram", 2), {"repetition_penalty": 2.0, "no_repeat_ngram": 2}),
        (
            ("--sample", "--temperature", 0.7, "--top-k", 30, "--top-p", 0.9, "--min-p", 0.01, "--seed", 4),
            {"sample": True, "temperature": 0.7, "top_k": 30, "top_p": 0.9, "min_p": 0.01, "seed": 4},
        ),
    ],
)
def test_every_option_reaches_the_model(
    directory: Path, model: Translator, run: Run, words: tuple[Any, ...], how: dict[str, Any]
) -> None:
    code, out, err = run("translate", directory, TEXT, "The lion slept.", *words)
    assert code == 0, err
    assert out.splitlines() == model.translate([TEXT, "The lion slept."], **how)


def test_drawn_translations_are_numbered_like_the_best(directory: Path, model: Translator, run: Run) -> None:
    _, out, _ = run("translate", directory, TEXT, "--sample", "--nbest", 7)
    found = model.translations([TEXT], Search(sample=True, nbest=7))[0]
    assert out.splitlines() == [f"1\t{one.score:.4f}\t{one.text}" for one in found]


def test_each_line_may_have_a_prefix_of_its_own(directory: Path, model: Translator, run: Run, tmp_path: Path) -> None:
    texts, prefixes = [TEXT, "", "The lion slept.", TEXT], ["那只", "然后", "", "一只狗"]
    source, begun = write(tmp_path / "in.txt", texts), write(tmp_path / "prefixes.txt", prefixes)
    _, out, _ = run("translate", directory, "--input", source, "--prefixes", begun, *GREEDY)
    assert out.split("\n")[:-1] == model.translate(texts, prefix=prefixes, beam=1)
    code, _, err = run("translate", directory, TEXT, "--prefixes", begun, "--prefix", "那只")
    assert code == 1
    assert "Both --prefix and --prefixes" in err


def test_a_prefix_that_leaves_no_room_is_told_before_anything_is_written(
    directory: Path, run: Run, tmp_path: Path
) -> None:
    count, long = windows.LINES + 2, "那只狗" * 200
    source = write(tmp_path / "in.txt", [TEXT] * count)
    begun = write(tmp_path / "prefixes.txt", ["那只"] * (count - 1) + [long])
    out = tmp_path / "out.txt"
    code, _, err = run("translate", directory, "--input", source, "--prefixes", begun, "--output", out, *GREEDY)
    assert code == 1
    assert f"Prefix {count}," in err
    assert not out.exists()
    code, _, err = run("translate", directory, TEXT, "--prefix", long)
    assert code == 1
    assert "The prefix, '那只狗" in err


def test_paragraphs_are_split_and_joined_again(directory: Path, model: Translator, run: Run, tmp_path: Path) -> None:
    one, other = "Mr. Cat slept.", "Then a dog watched a lion."
    source = write(tmp_path / "in.txt", [f"  {one} {other} ", "", " \t", other])
    translated = model.translate([one, other], beam=1)
    _, out, _ = run("translate", directory, "--input", source, "--split", *GREEDY)
    assert out == f"  {''.join(translated)} \n\n \t\n{translated[1]}\n"
    _, out, _ = run("translate", directory, "--input", source, "--split", "--json", "--nbest", 2, "--beam", 2)
    first, empty, blank, _ = (json.loads(line) for line in out.splitlines())
    assert [sentence["source"] for sentence in first["sentences"]] == [one, other]
    assert [len(sentence["translations"]) for sentence in first["sentences"]] == [2, 2]
    assert (empty["text"], blank["text"], blank["sentences"]) == ("", " \t", [])


def test_a_model_of_several_languages_is_told_which_one_to_write(run: Run, tmp_path: Path) -> None:
    marians.write(tmp_path / "marian", seed=9)
    several = regard.load(tmp_path / "marian")
    texts = ["The cat slept.", "", "A dog watched. The lion slept.", ">>cmn_Hans<< The cat slept."]
    codes = [f">>deu<< {text}" if text and not text.startswith(">>") else text for text in texts]
    source = write(tmp_path / "in.txt", texts)
    _, out, _ = run("translate", tmp_path / "marian", "--input", source, "--to", "de", *GREEDY)
    assert out.split("\n")[:-1] == several.translate(codes, beam=1) == several.translate(texts, to="deu", beam=1)
    assert several.translate("The cat slept.", to="de") != several.translate("The cat slept.", to="zh-Hans")
    _, out, _ = run("translate", tmp_path / "marian", "--input", source, "--to", "de", "--split", *GREEDY)
    both = several.translate([">>deu<< A dog watched.", ">>deu<< The lion slept."], beam=1)
    assert out.split("\n")[2] == " ".join(both)
    _, out, _ = run("translate", tmp_path / "marian", "--input", source, "--to", "de", "--split", "--json", *GREEDY)
    found = [[one["source"] for one in json.loads(line)["sentences"]] for line in out.splitlines()]
    assert found == [["The cat slept."], [], ["A dog watched.", "The lion slept."], [">>cmn_Hans<< The cat slept."]]
    code, _, err = run("translate", tmp_path / "marian", TEXT, "--to", "fr")
    assert code == 1
    assert "does not write 'fr'" in err
    assert "zh-Hans" in err


def test_as_many_may_be_wanted_as_the_models_own_beam_is_wide(directory: Path, run: Run, tmp_path: Path) -> None:
    wide = shutil.copytree(directory, tmp_path / "wide")
    config = json.loads((wide / "config.json").read_text())
    (wide / "config.json").write_text(json.dumps({**config, "habits": {**config["habits"], "beam": 7}}))
    _, out, _ = run("translate", wide, TEXT, "--nbest", 7)
    assert len(out.splitlines()) == 7
    code, _, err = run("translate", directory, TEXT, "--nbest", 7)
    assert code == 1
    assert "beam 5, n-best 7" in err


def test_a_note_needs_a_directory_that_can_be_written(
    directory: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = write(tmp_path / "in.txt", [TEXT]), write(tmp_path / "out.txt", ["as it was"])
    monkeypatch.setattr("regard.cli.translate.os.access", lambda place, mode: place == out)
    code, _, err = run("translate", directory, "--input", source, "--output", out, *GREEDY)
    assert code == 1
    assert "out.txt cannot be written" in err
    assert out.read_text() == "as it was\n"


def test_a_model_of_one_language_cannot_be_told_to_write_another(directory: Path, run: Run) -> None:
    code, _, err = run("translate", directory, TEXT, "--to", "fr")
    assert code == 1
    assert "one language only" in err


def test_a_line_that_is_too_long_is_refused_cut_or_split(directory: Path, run: Run, tmp_path: Path) -> None:
    source = write(tmp_path / "in.txt", [TEXT, "the cat chased a dog, " * 20])
    out = write(tmp_path / "out.txt", ["as it was"])
    code, _, err = run("translate", directory, "--input", source, "--output", out, *GREEDY)
    assert code == 1
    assert "Line 2 is longer" in err
    assert "--split" in err
    assert "--truncate" in err
    assert out.read_text() == "as it was\n"
    lengths = []
    for option in ("--truncate", "--split"):
        code, _, err = run("translate", directory, "--input", source, "--output", out, option, *GREEDY)
        assert code == 0, err
        lengths.append([len(line) for line in out.read_text(encoding="utf-8").split("\n")])
    assert lengths[0][0] == lengths[1][0]
    assert lengths[0][1] < lengths[1][1]


def test_standard_input_is_translated_too(
    directory: Path, model: Translator, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = lines(30)
    monkeypatch.setattr(windows, "LINES", 8)
    given = SimpleNamespace(buffer=io.BytesIO("".join(f"{text}\n" for text in texts).encode()), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", given)
    code, out, err = run("translate", directory, "--jobs", 1, *GREEDY)
    assert code == 0, err
    assert out.split("\n")[:-1] == model.translate(texts, beam=1)
    given.buffer.seek(0)
    assert run("translate", directory, "--jobs", 1, *GREEDY, "--output", tmp_path / "out.txt")[0] == 0
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == out
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["x", "--resume"], "nothing to resume without --output"),
        (["x", "--resume", "--output", "o.txt"], "Only a file can be gone on with"),
        (["--input", "in.txt", "--output", "in.txt"], "in.txt is read"),
        (["--input", "none.txt", "--prefixes", "in.txt", "--output", "in.txt"], "in.txt is read"),
        (["x", "--prefixes", "-"], "Prefixes cannot come from stdin"),
        (["x", "--output", "nowhere/o.txt"], "nowhere/o.txt cannot be written"),
        (["x", "--output", "in.txt/o.txt"], "in.txt/o.txt cannot be written"),
        (["x", "--engine", "ctranslate"], "There is no engine 'ctranslate'"),
        (["x", "--jobs", "none"], "--jobs none"),
        (["x", "--jobs", "0"], "--jobs 0"),
        (["x", "--split", "--truncate"], "--truncate has no use"),
        (["x", "--split", "--nbest", "2"], "add --json"),
        (["x", "--top-k", "3"], "add --sample"),
        (["x", "--sample", "--beam", "3"], "exclude each other"),
    ],
)
def test_mistakes_are_told_before_the_model_is_read(
    words: list[str], told: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "in.txt", ["a"])
    code, out, err = run("translate", "nowhere", *words)
    assert (code, out) == (1, "")
    assert told in err


def test_a_model_of_another_kind_is_refused(run: Run, tmp_path: Path) -> None:
    generator = letters(seed=0, limit=16)
    write_gpt2(generator.model.float(), generator.tokenizer, tmp_path)
    code, _, err = run("translate", tmp_path, "x")
    assert code == 1
    assert "cannot translate" in err


# Engines


@pytest.mark.parametrize("engine", ["auto", "torch", "ctranslate2", "ctranslate2-int8"])
def test_an_engine_computes_as_if_it_were_called_from_python(engine: str, run: Run) -> None:
    texts = ["a b c", "", "d e f g"]
    code, out, err = run("translate", learned_directory(), *texts, "--engine", engine)
    assert code == 0, err
    assert out.split("\n")[:-1] == engines.load(learned_directory(), engine).translate(texts)


def test_what_torch_computes_instead_is_said_once(run: Run) -> None:
    words = ("translate", learned_directory(), "a b", "c d", "--prefix", "b")
    _, out, err = run(*words, "--engine", "ctranslate2")
    assert err == "regard: --prefix: computed by torch, ctranslate2 cannot\n"
    assert run(*words, "--engine", "torch") == (0, out, "")


def test_an_output_is_not_gone_on_with_by_another_engine(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windows, "LINES", 2)
    source, out = write(tmp_path / "in.txt", ["a b c", "d e", "f g h", "a c"]), tmp_path / "out.txt"
    words = ("translate", learned_directory(), "--input", source, "--output", out, "--jobs", 1)
    with monkeypatch.context() as patch:
        patch.setattr("regard.tasks.unfinished.Output.write", broken_off(1))
        assert run(*words, "--engine", "ctranslate2")[0] == 130
    code, _, err = run(*words, "--engine", "torch", "--resume")
    assert code == 1
    assert "begun with another engine" in err
    assert run(*words, "--resume")[0] == 0
    assert out.read_text().split("\n")[:-1] == learned().translate(["a b c", "d e", "f g h", "a c"])


def test_several_processes_have_the_engine_too(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "LINES", 2)
    source = write(tmp_path / "in.txt", ["a b c", "d e", "f g h", "a c", "b"])
    words = ("translate", learned_directory(), "--input", source, "--engine", "ctranslate2-int8")
    assert run(*words, "--jobs", 2)[:2] == run(*words, "--jobs", 1)[:2]


# Libraries


def test_an_unfinished_output_is_gone_on_with_and_nothing_else(
    directory: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windows, "LINES", 10)
    source = tmp_path / "book.txt.gz"
    source.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines(60)).encode()))
    out, note = tmp_path / "out.txt", tmp_path / "out.txt.regard.json"
    words = ("translate", directory, "--input", source, "--output", out, "--jobs", 1, *GREEDY)
    assert run(*words)[0] == 0
    whole = out.read_bytes()
    assert not note.exists()
    with monkeypatch.context() as patch:
        patch.setattr("regard.tasks.unfinished.Output.write", broken_off(3))
        code, _, err = run(*words)
    assert code == 130
    assert "call the same command with --resume" in err
    assert whole.startswith(out.read_bytes())
    assert note.exists()
    for changed, told in (
        ((*words,), "broken off"),
        ((*words, "--resume", "--beam", 2), "another beam"),
        ((*words, "--resume", "--json"), "another form"),
        (("translate", write_bundle(tmp_path / "other", brief(seed=1)), *words[2:], "--resume"), "another model"),
    ):
        code, _, err = run(*changed)
        assert code == 1
        assert told in err
    code, _, err = run(*words, "--resume")
    assert code == 0
    assert "going on after line 30 of 60" in err
    assert out.read_bytes() == whole
    assert not note.exists()
    code, _, err = run(*words, "--resume")
    assert code == 0
    assert f"{out} is complete already" in err
    assert out.read_bytes() == whole
    out.write_bytes(whole + b"more\n")
    code, _, err = run(*words, "--resume")
    assert code == 1
    assert "more lines than the input" in err


def broken_off(after: int) -> Callable[[Any, str], None]:
    """Writes so often, then Ctrl-C comes."""
    from regard.tasks.unfinished import Output

    written, real = 0, Output.write

    def write(output: Any, text: str) -> None:
        nonlocal written
        if written == after:
            raise KeyboardInterrupt
        written += 1
        real(output, text)

    return write


SCRIPT = """
import sys
from regard.cli.main import main
from regard.tasks import windows
windows.LINES = int(sys.argv.pop(1))
if __name__ == "__main__":
    main()
"""
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}


def started(words: tuple[Any, ...]) -> "subprocess.Popen[str]":
    """A real process in a group of its own, with windows of 50 lines."""
    call = [sys.executable, "-c", SCRIPT, "50", *map(str, words)]
    return subprocess.Popen(call, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, start_new_session=True)


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def killed_after(words: tuple[Any, ...], out: Path, enough: int, pause: float) -> bool:
    """Kills it when the output has grown to so many bytes, and a moment more; False if it has ended before."""
    with started(words) as process:
        while size(out) < enough and process.poll() is None:
            time.sleep(0.002)
        time.sleep(pause)
        helpers = children(process.pid) if process.poll() is None else []
        process.send_signal(signal.SIGKILL)
        process.communicate()
    until = time.monotonic() + 120
    while any(map(alive, helpers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(alive, helpers))  # nobody goes on working for nobody
    return process.returncode != 0


@pytest.mark.slow
@pytest.mark.parametrize("pause", [0.0, 0.3, 1.0])
def test_ctrl_c_is_told_once_however_many_processes_there_are(directory: Path, tmp_path: Path, pause: float) -> None:
    source, out = write(tmp_path / "book.txt", lines(2000)), tmp_path / "out.txt"
    words = ("translate", directory, "--input", source, "--output", out, "--jobs", 2)
    with started(words) as process:
        while process.poll() is None and len(children(process.pid)) < 3:  # those two, and Python's own
            time.sleep(0.002)
        time.sleep(pause)
        os.killpg(process.pid, signal.SIGINT)
        _, told = process.communicate()
    assert process.returncode == 130
    assert told == f"broken off; to go on, call the same command with --resume (what is done is in {out})\n"


@pytest.fixture(scope="module")
def book(directory: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[Any, ...], Path]:
    """The words of a command that takes a while, and what it gives if nobody disturbs it."""
    home = tmp_path_factory.mktemp("book")
    words = ("translate", directory, "--input", write(home / "book.txt", lines(2000)), *GREEDY, "--json")
    with started((*words, "--jobs", 1, "--output", home / "whole.txt")) as process:
        assert process.communicate()[1] == "" or process.returncode == 0
    assert (home / "whole.txt").read_bytes().count(b"\n") == 2000
    return words, home / "whole.txt"


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_library_that_was_killed_at_random_moments_is_the_same_in_the_end(
    book: tuple[tuple[Any, ...], Path], tmp_path: Path, jobs: str
) -> None:
    words, whole = book
    out = tmp_path / "out.txt"
    draw, again, kills = random.Random(jobs), tuple[str, ...](), 0
    for share in (0.0, 0.2, 0.45, 0.7):
        enough = max(1, int(size(whole) * share + draw.uniform(0, 0.15) * size(whole)))
        kills += killed_after((*words, "--jobs", jobs, "--output", out, *again), out, enough, draw.uniform(0, 0.02))
        again = ("--resume",)
        assert whole.read_bytes().startswith(out.read_bytes())
        if draw.random() < 0.5:  # a kernel or a disk may lose the end of what was written
            out.write_bytes(out.read_bytes()[: -draw.randint(1, 90)])
    assert kills == 4
    with started((*words, "--jobs", jobs, "--output", out, "--resume")) as process:
        told = process.communicate()[1]
    assert process.returncode == 0, told
    assert out.read_bytes() == whole.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]
