"""`regard runs`: every state a run can be in, and what is made of several runs together."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from regard.errors import LimitError
from regard.lab.runs import best_of, differences, find
from tests.commands import Run
from tests.runs import Silent, run_tiny, run_tree, tiny_tree


class Stops(Silent):
    """SIGTERM after some updates."""

    def stepped(self, step: Any, seconds: float) -> None:
        super().stepped(step, seconds)
        if len(self.losses) == 6:
            os.kill(os.getpid(), signal.SIGTERM)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three finished runs, the second one the best by far, and one that was stopped, in directories below one."""
    place = tmp_path_factory.mktemp("runs")
    data = tmp_path_factory.mktemp("data")
    tree = tiny_tree(data, updates=12, metric="loss")
    tree["data"]["test"] = tree["data"]["val"]
    run_tree(tree, place / "slow")
    tree["training"] |= {"updates": 60, "learning_rate": 1e-2}
    run_tree({**tree, "seed": 7}, place / "deep" / "er" / "good")
    run_tree({**tree, "model": {"name": "rnn", "width": 12, "limit": 32}}, place / "deep" / "rnn")
    assert not run_tiny(data, place / "halted", Stops(), metric="loss").finished
    return place


def rows(out: str) -> dict[str, list[str]]:
    """The lines of the table by the name of the run."""
    table = out.split("\n\n")[0].splitlines()[1:]
    return {line.split()[0]: line.split() for line in table}


def test_runs_are_listed_newest_first_with_state_scores_and_seed(runs: Path, run: Run) -> None:
    code, out, err = run("runs", runs)
    assert (code, err) == (0, "")
    found = rows(out)
    assert list(found) == ["halted", "deep/rnn", "deep/er/good", "slow", "*"]
    assert found["deep/er/good"][1:7] == ["transformer", "8,376", "60", "of", "60", "finished"]
    assert found["deep/er/good"][-1] == "7"
    assert found["halted"][1:7] == ["transformer", "8,376", "7", "of", "12", "stopped"]
    assert found["deep/rnn"][1] == "rnn"
    card = json.loads((runs / "slow" / "card.json").read_text())
    assert f"BLEU {card['scores']['test']['bleu']:.2f}" in " ".join(found["slow"])


def test_the_best_run_is_named_with_its_figure_and_its_update(runs: Path, run: Run) -> None:
    _, out, _ = run("runs", runs)
    (line,) = [line for line in out.splitlines() if line.startswith("* best")]
    assert line.startswith("* best: deep/er/good, loss ")
    records = [json.loads(line) for line in (runs / "deep/er/good/metrics.jsonl").read_text().splitlines()]
    losses = {record["update"]: record["loss"] for record in records if record["kind"] == "validation"}
    best = min(losses, key=losses.__getitem__)
    assert line.endswith(f"loss {losses[best]:.4g} after update {best}")
    assert rows(out)["deep/er/good"].count("*") == 1


