"""regard generate, regard surprisal and regard look on a language model, as a person types them."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest

import regard
from regard.cli.surprisal import note
from regard.insight import Trace
from regard.models.pretrained.gpt2 import write_gpt2
from regard.tasks.generator import Generator
from regard.tasks.surprisal import Surprise
from tests.commands import Run
from tests.models.pretrained.checkpoints import theirs, write
from tests.tasks.generators import letters, pair

PROMPTS = ["The cat", "", "那只"]
SHORT = ("--max-new-tokens", 12)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As transformers has it."""
    path = tmp_path_factory.mktemp("gpt2")
    _, generator = pair(0, limit=40)
    write_gpt2(generator.model.float(), generator.tokenizer, path)
    return path


@pytest.fixture(scope="module")
def model(directory: Path) -> Generator:
    loaded = regard.load(directory)
    assert isinstance(loaded, Generator)
    return loaded


def prompts_file(directory: Path) -> Path:
    path = directory / "prompts.txt"
    path.write_text("".join(f"{prompt}\n" for prompt in PROMPTS), encoding="utf-8")
    return path


def test_a_text_is_printed_with_its_prompt(directory: Path, model: Generator, run: Run) -> None:
    code, out, err = run("generate", directory, "The cat", *SHORT, "--seed", 3, "--top-k", 20)
    (wanted,) = model.generate("The cat", max_new_tokens=12, seed=3, top_k=20)
    assert (code, err) == (0, "")
    assert out == f"The cat{wanted.text}\n"


def test_every_option_reaches_the_model(directory: Path, model: Generator, run: Run) -> None:
    """And does something: another text is written than without it."""
    given: dict[str, Any] = {
        "--temperature": ("temperature", 1.7), "--top-k": ("top_k", 2), "--top-p": ("top_p", 0.2),
        "--min-p": ("min_p", 0.5), "--repetition-penalty": ("repetition_penalty", 3.0), "--seed": ("seed", 5),
        "--num": ("num", 3), "--stop": ("stop", "e"),
    }  # fmt: skip

    def written(*words: object) -> list[list[int]]:
        _, out, _ = run("generate", directory, "The cat", "--max-new-tokens", 30, *words, "--json")
        return [text["tokens"] for text in json.loads(out)["texts"]]

    plain = written()
    for flag, (name, value) in given.items():
        found = written(flag, value)
        assert found == [list(one.tokens) for one in model.generate("The cat", max_new_tokens=30, **{name: value})]
        assert found != plain, flag
    _, out, _ = run("generate", directory, "The cat", *SHORT, "--beam", 3, "--num", 3, "--json")
    found = json.loads(out)["texts"]
    assert [text["log_prob"] for text in found] == sorted((text["log_prob"] for text in found), reverse=True)


def test_many_prompts_come_in_their_order(directory: Path, model: Generator, tmp_path: Path, run: Run) -> None:
    wanted = model.generate(PROMPTS, max_new_tokens=12, num=2)
    out = tmp_path / "out.txt"
    words = ("generate", directory, "--input", prompts_file(tmp_path), *SHORT, "--num", 2)
    assert run(*words, "--output", out)[1] == ""
    told = [
        f"── prompt {number}, text {sample} ──\n{one.prompt}{one.text}\n"
        for number, texts in enumerate(wanted, start=1)
        for sample, one in enumerate(texts, start=1)
    ]
    assert out.read_text(encoding="utf-8") == "".join(told)
    rows = [json.loads(line) for line in run(*words, "--json")[1].split("\n")[:-1]]
    assert [row["prompt"] for row in rows] == PROMPTS
    assert [[text["text"] for text in row["texts"]] for row in rows] == [
        [one.text for one in texts] for texts in wanted
    ]


def test_explain_shows_probability_rank_and_alternatives(directory: Path, model: Generator, run: Run) -> None:
    found = model.explain("The cat", max_new_tokens=4, seed=1)
    words = ("generate", directory, "The cat", "--max-new-tokens", 4, "--seed", 1, "--explain")
    lines = run(*words)[1].split("\n")
    table = lines[-len(found.choices) - 1 : -1]
    for line, choice in zip(table, found.choices, strict=True):
        assert line.split()[:2] == [f"{choice.probability:.4f}", str(choice.rank)]
        for other in choice.alternatives:
            assert f"{json.dumps(other.text, ensure_ascii=False)} {other.probability:.3f}" in line
    (text,) = json.loads(run(*words, "--json")[1])["texts"]
    assert [choice["rank"] for choice in text["choices"]] == [choice.rank for choice in found.choices]
    assert [len(choice["likeliest"]) for choice in text["choices"]] == [5] * len(found.choices)


def test_a_window_that_slid_is_said_once(directory: Path, tmp_path: Path, run: Run) -> None:
    words = ("generate", directory, "--input", prompts_file(tmp_path), "--temperature", 0)
    code, _, err = run(*words, "--max-new-tokens", 60)
    assert code == 0
    assert err.count("window of 40 tokens") == 1
    assert run(*words, *SHORT)[2] == ""


