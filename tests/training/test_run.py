"""A run from files to a model directory."""

import json
import math
import os
import shutil
from pathlib import Path

import pytest
import torch

import regard
from regard.errors import BundleError, ConfigError, DataError, LimitError
from regard.training import checkpoint, directory
from regard.training.loop import learner, steps
from regard.training.run import train
from regard.training.settings import resolve
from regard.training.start import prepare
from regard.training.tracking import Metrics
from tests.runs import Silent, run_tiny, run_tree, tiny_tree


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


def test_what_knowing_nothing_costs_is_kept_for_the_judgement_of_divergence(tmp_path: Path) -> None:
    def guess_loss(out: Path) -> float:
        return float(json.loads(checkpoint.read(out)[1])["guess_loss"])

    tree = tiny_tree(tmp_path, schedule="inverse-sqrt")
    run_tree(tree, tmp_path / "out")
    records = [json.loads(line) for line in (tmp_path / "out" / "metrics.jsonl").read_text().splitlines()]
    assert guess_loss(tmp_path / "out") == records[0]["unigram_entropy"] > 1
    run_tree({"data": tree["data"], "training": {"updates": 14}}, tmp_path / "out")
    assert guess_loss(tmp_path / "out") == records[0]["unigram_entropy"]
    continued = {"init": str(tmp_path / "out"), "data": tree["data"], "training": {"updates": 2, "warmup": 1}}
    run_tree(continued, tmp_path / "more")
    assert guess_loss(tmp_path / "more") == 0  # it begins far below


