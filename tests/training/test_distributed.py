"""However a batch is shared out, the update is the same."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from regard.data.batches import Share
from regard.training import launch
from regard.training.distributed import World
from regard.training.start import prepare
from tests.runs import Silent, run_tree, tiny_tree

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    **os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo",
}  # fmt: skip


def tree_of(directory: Path, **training: Any) -> dict[str, Any]:
    tree = tiny_tree(directory, **{"updates": 50, "validate_every": 25, **training})
    tree["model"]["dropout"] = 0.0
    return tree


def losses(out: Path) -> list[float]:
    records = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [record["loss"] for record in records if record["kind"] == "train"]


def command(processes: int, tree: dict[str, Any], out: Path, *more: str) -> list[str]:
    config = out.parent / f"{out.name}.toml"
    config.write_text(_toml(tree))
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", str(processes), "--master-addr", "127.0.0.1"]
    port = ["--master-port", str(20_000 + hash(str(out)) % 20_000)]
    return [
        sys.executable,
        *launcher,
        *port,
        *more,
        "-m",
        "regard",
        "train",
        "--config",
        str(config),
        "--out",
        str(out),
    ]


def _toml(tree: dict[str, Any]) -> str:
    return "".join(
        f"[{section}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
        for section, values in tree.items()
    )


def run_world(processes: int, tree: dict[str, Any], out: Path, *more: str) -> None:
    done = subprocess.run(
        command(processes, tree, out) + list(more),
        env=ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("parts", [2, 5])
def test_a_batch_computed_in_parts_makes_the_same_update(tmp_path: Path, parts: int) -> None:
    run_tree(tree_of(tmp_path), tmp_path / "whole")
    run_tree(tree_of(tmp_path, accumulate=parts), tmp_path / "parts")
    assert losses(tmp_path / "parts") == pytest.approx(losses(tmp_path / "whole"), abs=1e-5)


def test_the_shares_of_a_batch_are_the_batch(tmp_path: Path) -> None:
    task = prepare(tree_of(tmp_path), tmp_path / "out", Silent()).task
    whole = task.batch(3)
    rows = {tuple(row.tolist()) for row in whole.source}
    shares = [task.batch(3, Share(part, 4)) for part in range(4)]
    assert {tuple(row.tolist() + [0] * (whole.source.shape[1] - len(row))) for s in shares for row in s.source} == rows
    assert sum(len(share.source) for share in shares) == len(whole.source)
    assert task.batch(3, Share(len(whole.source), len(whole.source) + 1)) is None


def test_processes_and_parts_share_out_everything_once() -> None:
    taken = [share for rank in range(3) for share in World(rank, 3).shares(2)]
    assert sorted(share.part for share in taken) == list(range(6))
    assert {share.of for share in taken} == {6}


def test_two_processes_do_what_one_does_and_either_goes_on_with_the_others_checkpoint(tmp_path: Path) -> None:
    run_tree(tree_of(tmp_path), tmp_path / "one")
    run_world(2, tree_of(tmp_path), tmp_path / "two")
    one, two = losses(tmp_path / "one"), losses(tmp_path / "two")
    assert len(one) == len(two) == 50
    assert two == pytest.approx(one, abs=1e-5)
    card = json.loads((tmp_path / "two" / "card.json").read_text())
    assert card["updates"] == 50
    assert {path.name for path in (tmp_path / "one").iterdir()} == {path.name for path in (tmp_path / "two").iterdir()}


def test_a_batch_with_fewer_rows_than_processes_is_no_obstacle(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, updates=20)
    tree["batch"]["tokens"] = 8  # one or two pairs a batch
    run_tree(tree, tmp_path / "one")
    run_world(3, tree, tmp_path / "three")
    assert losses(tmp_path / "three") == pytest.approx(losses(tmp_path / "one"), abs=1e-5)


def test_a_lost_worker_is_started_again_and_the_run_comes_to_its_end(tmp_path: Path) -> None:
    tree, out = tree_of(tmp_path, updates=400, validate_every=100, save_every=20), tmp_path / "out"
    process = subprocess.Popen(
        command(2, tree, out, "--max-restarts", "2"), env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
    )
    try:
        _wait_for(out / "checkpoint.safetensors", process)
        children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True)
        os.kill(int(children.stdout.split()[-1]), signal.SIGKILL)
        _, err = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, err[-3000:]
    assert "resuming" in err
    assert json.loads((out / "card.json").read_text())["updates"] == 400
    assert len(losses(out)) == 400


def _wait_for(path: Path, process: "subprocess.Popen[str]") -> None:
    for _ in range(600):
        if path.exists():
            return
        assert process.poll() is None
        time.sleep(0.1)
    raise AssertionError(f"{path} does not appear")


def regard_train(tree: dict[str, Any], out: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    config = out.parent / f"{out.name}.toml"
    config.write_text(_toml(tree))
    command = [sys.executable, "-m", "regard", "train", "--config", str(config), "--out", str(out), *more]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False)


def test_processes_are_started_by_a_setting_and_found_again_on_resume(tmp_path: Path) -> None:
    run_tree(tree_of(tmp_path, updates=20), tmp_path / "one")
    tree = {**tree_of(tmp_path, updates=20), "distributed": {"processes": 2}}
    done = regard_train(tree, tmp_path / "two")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("model:") == 1
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), abs=1e-5)
    saved = json.loads((tmp_path / "two" / "config.json").read_text())
    assert (saved["distributed"]["processes"], saved["training"]["threads"]) == (2, 1)
    again = regard_train(tree, tmp_path / "two", "--resume")
    assert again.returncode == 0, again.stderr


def test_an_error_is_told_once_and_ends_all_processes(tmp_path: Path) -> None:
    tree = {**tree_of(tmp_path), "distributed": {"processes": 2}}
    tree["data"]["train"] = [str(tmp_path / "none.tsv")]
    done = regard_train(tree, tmp_path / "out")
    assert done.returncode == 1
    assert done.stderr.count("none.tsv does not exist") == 1
    assert "Traceback" not in done.stderr


def test_auto_measures_and_writes_down_what_it_chose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "SECONDS", 0.2)
    monkeypatch.setattr(launch, "cores", lambda: 2)
    said: list[str] = []
    tree = {**tree_of(tmp_path), "distributed": {"processes": "auto"}}
    chosen = launch.several(tree, None, said.append)
    assert chosen in [(1, 2), (2, 1)]
    assert [words.split(":")[0] for words in said] == ["1 × 2 threads", "2 × 1 threads"]


@pytest.mark.parametrize(
    ("tree", "saved", "wanted"),
    [
        ({}, None, None),
        ({"distributed": {"processes": 1}}, None, None),
        ({"distributed": {"processes": 4}, "training": {"threads": 3}}, None, (4, 3)),
        ({}, {"distributed": {"processes": 2}, "training": {"threads": 5}}, (2, 5)),
        ({"distributed": 5, "training": 3}, None, None),
        ({"distributed": {"processes": "many"}}, None, None),
    ],
)
def test_how_many_processes_a_run_wants(tree: Any, saved: Any, wanted: Any) -> None:
    assert launch.several(tree, saved, print) == wanted
