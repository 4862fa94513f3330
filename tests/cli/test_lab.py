"""`regard lab` from the first word to the report."""

import json
from pathlib import Path

import pytest

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
