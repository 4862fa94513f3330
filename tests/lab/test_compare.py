"""`regard compare` on real files: trained once, reported, and not trained again."""

import json
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from regard.data.corpora import Contrast, Corpus, Pair
from regard.errors import LimitError, RegardError
from regard.lab.compare import Budget, GoldFiles, Plan, contest, directory, material
from regard.lab.compare.conditions import Trial
from regard.lab.compare.summary import summary
from tests.commands import Run
from tests.runs import write_reversals

SETTINGS = (
    "tokenizer.kind=word", "tokenizer.size=50", "batch.tokens=200", "model.limit=40",
    "training.validate_every=10", "training.log_every=2"
)  # fmt: skip


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
    for name in ("trial-1/card.json", "seed-1/figures.json", "seed-1/outputs.json", "seed-1/model.safetensors"):
        damaged = out / "runs" / "bahdanau" / name
        sound = damaged.read_bytes()
        damaged.write_bytes(b"{")
        code, _, said = run(*call, "--models", "rnn,bahdanau", "--trials", 2)
        assert code == 1
        assert f"do this: delete {damaged.parent} and call the same command again" in said
        damaged.write_bytes(sound)
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
        "must be above 0": [*call, "--updates", 5, "--parameters", 0],
        "cannot be called '..'": [*call, "--updates", 5, "--models", "..=rnn"],
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


@pytest.mark.parametrize("key", ["models", "models.rnn", "model", "training", "data"])
def test_a_section_is_not_a_value(run: Run, tmp_path: Path, key: str) -> None:
    (tmp_path / "x.toml").write_text(f"{key} = 3\n", encoding="utf-8")
    for words in ([f"{key}=3"], ["--config", tmp_path / "x.toml"]):
        code, _, said = run(*given(tmp_path), "--out", tmp_path / "out", "--updates", 5, "--models", "rnn", *words)
        assert code == 1
        assert f"regard: {key} is a section, not a value." in said
        assert f"found: {key}=3" in said