def test_streaming_writes_the_same_text(directory: Path, run: Run) -> None:
    plain = run("generate", directory, "那只", *SHORT)[1]
    assert run("generate", directory, "那只", *SHORT, "--stream")[1] == plain


def test_what_a_model_does_not_know_is_said(tmp_path: Path, run: Run) -> None:
    generator = letters()
    write_gpt2(generator.model.float(), generator.tokenizer, tmp_path)
    code, out, err = run("generate", tmp_path, "abz", "--max-new-tokens", 3)
    assert code == 0
    assert out.startswith("abz")
    assert "does not know 'z'" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--top-p", 1.5), "--top-p 1.5 cannot be used"),
        (("--top-p", 0), "--top-p 0.0 cannot be used"),
        (("--num", 2, "--stream"), "Only one text can be streamed"),
        (("--beam", 2, "--top-k", 3), "--top-k cannot be used with --beam"),
        (("--output", "nowhere/x.txt"), "cannot be written"),
        (("--max-new-tokens", 0), "--max-new-tokens 0 cannot be used"),
    ],
)
def test_mistakes_are_told_before_the_model_is_read(words: tuple[object, ...], told: str, run: Run) -> None:
    code, out, err = run("generate", "nowhere", "a", *words)
    assert (code, out) == (1, "")
    assert told in err


def test_bad_input_is_told(directory: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "binary.txt").write_bytes(b"\x80\x81\xff")
    bert = write(tmp_path / "bert", theirs("BertModel"))
    long = "the lion heard " * 40
    for words, told in (
        (("generate", directory), "There is nothing to continue"),
        (("generate", directory, "a", "--input", "b"), "A prompt and --input exclude each other"),
        (("surprisal", directory, "a", "--input", "b"), "A text and --input exclude each other"),
        (("generate", directory, "--input", tmp_path / "empty.txt"), "empty.txt is empty"),
        (("generate", directory, "--input", tmp_path / "binary.txt"), "invalid UTF-8"),
        (("generate", directory, long), "wanted: at most 40"),
        (("generate", bert, "a"), "cannot continue texts"),
        (("surprisal", bert, "a"), "is not a language model"),
        (("evaluate", bert, "--data", tmp_path / "binary.txt"), "is scored while it is trained"),
        (("align", bert, "--data", tmp_path / "binary.txt"), "does not translate"),
        (("surprisal", directory), "There is nothing to judge"),
        (("surprisal", directory, "--input", tmp_path / "empty.txt"), "empty.txt is empty"),
        (("surprisal", directory, " "), "The text is empty"),
        (("surprisal", directory, "a", "--picture", tmp_path / "x.gif"), ".png or .svg or .html"),
        (("look", bert, "a", "--generate", 3, "--out", tmp_path / "x.svg"), "cannot continue texts"),
        (("look", directory, "a", "b", "--out", tmp_path / "x.svg"), "reads one text"),
    ):
        code, out, err = run(*words)
        assert (code, out) == (1, ""), words
        assert told in err
        assert "Traceback" not in err
    code, out, err = run("generate", directory, long, "--truncate", "--max-new-tokens", 2)
    assert code == 0
    assert out.startswith(long)
    assert "of a longer prompt only the end was read" in err
    _, _, err = run("look", directory, long, "--generate", 2, "--out", tmp_path / "x.svg")
    assert "give less of it" in err
    assert "--truncate" not in err


def test_what_cannot_be_drawn_is_told_before_the_model_is_read(run: Run) -> None:
    for words, told in (
        (("a", "--picture", "x.gif"), ".png or .svg or .html"),
        (("long " * 5000, "--picture", "x.png"), "too long for a picture"),
    ):
        code, out, err = run("surprisal", "nowhere", *words)
        assert (code, out) == (1, "")
        assert told in err


# Surprisal


def test_surprisal_is_a_table_with_totals(directory: Path, model: Generator, tmp_path: Path, run: Run) -> None:
    text = "The cat 猫\nslept."
    (tmp_path / "text.txt").write_text(text + "\n", encoding="utf-8")
    found = model.surprisal(text)
    code, out, _ = run("surprisal", directory, "--input", tmp_path / "text.txt")
    lines = out.split("\n")
    assert code == 0
    assert len(lines) == 1 + len(found.tokens) + 2
    for line, token in zip(lines[1:], found.tokens, strict=False):
        assert line.split()[:2] == [f"{token.bits:.2f}", str(token.rank)]
        assert json.dumps(token.text, ensure_ascii=False) in line
    assert f"{found.bits_per_token:.3f} per token, {found.bits_per_character:.3f} per character" in lines[-2]
    assert f"perplexity {found.perplexity:.2f}" in lines[-2]
    told = json.loads(run("surprisal", directory, text, "--json")[1])
    assert told["perplexity"] == pytest.approx(found.perplexity)
    assert [token["text"] for token in told["tokens"]] == [token.text for token in found.tokens]
    assert [token["bits"] for token in told["tokens"]] == pytest.approx([token.bits for token in found.tokens])


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_surprisal_draws_the_text(directory: Path, tmp_path: Path, run: Run, suffix: str) -> None:
    picture = tmp_path / f"x.{suffix}"
    code, out, err = run("surprisal", directory, "The cat 猫 slept.", "--picture", picture)
    assert (code, err) == (0, f"written: {picture}\n")
    assert "perplexity" in out
    drawn = picture.read_text(encoding="utf-8")
    assert "猫" in drawn
    assert "perplexity" in drawn


