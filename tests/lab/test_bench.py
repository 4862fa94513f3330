"""The lab as a whole: what is measured is kept, told, and not measured again."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from regard import bundle
from regard.errors import BundleError, ConfigError, DataError, RegardError
from regard.files import write_text
from regard.lab import bench
from regard.lab.claim import Claim
from regard.lab.claims import CLAIMS, find
from regard.lab.recipes import RECIPES
from regard.lab.shop import Shop
from regard.training.directory import RUN
from tests.lab.claims_of_tests import FAILS, HOLDS, NO_TEST, measure_all


def times_measured(shop: Shop) -> int:
    return len((shop.directory / "counted.txt").read_text().split())


@pytest.mark.slow
def test_the_lab_measures_in_processes_and_goes_on_where_it_was(shop: Shop) -> None:
    heard: list[str] = []
    bench.run([HOLDS], shop, seeds=(1,), jobs=2, say=heard.append)
    assert "claim holds, seed 1 is done (1 of 1)" in heard
    bench.run([HOLDS, NO_TEST], shop, seeds=(1, 2), jobs=2, say=heard.append)
    assert times_measured(shop) == 2
    assert [found.claim.name for found in bench.found([HOLDS, NO_TEST], shop, (1, 2))] == ["holds", "no_test"]


@pytest.mark.slow
def test_a_claim_that_fails_keeps_no_other_from_being_measured(shop: Shop) -> None:
    heard: list[str] = []
    with pytest.raises(DataError, match="nothing to measure"):
        bench.run([FAILS, HOLDS], shop, seeds=(1,), jobs=1, say=heard.append)
    assert [found.claim.name for found in bench.found([FAILS, HOLDS], shop, (1,))] == ["holds"]


@pytest.mark.slow
def test_a_claim_whose_model_failed_is_not_begun(shop: Shop) -> None:
    heard: list[str] = []
    with pytest.raises(ConfigError, match="no recipe for nobody"):
        bench.run([replace(HOLDS, models=("nobody",)), NO_TEST], shop, seeds=(1,), jobs=1, say=heard.append)
    assert "claim holds, seed 1 is left out: a model that it needs has failed" in heard
    assert [path.name for path in sorted((shop.directory / "claims").iterdir())] == ["no_test.1.json"]


def test_what_was_measured_is_not_measured_again_unless_its_experiment_has_changed(shop: Shop) -> None:
    measure_all(shop)
    measure_all(shop)
    assert times_measured(shop) == 1
    file = bench.Measuring(shop, HOLDS).file
    file.write_text(json.dumps({**json.loads(file.read_text()), "claim": "another"}))
    measure_all(shop)
    assert times_measured(shop) == 2


def test_a_claim_that_was_changed_while_it_was_measured_is_measured_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = shop.directory / "counted.txt"  # is there as soon as something was measured
    monkeypatch.setattr(bench, "written", lambda claim, quick: "changed" if counted.exists() else "as it was")
    piece = bench.Measuring(shop, HOLDS)
    piece.work()
    assert not piece.done


@pytest.mark.parametrize(("claim", "threads"), [(HOLDS, 2), (NO_TEST, 1)])
def test_a_claim_that_measures_time_has_one_thread_however_many_the_others_have(
    claim: Claim, threads: int, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    bench.Measuring(replace(shop, threads=2), claim).work()
    assert asked == [threads]


@pytest.mark.parametrize(
    "damage", [{"seconds": None}, {"cpu_seconds": "long"}, {"value": "high"}, {"series": ...}, {"seed": 9}, "{"]
)
def test_what_is_damaged_or_of_another_seed_counts_as_not_measured(damage: Any, shop: Shop) -> None:
    measure_all(shop)
    file = bench.Measuring(shop, HOLDS).file
    if isinstance(damage, str):
        file.write_text(damage)
    else:
        kept = {**json.loads(file.read_text()), **damage}
        file.write_text(json.dumps({key: value for key, value in kept.items() if value is not ...}))
    assert bench.found([HOLDS], shop, (1,)) == []
    assert [piece.claim.name for piece in bench.missing([HOLDS, NO_TEST], shop, (1,))] == ["holds"]


def test_what_was_measured_in_a_hurry_is_not_taken_for_the_full_run(shop: Shop) -> None:
    measure_all(shop)
    assert bench.missing([HOLDS], replace(shop, quick=False), (1,))


def test_a_directory_says_why_it_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BundleError, match="is no directory"):
        bench.begin(Shop(tmp_path / "file"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / bench.KEPT).write_text('{"quick": "false"}')
    with pytest.raises(BundleError, match="not as the lab writes it"):
        bench.begin(Shop(tmp_path / "other"))
    for damage in ("{", "[]"):
        (tmp_path / "other" / bench.KEPT).write_text(damage)
        with pytest.raises(BundleError, match=r'or write {"quick": true} into it'):
            bench.begin(Shop(tmp_path / "other", quick=True))
    with pytest.raises(RegardError, match=r"[Cc](annot be used|ould not write)"):
        bench.begin(Shop(tmp_path / ("x" * 300)))


@pytest.mark.parametrize("left", [(bundle.CARD,), (bundle.CARD, bundle.WEIGHTS)])
def test_a_model_of_which_only_a_part_is_there_is_to_be_deleted_and_made_anew(
    left: tuple[str, ...], shop: Shop
) -> None:
    making = bench.Making(shop, "bahdanau")
    for name in left:
        write_text(shop.place("bahdanau") / name, "{}")
    assert not making.done
    with pytest.raises(BundleError, match=f"delete {shop.place('bahdanau')} and call the same command again"):
        making.work()


def test_a_finished_model_without_its_weights_is_to_be_made_anew(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (bundle.CARD, RUN):
        write_text(shop.place("bahdanau") / name, json.dumps({"asked": {}}))
    monkeypatch.setattr("regard.lab.shop._same", lambda out, tree: None)
    with pytest.raises(BundleError, match=r"is not complete(.|\n)*delete .*bahdanau\.1 and call"):
        bench.Making(shop, "bahdanau").work()


def test_a_claim_that_was_copied_with_its_name_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    (original,) = find(["look_ahead"])
    monkeypatch.setattr("regard.lab.claims.padding.CLAIM", original)
    with pytest.raises(ConfigError, match=r"padding\.py is called look_ahead(.|\n)*write name=\"padding\" there"):
        find(["padding"])


def test_a_claim_is_told_when_all_its_seeds_are_there(shop: Shop) -> None:
    measure_all(shop)
    assert bench.found([HOLDS], shop, (1, 2)) == []


def stamps(*, quick: bool = True) -> dict[str, str]:
    return {claim.name: bench.written(claim, quick=quick) for claim in find()}


def edit(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the lab's files, as the lab reads it."""
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (path.name == file))


