"""The tutorial and the how-to pages, as somebody follows them."""

from functools import partial
from pathlib import Path
from time import perf_counter

import pytest

from regard.cli import demo
from regard.data import corpora
from regard.lab import shop
from tests.commands import Run
from tests.docs.blocks import DOCS, ROOT, Block, blocks, pages
from tests.docs.newcomer import Hurried, Shell, follow
from tests.models.pretrained import marians
from tests.unchecked import unchecked

LITTLE = ["training.updates=2", "training.warmup=1", "training.threads=1", "training.validate_sentences=4"]
BRIEF = 12
"""Tokens at most: after two updates a model hardly ever says that it is done."""
SONNET = "Shall I compare thee to a summer's day?\nThou art more lovely and more temperate:\n"
LINES = 40_000
"""Of Shakespeare; in a hurry, commands ask for a tenth of them."""
NO_PROGRAM = {"console", "source", "math", "toml", "json", "nginx", "ini"}
REFERENCE = ["entities.md", "engines.md", "serving.md", "viewer.md", "results/lab.md"]
"""What goes on with the models of the pages before."""
ALL = [*pages("tutorial"), *pages("how-to"), *REFERENCE]


def shortened(words: list[str]) -> list[str]:
    """A training of two updates. (`--minutes` would choose their number.) A world of few scenes."""
    if words[0] == "world":
        return [*words, "--scenes", "40"]
    if words[0] != "train":
        return words
    place = words.index("--minutes") if "--minutes" in words else len(words)
    brief = [f"habits.limit={BRIEF}"] if "--langs" in words and "--init" not in words else []
    return [*words[:place], *words[place + 2 :], *LITTLE, *brief]


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the newcomer is: a folder with configs/ and docs/, and with what the pages fetch from the internet."""
    for folder in ("configs", "docs"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "shakespeare.txt").write_text(SONNET * (LINES // 10 // 2))
    marians.write(tmp_path / "opus-mt-en-zh")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_every_command_and_snippet_of_the_pages_runs_in_their_order(
    directory: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    training = {**demo.SETTINGS["training"], "updates": 2, "warmup": 1, "threads": 1, "validate_sentences": 4}
    settings = {**demo.SETTINGS, "training": training, "habits": {"limit": BRIEF}}
    monkeypatch.setattr(demo, "SETTINGS", settings)
    small = partial(corpora.build, train=600, validation=10, test=40, contrasts=1)
    for place in (corpora, shop):
        monkeypatch.setattr(place, "build", small)
    hurried = Hurried(run, shortened, Shell(directory))
    with unchecked():
        assert follow(ALL, hurried.run, soak=False) > 40


@pytest.mark.soak
@pytest.mark.timeout(4 * 3600)
def test_a_newcomer_meets_no_surprise(directory: Path) -> None:
    """As the pages stand, with all of their training: about an hour and a half on two cores."""
    (directory / "shakespeare.txt").write_text(SONNET * (LINES // 2))
    shell = Shell(directory)

    def told(block: Block) -> str:
        begun = perf_counter()
        said = shell.run(block)
        print(f"{block.place}: {perf_counter() - begun:.0f} s", flush=True)
        return said

    assert follow(ALL, told, soak=True) > 40


def test_what_is_not_run_says_why() -> None:
    shown = [block for page in ALL for block in blocks(page)]
    kept_back = [block for block in shown if block.when]
    assert len(kept_back) <= 13
    assert all(len(block.reason) > 10 for block in kept_back)
    written = {block.language for block in shown if not block.page.startswith("results/")}  # the lab writes that one
    assert written <= {"sh", "python", "text", *NO_PROGRAM}


@pytest.mark.parametrize("page", [page for page in ALL if (DOCS / "zh" / page).exists()])
def test_the_chinese_page_shows_the_code_of_the_english_one(page: str) -> None:
    assert [block.code for block in blocks(f"zh/{page}")] == [block.code for block in blocks(page)]
