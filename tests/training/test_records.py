"""What a run writes down of itself: sessions in run.json, records for TensorBoard."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from regard.errors import ConfigError, LimitError
from regard.training import directory, records
from regard.training.run import train
from regard.training.settings import resolve
from regard.training.start import prepare
from tests.runs import Silent, run_tiny, tiny_tree


class Leaves(Silent):
    """Does something in the middle of an update."""

    def __init__(self, after: int, how: Any) -> None:
        super().__init__()
        self.after, self.how = after, how

    def stepped(self, step: Any, seconds: float) -> None:
        super().stepped(step, seconds)
        if len(self.losses) == self.after:
            self.how()


def ask_to_stop() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def interrupt() -> None:
    raise KeyboardInterrupt


def told(out: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((out / "run.json").read_text(encoding="utf-8"))
    return record


def test_a_session_tells_command_machine_versions_and_how_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/regard", "train", "--out", "my model"])
    monkeypatch.chdir(tmp_path)
    outcome = run_tiny(tmp_path, tmp_path / "out")
    record = told(tmp_path / "out")
    assert record["parameters"] == outcome.card["parameters"]
    assert record["data"] == outcome.card["data"]
    (session,) = record["sessions"]
    assert session["command"] == "regard train --out 'my model'"
    assert session["directory"] == str(tmp_path)
    assert session["git"] is None
    assert session["gpu"] is None
    assert set(session["versions"]) >= {"python", "regard", "torch", "tokenizers"}
    assert all(session[key] for key in ("host", "platform", "cpu"))
    end = session["ended"]
    assert (end["how"], end["why"], end["updates"]) == ("finished", "", 12)
    assert end["seconds"] == outcome.card["train_seconds"]
    assert session["began"] <= end["at"]


def test_every_resume_is_a_session_of_its_own(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out", Leaves(6, ask_to_stop))
    run_tiny(tmp_path, tmp_path / "out")
    first, second = told(tmp_path / "out")["sessions"]
    assert (first["after"], first["ended"]["updates"], first["ended"]["how"]) == (0, 7, "stopped")
    assert (second["after"], second["ended"]["updates"], second["ended"]["how"]) == (7, 12, "finished")
    assert second["ended"]["seconds"] >= first["ended"]["seconds"]


def test_a_session_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(LimitError, match="diverged"):
        run_tiny(tmp_path, tmp_path / "out", learning_rate=1e30, clip=0, average=0)
    end = told(tmp_path / "out")["sessions"][0]["ended"]
    assert end["how"] == "failed"
    assert "training has diverged" in end["why"]


def test_a_second_ctrl_c_is_a_stop_and_no_failure(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_tiny(tmp_path, tmp_path / "out", Leaves(4, interrupt))
    assert told(tmp_path / "out")["sessions"][0]["ended"]["how"] == "stopped"


def test_a_session_that_is_killed_has_no_end(tmp_path: Path) -> None:
    run = prepare(tiny_tree(tmp_path), tmp_path / "out", Silent())
    directory.begin(run.out, run.config.tree(), {}, run.task)
    with records.session(run):
        assert "ended" not in told(run.out)["sessions"][0]


def test_other_processes_of_a_run_write_nothing(tmp_path: Path) -> None:
    run = prepare(tiny_tree(tmp_path), tmp_path / "out", Silent())
    run.world = type(run.world)(rank=1, size=2)
    with records.session(run):
        pass
    assert not run.out.exists()


def test_git_is_asked_for_the_revision_and_for_changes(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        identity = ["-c", "user.name=n", "-c", "user.email=e@x"]
        command = ["git", "-C", str(tmp_path), *identity, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    assert records.git(tmp_path) is None
    git("init", "--quiet")
    assert records.git(tmp_path) is None  # nothing was committed yet
    (tmp_path / "recipe.toml").write_text("seed = 1\n")
    git("add", "recipe.toml")
    git("commit", "--quiet", "-m", "recipe")
    revision = git("rev-parse", "HEAD")
    (tmp_path / "untracked.txt").write_text("runs are not committed\n")
    assert records.git(tmp_path) == {"revision": revision, "dirty": False}
    (tmp_path / "recipe.toml").write_text("seed = 2\n")
    assert records.git(tmp_path) == {"revision": revision, "dirty": True}


def test_a_machine_without_git_has_no_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert records.git(Path.cwd()) is None


def test_a_new_run_in_the_same_directory_forgets_the_sessions_of_the_old_one(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    train(prepare(tiny_tree(tmp_path), tmp_path / "out", Silent(), overwrite=True))
    assert len(told(tmp_path / "out")["sessions"]) == 1


def scalars(out: Path) -> dict[str, list[tuple[int, float]]]:
    """What TensorBoard shows."""
    events = EventAccumulator(str(out / "tensorboard"))
    events.Reload()
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def test_tensorboard_shows_what_metrics_hold_also_after_a_resume(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):  # after update 8; the last checkpoint is that of update 6
        run_tiny(tmp_path, out, Leaves(8, interrupt), tensorboard=True)
    assert [step for step, _ in scalars(out)["train/loss"]] == list(range(1, 8))
    run_tiny(tmp_path, out, tensorboard=True)
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    shown = scalars(out)
    for kind, key in (("train", "loss"), ("train", "learning_rate"), ("validation", "score"), ("validation", "loss")):
        wanted = [(line["update"], line[key]) for line in lines if line["kind"] == kind]
        assert [step for step, _ in shown[f"{kind}/{key}"]] == [update for update, _ in wanted]
        assert [value for _, value in shown[f"{kind}/{key}"]] == pytest.approx([value for _, value in wanted])
    assert "validation/best" not in shown
    assert "validation/headline" not in shown


def test_tensorboard_is_left_alone_unless_asked_for(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out" / "tensorboard").exists()


def test_tensorboard_can_be_taken_up_and_given_up_on_resume(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_tiny(tmp_path, out, Leaves(6, ask_to_stop))
    run_tiny(tmp_path, out, Leaves(2, ask_to_stop), tensorboard=True)
    assert [step for step, _ in scalars(out)["train/loss"]] == [8, 9, 10]
    run_tiny(tmp_path, out, tensorboard=False)
    assert [step for step, _ in scalars(out)["train/loss"]] == [8, 9, 10]


def test_without_the_package_tensorboard_is_refused_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ConfigError, match="not installed") as caught:
        resolve({"training": {"tensorboard": True}})
    assert "pip install 'regard[track]'" in str(caught.value)
    assert not resolve({}).training.tensorboard