@pytest.fixture
def begin(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Calls compare up to the moment at which training would begin."""

    def stop(*_: object) -> None:
        raise RegardError("Here training begins.")

    monkeypatch.setattr(contest, "run_all", stop)
    call = [*given(tmp_path), "--updates", 5, "--parameters", 30_000, "--trials", 0, *SETTINGS]
    return lambda *words: run(*call, "--out", tmp_path / "out", *words)


def test_a_name_means_what_it_meant_when_it_was_first_compared(begin: Run, tmp_path: Path) -> None:
    for models in ("dot=luong", "rnn,dot=luong", "rnn", "bahdanau", "dot=luong,bahdanau"):
        assert "Here training begins" in begin("--models", models)[2], models
    before = (tmp_path / "out" / "compare.json").read_bytes()
    for models, told in (
        ("dot=rnn", "models.dot.name=luong, now rnn"),
        ("rnn=luong", "models.rnn.name=rnn, now luong"),
        ("rnn,dot=luong:small", "models.dot.preset=None, now small"),
        ("transformer,bahdanau=rnn", "models.bahdanau.name=bahdanau, now rnn"),
    ):
        code, _, said = begin("--models", models)
        assert code == 1
        assert "holds a comparison with other settings" in said
        assert told in said
    assert (tmp_path / "out" / "compare.json").read_bytes() == before


def test_all_models_see_the_same_pairs_or_none_is_trained(
    begin: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, build = [], contest._built
    monkeypatch.setattr(contest, "_built", lambda plan, entry: built.append(entry.name) or build(plan, entry))
    short = ["models.luong.limit=4", "data.too_long=skip"]
    code, _, said = begin("--models", "rnn,luong,bahdanau", *short)
    assert code == 1
    assert "would not be trained on the same pairs" in said
    assert "found: rnn 200 pairs, luong 97 pairs, bahdanau 200 pairs\n" in said
    assert "do this: give every model the same limit" in said
    assert built == ["rnn", "luong"]
    assert not (tmp_path / "out").exists()
    assert "Here training begins" in begin("--models", "rnn,luong", "models.luong.limit=39", "data.too_long=skip")[2]
    _, _, said = begin("--models", "short=luong", "models.short.limit=4", "data.too_long=skip")
    assert "found: those before 200 pairs, short 97 pairs\n" in said


def test_what_is_too_long_for_a_limit_of_its_own_is_found_before_anything_is_trained(begin: Run) -> None:
    code, _, said = begin("--models", "rnn,luong", "models.luong.limit=4")
    assert code == 1
    assert "regard: luong: " in said
    assert "training pairs are longer than 4 tokens" in said
    assert "do this: raise models.luong.limit" in said


def test_a_directory_that_cannot_be_made_is_told(begin: Run, tmp_path: Path) -> None:
    for out, why in ((tmp_path / "train.tsv" / "x", "Not a directory"), (tmp_path / ("x" * 300), "File name too long")):
        code, _, said = begin("--out", out, "--models", "rnn")
        assert code == 1
        assert f"{out} cannot be made: {why}." in said
        assert "do this: choose another --out" in said


@pytest.mark.parametrize("content", ['{"plan":{}}', '{"plan":{"models":[],"own":{}},"sizes":3}', "[]", "{"])
def test_a_damaged_record_is_told(begin: Run, tmp_path: Path, content: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / directory.KEPT).write_text(content, encoding="utf-8")
    code, _, said = begin("--models", "rnn")
    assert code == 1
    assert "compare.json is damaged" in said
    assert "do this: put it back as it was, or choose another --out" in said


def small_corpus() -> Corpus:
    pair = Pair("The bear.", "熊。", ("The", "bear", "."), ("熊", "。"), ((1, 0), (2, 1)), "example")
    return Corpus((pair,) * 40, (pair,) * 4, (pair,) * 4, {"x": (Contrast("x", pair, pair, "熊", "熊", "bear"),)})


def test_the_built_in_corpus_is_written_once(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.data.corpora.build", small_corpus)
    monkeypatch.setattr(contest, "run_all", lambda *_: None)
    call = ["compare", "--out", tmp_path / "out", "--updates", 5, "--models", "rnn", "--trials", 0, "model.width=16"]
    _, _, said = run(*call)
    assert "writing the built-in corpus" in said
    test = tmp_path / "out" / "data" / "test.tsv"
    test.write_text("mine\tmine\n", encoding="utf-8")
    code, _, said = run(*call)
    assert code == 1
    assert "writing" not in said
    assert "found: test\n" in said
    assert test.read_text(encoding="utf-8") == "mine\tmine\n"


def test_data_is_known_again_by_all_that_it_holds(tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("t.tsv", "t.words", "t.links", "c.jsonl")}
    for name, text in {"t.tsv": "a b\tb a\n", "t.words": "a b ||| b a\n", "t.links": "0-1 1-0\n"}.items():
        files[name].write_text(text, encoding="utf-8")
    side = {"source": "a", "target": "b", "key": "b"}
    challenge = json.dumps({"phenomenon": "x", "first": side, "second": side})
    files["c.jsonl"].write_text(challenge, encoding="utf-8")
    plan = Plan(
        models=("rnn",),
        settings={"data": {split: [str(files["t.tsv"])] for split in ("train", "val", "test")}},
        budget=Budget(updates=5),
        challenges=str(files["c.jsonl"]),
        gold={"test": GoldFiles(str(files["t.words"]), str(files["t.links"]))},
    )
    seen = [material.check(plan)]
    for name, text in (
        ("t.links", "0-0 1-1\n"),
        ("t.words", "x b ||| b a\n"),
        ("c.jsonl", challenge.replace("x", "y")),
    ):
        files[name].write_text(text, encoding="utf-8")
        seen.append(material.check(plan))
    changed = [{key for key in one if one[key] != two[key]} for one, two in pairwise(seen)]
    assert changed == [{"gold of test"}, {"gold of test"}, {"challenges"}]


def test_who_has_diverged_needs_another_directory(tmp_path: Path) -> None:
    plan = Plan(models=("rnn",), settings={"data": {}}, budget=Budget(updates=5))
    with pytest.raises(LimitError, match="(?s)Every recipe has diverged.*in another --out"):
        contest._best([Trial({}), Trial({})])
    with pytest.raises(LimitError, match="(?s)Every model has diverged.*in another --out"):
        summary(plan, {}, {"rnn": []}, tmp_path, jobs=1, command="")
