"""A run from files to a model directory."""

import json
import math
from pathlib import Path

import pytest

import regard
from regard.errors import BundleError, ConfigError, DataError
from regard.training import checkpoint, directory
from regard.training.run import prepare
from regard.training.settings import resolve
from tests.runs import Silent, run_tiny, tiny_tree


def test_a_run_leaves_a_model_that_loads_and_translates(tmp_path: Path) -> None:
    outcome = run_tiny(tmp_path, tmp_path / "out")
    assert outcome.finished
    assert isinstance(regard.load(tmp_path / "out").translate("a b c"), str)
    for name in ("config.json", "model.safetensors", "tokenizer.json", "card.json", "README.md", "curves.svg"):
        assert (tmp_path / "out" / name).stat().st_size > 0, name


def test_the_first_loss_is_about_the_logarithm_of_the_vocabulary(tmp_path: Path) -> None:
    watcher = Silent()
    run_tiny(tmp_path, tmp_path / "out", watcher)
    assert watcher.losses[0] == pytest.approx(math.log(12), rel=0.35)  # eight letters and four marks


def test_metrics_hold_every_update_and_every_validation(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    records = [json.loads(line) for line in (tmp_path / "out" / "metrics.jsonl").read_text().splitlines()]
    assert [r["update"] for r in records if r["kind"] == "train"] == list(range(1, 13))
    assert [r["update"] for r in records if r["kind"] == "validation"] == [5, 10, 12]
    assert all("BLEU" not in key and r["signature"].startswith("nrefs:1") for r in records if "bleu" in r for key in r)


def test_the_saved_settings_are_resolved_and_make_the_same_run(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    saved = json.loads((tmp_path / "out" / "config.json").read_text())
    assert saved["training"]["threads"] == 1
    assert saved["training"]["device"] == "cpu"
    saved.pop("format")
    again = prepare(resolve(saved), tmp_path / "none", Silent())
    assert again.config.tree() == saved


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    models = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        tree = {**tiny_tree(tmp_path), "seed": seed}
        directory_ = tmp_path / name
        from regard.training.run import train

        train(prepare(resolve(tree), directory_, Silent()))
        models.append((directory_ / "model.safetensors").read_bytes())
    assert models[0] == models[1]
    assert models[0] != models[2]


def test_minutes_become_updates_in_the_saved_settings(tmp_path: Path) -> None:
    watcher = Silent()
    run = prepare(resolve(tiny_tree(tmp_path)), tmp_path / "out", watcher, minutes=0.05)
    assert run.config.training.updates != 12
    assert f"{run.config.training.updates:,} updates" in watcher.words[0]


def test_a_directory_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    with pytest.raises(BundleError, match="not empty") as caught:
        directory.claim(tmp_path / "out", resume=False, overwrite=False)
    assert "--resume" in str(caught.value)
    assert "--overwrite" in str(caught.value)


def test_overwrite_removes_only_what_a_run_makes(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    assert directory.claim(tmp_path / "out", resume=False, overwrite=True) is None
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["notes.txt"]


def test_resume_without_a_checkpoint_starts_afresh(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "config.json").write_text("{half")
    assert directory.claim(tmp_path / "out", resume=True, overwrite=False) is None


def test_a_resumed_run_refuses_other_settings_and_names_them(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    saved = directory.claim(tmp_path / "out", resume=True, overwrite=False)
    assert saved is not None
    directory.agree(saved, tiny_tree(tmp_path))
    with pytest.raises(ConfigError, match=r"training.updates=12, not 99"):
        directory.agree(saved, {"training": {"updates": 99}})


def test_a_resumed_run_refuses_other_data(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    prepared = prepare(resolve(tiny_tree(tmp_path)), tmp_path / "out", Silent())
    assert prepared.task.fingerprints()
    (tmp_path / "train.tsv").write_text("a\tb\n" * 50)
    with pytest.raises(BundleError, match="train data has changed"):
        directory.write_start(tmp_path / "out", prepared.config.tree(), prepared.task)


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    tree = tiny_tree(tmp_path)
    tree["model"]["width"] = 32
    other = prepare(resolve(tree), tmp_path / "out", Silent())
    with pytest.raises(BundleError, match="another model"):
        checkpoint.restore(tmp_path / "out", other.learner)


def test_pairs_longer_than_the_model_stop_the_run_or_are_counted(tmp_path: Path) -> None:
    tree = tiny_tree(tmp_path)
    with (tmp_path / "train.tsv").open("a") as file:
        file.write("a " * 50 + "\tb\n")
    with pytest.raises(DataError, match="longer than 32 tokens") as caught:
        prepare(resolve(tree), tmp_path / "out", Silent())
    assert "pair 201 has 51 tokens" in str(caught.value)
    tree["data"]["too_long"] = "skip"
    run = prepare(resolve(tree), tmp_path / "out", Silent())
    assert run.task.skipped() == ["training pair 201: 51 tokens, more than 32"]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"model": {"heds": 2}}, "did you mean heads?"),
        ({"modle": {"heads": 2}}, "did you mean model?"),
        ({"training": {"update": 2}}, "did you mean updates?"),
        ({"batch": {"token": 2}}, "did you mean tokens?"),
        ({"model": {"name": "transfomer"}}, "did you mean transformer?"),
        ({"model": {"preset": "smal"}}, "did you mean small?"),
        ({"task": "translatoin"}, "transl"),
        ({"model": {"width": 100, "heads": 3}}, "width 100 is not divisible by heads 3"),
        ({"training": {"updates": -5}}, "training.updates"),
        ({"training": {"updates": 10, "warmup": 400}}, "warmup 400 is not less than updates 10"),
        ({"training": 5}, "training is a section"),
        ({"seed": "x"}, "seed"),
    ],
)
def test_impossible_settings_are_told_with_the_nearest_known(tree: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(tree)
    assert message in str(caught.value)
