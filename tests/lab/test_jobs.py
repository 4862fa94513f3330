"""Runs in processes of their own: whatever ends them or the one that started them, they can go on."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from regard.errors import BundleError, DataError, LimitError, RegardError
from regard.lab.compare.jobs import Job, Watchers
from regard.lab.compare.plan import Budget, Plan
from regard.lab.processes import run_all
from regard.training import checkpoint
from regard.training.directory import LOCK, locked
from tests.lab.watchers import Killed, Quiet
from tests.runs import tiny_tree

SCRIPT = """
import signal
import sys
from pathlib import Path
from regard.lab.processes import run_all
from tests.lab.test_jobs import endless
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
run_all([endless(Path(sys.argv[1]))], 1, print)
"""


def job(directory: Path, name: str, watch: Watchers = Quiet, **training: Any) -> Job:
    tree = tiny_tree(directory, **training)
    budget = Budget(updates=tree["training"]["updates"])
    plan = Plan(models=("transformer",), settings={"data": {}}, budget=budget)
    return Job(directory / "runs" / "tiny" / name, tree, budget, plan, final=False, watch=watch)


def endless(directory: Path, watch: Watchers = Quiet) -> Job:
    """Saves nothing unless it is asked to stop."""
    return job(directory, "endless", watch, updates=10**8, validate_every=10**8, save_every=10**8)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def saved_and_left(run: Job) -> bool:
    return (run.out / checkpoint.FILE).exists() and not (run.out / LOCK).exists()


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_when_a_later_run_fails_the_others_save_and_leave_and_the_error_is_told(tmp_path: Path) -> None:
    long, bad = endless(tmp_path), job(tmp_path, "bad")
    bad.tree["data"]["train"] = [str(tmp_path / "missing.tsv")]
    heard: list[str] = []
    with pytest.raises(DataError, match="missing.tsv does not exist"):
        run_all([long, job(tmp_path, "quick", updates=5), bad], 2, heard.append)
    assert heard == ["tiny/quick is done (1 of 3)"]
    assert saved_and_left(long)
    assert not long.done


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_where_failures_are_collected_the_others_go_on(tmp_path: Path) -> None:
    bad, good = job(tmp_path, "bad"), job(tmp_path, "good", updates=5)
    bad.tree["data"]["train"] = [str(tmp_path / "missing.tsv")]
    heard: list[str] = []
    failed: list[RegardError] = []
    run_all([bad, good], 1, heard.append, failed=failed)
    assert [type(error) for error in failed] == [DataError]
    assert heard[0].startswith("tiny/bad has failed (1 of 2): ")
    assert "do this: " in heard[0]
    assert heard[1] == "tiny/good is done (2 of 2)"


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_run_that_is_killed_is_named_with_its_signal(tmp_path: Path) -> None:
    with pytest.raises(RegardError, match="ended before its time") as told:
        run_all([endless(tmp_path, Killed)], 2, lambda text: None)
    assert "tiny/endless: signal 9 (Killed)" in told.value.found
    assert told.value.do == "call it again: what is done is kept"


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_the_parent_its_runs_save_and_leave(tmp_path: Path, number: signal.Signals) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    call = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    with subprocess.Popen(call, env=environment, stderr=subprocess.PIPE, start_new_session=True) as parent:
        run = endless(tmp_path)
        until(lambda: (run.out / "metrics.jsonl").exists() and (run.out / "metrics.jsonl").stat().st_size > 0)
        os.killpg(parent.pid, number)  # as Ctrl-C and `timeout` do
        assert parent.wait(60) == -(signal.SIGKILL if number == signal.SIGKILL else signal.SIGINT)
        until(lambda: saved_and_left(run))


@dataclass(frozen=True)
class Stopped:
    """A piece of work that was asked to stop, and says so in the way of Python."""

    label: str = "stopped"
    done: bool = False

    def work(self) -> bool:
        raise KeyboardInterrupt


@pytest.mark.slow
def test_a_piece_that_is_asked_to_stop_leaves_without_a_trace(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_all([Stopped()], 1, print)
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def done(tmp_path: Path) -> Job:
    run = job(tmp_path, "done", updates=5)
    assert run.work()
    return run


@pytest.mark.parametrize("name", ["checkpoint.safetensors", "config.json", "run.json", "tokenizer.json"])
def test_a_damaged_run_is_to_be_deleted_and_made_anew(done: Job, name: str) -> None:
    (done.out / name).write_bytes(b"{")
    with pytest.raises(BundleError, match=name) as told:
        done.work()
    assert told.value.do == f"delete {done.out} and call the same command again: all else is kept"


def test_a_run_at_which_somebody_is_at_work_is_not_to_be_deleted(done: Job) -> None:
    with locked(done.out), pytest.raises(BundleError, match="Another training is at work") as told:
        done.work()
    assert "delete" not in told.value.do


def test_a_full_disk_is_no_divergence(done: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(run: object) -> None:
        raise LimitError("Could not write.", do="free some space, then --resume") from OSError("full")

    monkeypatch.setattr("regard.lab.compare.jobs.train", full)
    with pytest.raises(LimitError) as told:
        done.work()
    assert told.value.do == "free some space, then call it again"
    assert not (done.out / "failed.txt").exists()