def test_figures_on_other_validation_data_are_not_compared(runs: Path, tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d"):
        shutil.copytree(runs / ("slow" if name in "ab" else "deep/er/good"), tmp_path / name)
    for name in ("c", "d"):
        record = json.loads((tmp_path / name / "run.json").read_text())
        record["data"]["val"] = "other"
        (tmp_path / name / "run.json").write_text(json.dumps(record))
    groups = [sorted(run.name for run in group) for _, group in best_of(find([tmp_path]))]
    assert sorted(groups) == [["a", "b"], ["c", "d"]]


def test_compare_shows_only_the_settings_that_differ_next_to_the_scores(runs: Path, run: Run) -> None:
    _, out, _ = run("runs", runs / "slow", runs / "deep" / "er" / "good", "--compare")
    table = out.split("\n\n")[1]
    keys = [line.split("  ")[0] for line in table.splitlines()]
    assert keys == ["run", "best on val", "test", "seed", "training.updates", "training.learning_rate"]
    assert table.splitlines()[0].split() == ["run", "deep/er/good", "slow"]
    assert table.splitlines()[3].split() == ["seed", "7", "1"]
    _, out, _ = run("runs", runs / "slow", "--compare")
    assert out.endswith("Their settings are all the same.\n")


def test_settings_that_only_one_model_has_are_no_difference(runs: Path) -> None:
    found = differences(find([runs / "deep"]))
    assert "model.name" in found
    assert "model.heads" not in found
    assert found["model.width"] == {"rnn": 12, "er/good": 16}


def test_other_contents_of_files_with_the_same_names_are_a_difference(runs: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        shutil.copytree(runs / "slow", tmp_path / name)
    record = json.loads((tmp_path / "b" / "run.json").read_text())
    record["data"]["train"] = "0123456789"
    (tmp_path / "b" / "run.json").write_text(json.dumps(record))
    assert list(differences(find([tmp_path]))) == ["data.train, contents"]


def test_json_has_the_numbers_the_settings_and_the_sessions(runs: Path, run: Run) -> None:
    facts = json.loads(run("runs", runs, "--json")[1])
    assert facts["best"] == ["deep/er/good"]
    assert facts["differences"]["seed"] == {"deep/er/good": 7, "deep/rnn": 1, "halted": 1, "slow": 1}
    first = facts["runs"][0]
    assert (first["name"], first["state"], first["updates"], first["planned"]) == ("halted", "stopped", 7, 12)
    assert first["path"] == str(runs / "halted")
    assert first["config"]["training"]["updates"] == 12
    assert first["sessions"][0]["ended"]["how"] == "stopped"
    assert facts["runs"][1]["best"]["metric"] == "loss"


class Page(HTMLParser):
    """The texts of pictures, and all cells."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.alts: list[str] = []
        self.texts: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.alts += [value or "" for name, value in attributes if name == "alt"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_page_shows_the_curves_of_all_runs(runs: Path, run: Run, tmp_path: Path) -> None:
    code, out, err = run("runs", runs, "--report", tmp_path / "page.html")
    assert code == 0
    assert "finished" in out
    assert err == f"written: {tmp_path / 'page.html'}\n"
    page = Page(tmp_path / "page.html")
    loss, score = page.alts
    assert loss.startswith("training loss by update.")
    assert score.startswith("validation score by update.")
    for name in ("deep/er/good", "deep/rnn", "halted", "slow"):
        assert f"{name}: " in loss
        assert f"{name}: " in score
    assert {"Runs", "Curves", "Settings that differ", "training.learning_rate"} <= set(page.texts)
    code, _, err = run("runs", runs, "--report", tmp_path / "page.pdf")
    assert code == 1
    assert ".html" in err


def test_a_run_that_is_at_work_is_running_and_one_that_was_killed_is_not(tmp_path: Path, run: Run) -> None:
    tree, out = tiny_tree(tmp_path, updates=100_000, warmup=400, validate_every=50_000), tmp_path / "runs" / "out"
    script = "import json, sys; from pathlib import Path; from tests.runs import run_tree\n"
    script += "run_tree(json.loads(sys.argv[1]), Path(sys.argv[2]))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", script, json.dumps(tree), str(out)], env=environment)
    try:
        while not (out / "metrics.jsonl").exists() or (out / "metrics.jsonl").stat().st_size == 0:
            assert process.poll() is None
            time.sleep(0.05)
        assert rows(run("runs", tmp_path)[1])["runs/out"][6] == "running"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert rows(run("runs", tmp_path)[1])["runs/out"][6] == "killed"


def test_a_run_that_diverged_says_so(tmp_path: Path, run: Run) -> None:
    with pytest.raises(LimitError):
        run_tiny(tmp_path, tmp_path / "out", learning_rate=1e30, clip=0, average=0)
    _, out, _ = run("runs", tmp_path, "--report", tmp_path / "page.html")
    assert " diverged " in out
    assert "\nout: The loss of update " in out


def test_a_run_that_failed_says_why(tmp_path: Path, run: Run) -> None:
    class Fails(Silent):
        def stepped(self, step: Any, seconds: float) -> None:
            raise RuntimeError("the power went out")

    with pytest.raises(RuntimeError):
        run_tiny(tmp_path, tmp_path / "out", Fails())
    _, out, _ = run("runs", tmp_path)
    assert " failed " in out
    assert "\nout: RuntimeError: the power went out\n" in out


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:60])


def _hold(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text)


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        ("config.json", _cut), ("config.json", Path.unlink), ("config.json", _hold("[]")), ("config.json", _hold("7")),
        ("config.json", _hold('{"format": 99}')), ("run.json", _cut), ("run.json", Path.unlink),
        ("run.json", _hold('{"asked": {}}')), ("run.json", _hold('{"asked": {}, "data": 3}')),
        ("run.json", _hold('{"asked": {}, "data": {}, "sessions": [3]}')),
        ("run.json", _hold('{"asked": {}, "data": {}, "sessions": {"a": 1}}')),
        ("run.json", _hold('{"asked": {}, "data": {}, "sessions": [{"ended": {"how": "?"}}]}')),
        ("card.json", _cut), ("card.json", _hold('{"scores": 3}')), ("model.safetensors", _cut),
        ("model.safetensors", Path.unlink), ("checkpoint.safetensors", _cut),
        ("metrics.jsonl", _hold('{"update": 3}\n')),
        ("metrics.jsonl", _hold('{"kind": "validation", "update": 3, "best": true}\n')),
    ],
)  # fmt: skip
def test_damage_is_told_and_the_other_runs_are_listed(
    runs: Path, tmp_path: Path, run: Run, file: str, damage: Callable[[Path], object]
) -> None:
    for name in ("good", "bad"):
        shutil.copytree(runs / "slow", tmp_path / name)
    damage(tmp_path / "bad" / file)
    code, out, err = run("runs", tmp_path, "--compare", "--report", tmp_path / "page.html")
    assert code == 0, err
    assert "damaged" in rows(out)["bad"]
    assert "finished" in rows(out)["good"]
    assert "\nbad: " in out
    assert "Traceback" not in out + err
    assert json.loads(run("runs", tmp_path, "--json")[1])["runs"][1]["state"] == "damaged"


def test_metrics_that_a_crash_cut_short_are_no_damage(runs: Path, tmp_path: Path, run: Run) -> None:
    shutil.copytree(runs / "slow", tmp_path / "out")
    path = tmp_path / "out" / "metrics.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    assert "finished" in run("runs", tmp_path)[1]


def test_a_directory_without_runs_is_told_with_exit_code_1(tmp_path: Path, run: Run) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "metrics.jsonl").write_text('{"step": 1}\n')  # somebody else's
    code, out, err = run("runs", tmp_path)
    assert (code, out) == (1, "")
    assert err.startswith(f"regard: There are no runs in or below {tmp_path}.")
    code, _, err = run("runs", tmp_path / "nowhere")
    assert code == 1
    assert "There is no directory" in err


def test_a_run_is_listed_once_however_often_its_directory_is_given(runs: Path, run: Run) -> None:
    _, out, _ = run("runs", runs / "slow", runs, runs / "deep" / "..")
    assert out.count("slow") == 1


def test_look_shows_a_probe_sentence_as_it_was_in_training(runs: Path, tmp_path: Path, run: Run) -> None:
    picture = tmp_path / "look.svg"
    code, out, err = run("look", runs / "slow", "--probe", 2, "--update", 5, "--out", picture)
    assert code == 0, err
    source, target = out.splitlines()
    assert target.split() == source.split()[::-1]
    assert "after update 5" in err
    assert picture.stat().st_size > 500
    assert "1 to 4" in run("look", runs / "slow", "--probe", 9)[2]
    assert run("look", runs / "slow")[0] == 2
    assert run("look", runs / "slow", "a b", "--probe", 1)[0] == 2