def test_the_saved_settings_are_resolved_and_make_the_same_run(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    saved = json.loads((tmp_path / "out" / "config.json").read_text())
    assert saved["training"]["threads"] == 1
    assert saved["training"]["device"] == "cpu"
    saved.pop("format")
    again = prepare(saved, tmp_path / "none", Silent())
    assert again.config.tree() == saved


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    models = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run_tree({**tiny_tree(tmp_path), "seed": seed}, tmp_path / name)
        models.append((tmp_path / name / "model.safetensors").read_bytes())
    assert models[0] == models[1]
    assert models[0] != models[2]


def test_minutes_become_updates_in_the_saved_settings(tmp_path: Path) -> None:
    watcher = Silent()
    run = prepare(tiny_tree(tmp_path), tmp_path / "out", watcher, minutes=0.05)
    assert run.config.training.updates != 12
    assert f"{run.config.training.updates:,} updates" in watcher.words[0]


def test_a_directory_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    with pytest.raises(BundleError, match="not empty") as caught:
        directory.claim(tmp_path / "out", resume=False, overwrite=False)
    assert "--resume" in str(caught.value)
    assert "--overwrite" in str(caught.value)


def test_overwrite_removes_only_what_a_run_makes_and_only_when_the_new_one_begins(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    assert directory.claim(tmp_path / "out", resume=False, overwrite=True) is None
    assert (tmp_path / "out" / "model.safetensors").exists()
    prepared = prepare(tiny_tree(tmp_path), tmp_path / "out", Silent(), overwrite=True)
    directory.begin(tmp_path / "out", prepared.config.tree(), {}, prepared.task)
    left = {path.name for path in (tmp_path / "out").iterdir()}
    assert left == {"notes.txt", "config.json", "run.json", "tokenizer.json"}


@pytest.mark.parametrize("choice", [{"resume": True, "overwrite": False}, {"resume": False, "overwrite": True}])
def test_somebody_elses_directory_is_left_alone(tmp_path: Path, choice: dict[str, bool]) -> None:
    (tmp_path / "README.md").write_text("my project")
    with pytest.raises(BundleError, match="did not write"):
        directory.claim(tmp_path, **choice)
    assert (tmp_path / "README.md").read_text() == "my project"


def test_resume_without_a_checkpoint_starts_afresh_with_a_new_tokenizer(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    for name in ("checkpoint.safetensors", "card.json"):
        (tmp_path / "out" / name).unlink()
    assert directory.claim(tmp_path / "out", resume=True, overwrite=False) is None
    tree = tiny_tree(tmp_path)
    tree["tokenizer"]["size"] = 8
    run = prepare(tree, tmp_path / "out", Silent(), resume=True)
    assert len(run.task.tokenizers.source) == 8


def test_a_resumed_run_refuses_other_settings_and_names_them(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_tiny(tmp_path, out)
    saved = directory.claim(out, resume=True, overwrite=False)
    assert saved is not None
    again = directory.agree(out, saved, tiny_tree(tmp_path))
    assert resolve(again).tree() == again
    for given, message in (
        ({"training": {"updates": 6}}, "training.updates=12, not 6"),
        ({"model": {"preset": "big"}}, "model.preset=tiny, not big"),
        ({"seed": 5}, "seed=1, not 5"),
    ):
        with pytest.raises(ConfigError, match=message):
            directory.agree(out, saved, given)


def test_a_resumed_run_may_move_to_another_machine(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_tiny(tmp_path, out)
    saved = directory.claim(out, resume=True, overwrite=False)
    assert saved is not None
    moved = directory.agree(out, saved, {"training": {"device": "auto", "threads": 2}})
    assert (moved["training"]["device"], moved["training"]["threads"]) == ("auto", 2)


def test_a_resumed_run_refuses_other_data(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    tree = tiny_tree(tmp_path)
    (tmp_path / "train.tsv").write_text("a\tb\n" * 50)
    with pytest.raises(BundleError, match="train data has changed"):
        run_tree(tree, tmp_path / "out")


def test_a_mistake_in_the_test_data_is_found_before_training(tmp_path: Path) -> None:
    tree = tiny_tree(tmp_path)
    (tmp_path / "test.tsv").write_text("a\tb\nonly one column\n")
    tree["data"]["test"] = [str(tmp_path / "test.tsv")]
    with pytest.raises(DataError, match="line 2"):
        prepare(tree, tmp_path / "out", Silent())


def test_a_test_sentence_that_is_too_long_is_cut_and_counted(tmp_path: Path) -> None:
    tree = tiny_tree(tmp_path)
    (tmp_path / "test.tsv").write_text("a\tb\n" + "a " * 60 + "\tb\n")
    tree["data"]["test"] = [str(tmp_path / "test.tsv")]
    assert run_tree(tree, tmp_path / "out").card["scores"]["test"]["truncated"] == 1


def test_a_parameter_without_a_gradient_can_be_resumed(tmp_path: Path) -> None:
    run = prepare(tiny_tree(tmp_path), tmp_path / "out", Silent())
    run.model.register_parameter("unused", torch.nn.Parameter(torch.zeros(3)))
    learns = learner(run.model, run.config.training)
    next(steps(learns, run.task, run.config.training, seed=1))
    (tmp_path / "out").mkdir()
    checkpoint.save(tmp_path / "out", learns, checkpoint.Progress(updates=1))
    assert checkpoint.restore(checkpoint.read(tmp_path / "out"), learns).updates == 1


def test_metrics_survive_odd_line_ends_in_the_text(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    metrics.add("validation", 1, {"example": "one\u2028two\x85three"})
    metrics.add("train", 2, {"loss": 1.0})
    metrics.rewind(2)
    assert [record["update"] for record in metrics.records()] == [1, 2]


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    tree = tiny_tree(tmp_path)
    tree["model"]["width"] = 32
    other = prepare(tree, tmp_path / "other", Silent())
    with pytest.raises(BundleError, match="another model"):
        checkpoint.restore(checkpoint.read(tmp_path / "out"), other.learner)


def test_pairs_longer_than_the_model_stop_the_run_or_are_counted(tmp_path: Path) -> None:
    tree = tiny_tree(tmp_path)
    with (tmp_path / "train.tsv").open("a") as file:
        file.write("a " * 50 + "\tb\n")
    with pytest.raises(DataError, match="longer than 32 tokens") as caught:
        prepare(tree, tmp_path / "out", Silent())
    assert "pair 201 has 51 tokens" in str(caught.value)
    tree["data"]["too_long"] = "skip"
    run = prepare(tree, tmp_path / "out", Silent())
    assert run.task.skipped() == ["training pair 201: 51 tokens, more than 32"]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"model": {"heds": 2}}, "did you mean heads?"),
        ({"modle": {"heads": 2}}, "did you mean model?"),
        ({"training": {"update": 2}}, "did you mean updates?"),
        ({"batch": {"token": 2}}, "did you mean tokens?"),
        ({"training": {"seed": 2}}, "write seed=…"),
        ({"training": {"tokens": 2048}}, "write batch.tokens=…"),
        ({"model": {"learning_rate": 0.1}}, "write training.learning_rate=…"),
        ({"model": {"name": "transfomer"}}, "did you mean transformer?"),
        ({"model": {"preset": "smal"}}, "did you mean small?"),
        ({"task": "translatoin"}, "transl"),
        ({"model": {"width": 100, "heads": 3}}, "width 100 is not divisible by heads 3"),
        ({"training": {"updates": -5}}, "training.updates"),
        ({"training": {"updates": 10, "warmup": 400}}, "warmup 400 is not less than updates 10"),
        ({"model": {"preset": 3}}, "no preset '3'"),
        ({"training": 5}, "training is a section"),
        ({"seed": "x"}, "seed"),
        ({"seed": True}, "seed"),
        ({"training": {"learning_rate": float("inf")}}, "learning_rate"),
        ({"training": {"betas": [2, 3]}}, "betas"),
        ({"training": {"threads": 10**12}}, "threads"),
    ],
)
def test_impossible_settings_are_told_with_the_nearest_known(tree: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(tree)
    assert message in str(caught.value)


def test_a_run_that_diverges_stops_and_keeps_its_last_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(LimitError, match="no longer a number") as caught:
        run_tiny(tmp_path, tmp_path / "out", learning_rate=1e30, clip=0, average=0, save_every=1)
    assert "training.learning_rate" in str(caught.value)
    assert (tmp_path / "out" / "checkpoint.safetensors").exists()


def test_a_finished_model_without_a_checkpoint_is_not_trained_over(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    (tmp_path / "out" / "checkpoint.safetensors").unlink()
    with pytest.raises(BundleError, match="finished model"):
        directory.claim(tmp_path / "out", resume=True, overwrite=False)


def test_a_second_training_in_one_directory_is_kept_out(tmp_path: Path) -> None:
    run = prepare(tiny_tree(tmp_path), tmp_path / "out", Silent())
    with (
        directory.locked(tmp_path / "out"),
        pytest.raises(BundleError, match=f"(?s)Another training is at work.*process {os.getpid()}"),
    ):
        train(run)
    assert train(run).finished
    assert not (tmp_path / "out" / directory.LOCK).exists()


def test_a_lock_that_a_killed_run_left_behind_means_nothing(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / directory.LOCK).write_text("1 on nowhere\n")
    assert run_tiny(tmp_path, tmp_path / "out").finished


def test_data_that_moved_is_still_the_same_data(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_tiny(tmp_path, out)
    saved = directory.claim(out, resume=True, overwrite=False)
    moved = shutil.copy(tmp_path / "train.tsv", tmp_path / "elsewhere.tsv")
    assert saved is not None
    tree = directory.agree(out, saved, {"data": {"train": [str(moved)]}})
    assert tree["data"]["train"] == [str(moved)]
    run_tree(tree, out)


@pytest.mark.parametrize("content", ["", "{", "[1]"])
def test_a_damaged_record_of_the_run_is_named(tmp_path: Path, content: str) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    (tmp_path / "out" / "run.json").write_text(content)
    with pytest.raises(BundleError, match=r"run\.json is damaged"):
        run_tiny(tmp_path, tmp_path / "out")


def test_a_damaged_log_does_not_stop_a_resume(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    (tmp_path / "out" / "metrics.jsonl").write_bytes(
        b'{}\n[1]\n\xff\n{"kind": "train", "update": 1, "loss": 1.0}\n{"ha'
    )
    assert run_tiny(tmp_path, tmp_path / "out").finished