def test_a_token_is_not_said_to_stand_in_its_own_place() -> None:
    assert note(Surprise("cat", 0, 3, 0.5, 1, "cat")) == "0.50 bits, rank 1"
    assert note(Surprise("cat", 0, 3, 6.25, 9, "dog")) == "6.25 bits, rank 9, not 'dog'"


# Look


def test_look_shows_a_text_and_what_is_written_after_it(
    directory: Path, model: Generator, tmp_path: Path, run: Run
) -> None:
    code, out, _ = run("look", directory, "The cat", "--out", tmp_path / "x.npz")
    assert (code, out) == (0, "")
    assert Trace.load(tmp_path / "x.npz") == model.attention("The cat")
    code, out, _ = run("look", directory, "The cat", "--generate", 3, "--out", tmp_path / "x.npz")
    (wanted,) = model.generate("The cat", temperature=0.0, max_new_tokens=3)
    assert (code, out) == (0, f"{wanted.text}\n")
    read = len(model.tokenizer.encode("The cat")) + 2  # all but the last that is chosen
    assert Trace.load(tmp_path / "x.npz").weights["decoder.0.self"].shape == (3, 3, read)
    code, out, _ = run("look", directory, "The cat", "--out", tmp_path / "x.svg", "--word", "at", "--head", 0)
    assert out.startswith("decoder.0.self head 0: *at* gives ")


# A terminal


def spoken(master: int, until: float, enough: int) -> bytes:
    """What comes out of a terminal, up to so many bytes, the end, or a time."""
    found = b""
    while len(found) < enough and time.monotonic() < until:
        if select.select([master], [], [], 0.2)[0]:
            try:
                more = os.read(master, 4096)
            except OSError:  # nobody is left at the other end
                return found
            if not more:
                return found
            found += more
    return found


def endless(generator: Generator) -> bool:
    """Whether its likeliest text goes on for ever (it has come back to where it was long before)."""
    (tried,) = generator.generate("ab", temperature=0.0, max_new_tokens=500)
    return tried.ending == "limit"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["the key", "a signal"])
def test_ctrl_c_while_streaming_leaves_the_terminal_as_it_was(tmp_path: Path, how: str) -> None:
    generator = next(filter(endless, (letters(seed=seed, limit=16) for seed in range(20))))
    write_gpt2(generator.model.float(), generator.tokenizer, tmp_path)
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    words = ["generate", str(tmp_path), "ab", "--temperature", "0", "--max-new-tokens", "100000000"]
    script = (
        "import fcntl, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"  # what is typed there, it gets
        "from regard.cli.main import main; sys.argv = ['regard', *sys.argv[1:]]; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, *words],
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm"},
    )  # fmt: skip
    try:
        shown = spoken(master, time.monotonic() + 300, 40)
        assert shown.startswith(b"ab")
        if how == "the key":
            os.write(master, b"\x03")
        else:
            process.send_signal(signal.SIGINT)
        rest = b""
        while process.poll() is None:
            rest += spoken(master, time.monotonic() + 0.5, 1 << 16)
        rest += spoken(master, time.monotonic() + 0.5, 1 << 16)
        assert termios.tcgetattr(slave) == before
    finally:
        process.kill()
        process.wait()
        os.close(slave)
        os.close(master)
    assert process.returncode == 130
    assert rest.endswith(b"\r\n")
    said = (shown + rest).decode()
    assert "Traceback" not in said
    assert "\x1b" not in said
    letters_only = said.replace("^C", "").strip()
    assert set(letters_only) <= set("abcdefghijklmno\ufffd")


def test_an_engine_finds_what_torch_finds(directory: Path, run: Run, tmp_path: Path) -> None:
    words = ("generate", directory, "--input", prompts_file(tmp_path), *SHORT, "--beam", 2)
    assert run(*words, "--engine", "ctranslate2")[:2] == run(*words)[:2]
    _, _, err = run("generate", directory, "The cat", *SHORT, "--engine", "ctranslate2")
    assert err == "regard: what is drawn: computed by torch, ctranslate2 cannot\n"
    assert "no engine 'gpu'" in run("generate", directory, "x", "--engine", "gpu")[2]
