"""A run that was killed and resumed ends with the same bytes as one that was not."""

import json
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from regard.errors import LimitError
from regard.files import write_atomically
from tests.runs import Silent, run_tiny, run_tree, tiny_tree
from tests.unchecked import unchecked

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.runs"])  # torch is imported once for all that are killed


def start(tree: dict[str, object], out: Path) -> BaseProcess:
    process = PROCESSES.Process(target=run_tree, args=(tree, out))
    process.start()
    return process


def kill_at_random_moments(tree: dict[str, object], out: Path, kills: int, seed: int) -> int:
    """Starts the run again and again and kills it at random moments after it began to write; how often it was."""
    draw, killed = random.Random(seed), 0
    while killed < kills:
        before = (out / "metrics.jsonl").stat().st_mtime_ns if (out / "metrics.jsonl").exists() else 0
        process = start(tree, out)
        while process.is_alive():
            written = out / "metrics.jsonl"
            if written.exists() and written.stat().st_mtime_ns > before:
                break
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.6))
        process.kill()
        process.join()
        if process.exitcode == 0:
            break  # it had ended before
        assert process.exitcode == -signal.SIGKILL
        killed += 1
    return killed


MODELS: dict[str, dict[str, object]] = {
    "transformer": {},
    "bahdanau": {"model": {"name": "bahdanau", "width": 12, "dropout": 0.1, "limit": 32}},
}


@pytest.mark.parametrize("kills", [pytest.param(5, marks=pytest.mark.slow), pytest.param(20, marks=pytest.mark.soak)])
@pytest.mark.parametrize("model", MODELS)
def test_killed_at_random_moments_and_resumed_is_the_unbroken_run_byte_for_byte(
    tmp_path: Path, kills: int, model: str
) -> None:
    settings = {"updates": 80 * kills, "save_every": 2, "validate_every": 40, "keep": 2, "patience": 1000}
    tree = {**tiny_tree(tmp_path, **settings), **MODELS[model]}
    with unchecked():
        run_tree(tree, tmp_path / "unbroken")
    broken = tmp_path / "broken"
    assert kill_at_random_moments(tree, broken, kills=kills, seed=3) == kills
    last = start(tree, broken)
    last.join()
    assert last.exitcode == 0
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        assert (broken / name).read_bytes() == (tmp_path / "unbroken" / name).read_bytes(), name


def test_a_run_resumed_from_each_of_its_checkpoints_ends_the_same(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "whole")
    wanted = (tmp_path / "whole" / "model.safetensors").read_bytes()
    for stop_after in (3, 7):
        out = tmp_path / f"part-{stop_after}"
        _run_until(tmp_path, out, stop_after)
        run_tiny(tmp_path, out)
        assert (out / "model.safetensors").read_bytes() == wanted
        assert _updates(out) == _updates(tmp_path / "whole")


def _updates(out: Path) -> list[int]:
    return [json.loads(line)["update"] for line in (out / "metrics.jsonl").read_text().splitlines()]


def _run_until(data: Path, out: Path, update: int) -> None:
    """A run that SIGTERM asks to stop after an update: it saves and leaves."""

    class Stops(Silent):
        def stepped(self, step: object, seconds: float) -> None:
            super().stepped(step, seconds)
            if len(self.losses) == update:
                os.kill(os.getpid(), signal.SIGTERM)

    watcher = Stops()
    outcome = run_tiny(data, out, watcher)
    assert not outcome.finished
    assert outcome.updates == update + 1  # the update that was under way
    assert "it can go on from there" in watcher.words[-1]


def test_a_failed_write_leaves_the_previous_file(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    write_atomically(path, b"old")
    script = (
        "import resource, signal, sys; from pathlib import Path; from regard.files import write_atomically\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write_atomically(Path(sys.argv[1]), bytes(5000))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, env=ENVIRONMENT, check=False
    )
    assert "LimitError" in done.stderr
    assert "the previous file is intact" in done.stderr
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_full_disk_while_saving_leaves_a_run_that_resumes(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "whole")
    wanted = (tmp_path / "whole" / "model.safetensors").read_bytes()
    _run_until(tmp_path, tmp_path / "out", 7)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(LimitError, match="Could not write"):
            run_tiny(tmp_path, tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    run_tiny(tmp_path, tmp_path / "out")
    assert (tmp_path / "out" / "model.safetensors").read_bytes() == wanted


def test_a_place_that_cannot_be_written_is_told_in_plain_words() -> None:
    with pytest.raises(LimitError, match="nothing was written"):
        write_atomically(Path("/proc/regard.txt"), b"x")