def changed(before: dict[str, str], *, quick: bool = True) -> set[str]:
    after = stamps(quick=quick)
    return {name for name in before if after[name] != before[name]}


def test_a_claim_is_measured_again_if_a_part_that_it_uses_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = stamps()
    edit("timing.py", monkeypatch)
    assert changed(before) == {"look_ahead", "dot_or_additive", "parallel"}


@pytest.mark.parametrize("file", ["shop.py", "corpus.py"])
def test_a_claim_that_takes_models_or_texts_is_measured_again_if_their_making_has_changed(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = stamps()
    edit(file, monkeypatch)
    alone = {"scaling", "dot_or_additive", "positions", "look_ahead", "hard", "parallel", "distance"}
    assert changed(before) == set(before) - alone


def test_a_claim_is_measured_again_if_a_model_of_it_is_trained_otherwise_and_only_where_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hurried, full = stamps(quick=True), stamps(quick=False)
    longer = {**RECIPES, "bahdanau": replace(RECIPES["bahdanau"], quick=RECIPES["bahdanau"].quick + 1)}
    monkeypatch.setattr(bench, "RECIPES", longer)
    assert changed(hurried, quick=True) == {claim.name for claim in find() if "bahdanau" in claim.models} != set()
    assert changed(full, quick=False) == set()


def test_the_full_run_judges_with_seeds_that_nobody_has_looked_at() -> None:
    assert not set(bench.usual_seeds(quick=False)) & {*bench.usual_seeds(quick=True), 1, 2, 3}


def test_what_was_begun_in_a_hurry_is_not_continued_at_leisure(shop: Shop) -> None:
    with pytest.raises(BundleError, match="was begun with --quick"):
        bench.begin(replace(shop, quick=False))


def test_a_directory_with_other_things_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "diary.txt").touch()
    with pytest.raises(BundleError, match="is not empty"):
        bench.begin(Shop(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["diary.txt"]


def test_a_claim_that_is_not_there_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match="did you mean bottleneck"):
        find(["bottlenek"])


@pytest.mark.parametrize("name", CLAIMS)
def test_every_claim_says_what_must_come_out_before_it_does(name: str) -> None:
    (claim,) = find([name])
    assert claim.name == name
    assert all((claim.title, claim.question, claim.source, claim.statistic, claim.control))
    assert not claim.title.endswith(".")
    assert claim.statistic.endswith(".")
    assert claim.control.endswith(".")
    assert find([name])[0].measure.__module__ == f"regard.lab.claims.{name}"
