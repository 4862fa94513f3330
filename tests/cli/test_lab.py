"""`regard lab` from the first word to the report."""

import json
from pathlib import Path
from typing import Any

import pytest

from regard.errors import RegardError
from regard.lab import bench
from regard.lab.bench import begin
from regard.lab.shop import GLANCE, Shop
from tests.commands import Run


@pytest.mark.slow
def test_lab_measures_a_claim_tells_its_verdict_and_does_not_measure_it_again(tmp_path: Path, run: Run) -> None:
    shop = Shop(tmp_path / "lab", quick=True)
    begin(shop)
    shop.data.mkdir()
    (shop.data / GLANCE).touch()  # this claim needs no corpus
    code, out, err = run("lab", "look_ahead", "--quick", "--out", shop.directory)
    assert code == 0, err
    assert "claim look_ahead, seed 1 is done (1 of 1)" in err
    assert out.startswith("look_ahead: ")
    (claim,) = json.loads((shop.directory / "lab.json").read_text())["claims"]
    assert claim["name"] == "look_ahead"
    assert claim["verdict"] == "held"
    assert claim["control"][0] > claim["threshold"] >= claim["value"][0]
    assert "<figure>" in (shop.directory / "report.html").read_text()
    code, out, err = run("lab", "look_ahead", "--quick", "--out", shop.directory, "--json")
    assert code == 0, err
    assert "is done" not in err
    assert json.loads(out)["claims"] == [claim]


def test_an_unknown_claim_is_refused_before_anything_is_written(tmp_path: Path, run: Run) -> None:
    code, _, err = run("lab", "bottelneck", "--quick", "--out", tmp_path / "lab")
    assert code == 1
    assert "did you mean bottleneck?" in err
    assert not (tmp_path / "lab").exists()


@pytest.mark.parametrize(("ending", "left"), [(KeyboardInterrupt(), 130), (RegardError("A run has failed."), 1)])
def test_what_is_done_is_told_however_it_ended(
    ending: BaseException, left: int, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*given: Any, **how: Any) -> None:
        raise ending

    monkeypatch.setattr(bench, "run", ended)
    code, _, err = run("lab", "--quick", "--out", tmp_path / "lab")
    assert code == left
    assert "report.html" in err
    assert (tmp_path / "lab" / "report.html").exists()
    assert json.loads((tmp_path / "lab" / "lab.json").read_text())["claims"] == []


def test_a_seed_that_no_generator_takes_is_refused(tmp_path: Path, run: Run) -> None:
    code, _, err = run("lab", "--quick", "--seeds", 10**20, "--out", tmp_path / "lab")
    assert code == 2
    assert "--seeds" in err
    assert not (tmp_path / "lab").exists()


def test_nothing_is_written_into_a_directory_that_is_not_the_labs(tmp_path: Path, run: Run) -> None:
    (tmp_path / "diary.txt").touch()
    code, _, err = run("lab", "--quick", "--out", tmp_path)
    assert code == 1
    assert "is not empty" in err
    assert [path.name for path in tmp_path.iterdir()] == ["diary.txt"]


@pytest.mark.parametrize(
    ("words", "seeds"),
    [(["--quick"], (1,)), ([], (4, 5, 6)), (["--seeds", "8", "--seeds", "7", "--seeds", "8"], (8, 7))],
)
def test_seeds_are_those_that_are_named_or_the_usual_ones(
    words: list[str], seeds: tuple[int, ...], tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(bench, "run", lambda *given, **how: asked.append(how))
    code, _, err = run("lab", *words, "--out", tmp_path / "lab")
    assert code == 0, err
    assert asked[0]["seeds"] == seeds
    assert json.loads((tmp_path / "lab" / "lab.json").read_text())["seeds"] == list(seeds)
