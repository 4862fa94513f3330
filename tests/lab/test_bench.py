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
from regard.lab import bench, circumstances, findings
from regard.lab.claim import Claim
from regard.lab.claims import CLAIMS, find
from regard.lab.recipes import RECIPES
from regard.lab.shop import GLANCE, Shop
from regard.training.directory import RUN
from tests.lab.claims_of_tests import FAILS, HOLDS, NO_TEST

CARD = {"seed": 1, "parameters": 10, "updates": 5, "train_seconds": 1.5, "scores": {}}
"""Of a model, as far as the report tells it."""


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """One whose corpus is there already, so that it need not be written."""
    shop = Shop(tmp_path / "lab", quick=True)
    bench.begin(shop)
    shop.data.mkdir()
    (shop.data / GLANCE).touch()
    return shop


def measure(shop: Shop, seeds: tuple[int, ...] = (1,)) -> list[bench.Found]:
    """As the lab does it, in this process."""
    for claim in (HOLDS, NO_TEST):
        for seed in seeds:
            piece = bench.Measuring(shop.of(seed), claim)
            assert piece.done or piece.work()
    return bench.found([HOLDS, NO_TEST], shop, seeds)


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
    measure(shop)
    measure(shop)
    assert times_measured(shop) == 1
    file = bench.Measuring(shop, HOLDS).file
    file.write_text(json.dumps({**json.loads(file.read_text()), "claim": "another"}))
    measure(shop)
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
    measure(shop)
    file = bench.Measuring(shop, HOLDS).file
    if isinstance(damage, str):
        file.write_text(damage)
    else:
        kept = {**json.loads(file.read_text()), **damage}
        file.write_text(json.dumps({key: value for key, value in kept.items() if value is not ...}))
    assert bench.found([HOLDS], shop, (1,)) == []
    assert [piece.claim.name for piece in bench.missing([HOLDS, NO_TEST], shop, (1,))] == ["holds"]


def test_what_was_measured_in_a_hurry_is_not_taken_for_the_full_run(shop: Shop) -> None:
    measure(shop)
    assert bench.missing([HOLDS], replace(shop, quick=False), (1,))


def test_a_report_that_is_made_again_tells_when_and_where_it_was_measured(shop: Shop) -> None:
    results = measure(shop)
    findings.tell(results, shop, (1,))
    kept = shop.directory / bench.KEPT
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "commit": "long ago", "date": "1999-09-09"}))
    told = json.loads(findings.tell(results, shop, (1,)).with_name(bench.KEPT).read_text())
    assert told["commit"] == circumstances.commit() != "long ago"


def test_numbers_of_other_seeds_do_not_change_when_these_were_measured(shop: Shop) -> None:
    file = bench.Measuring(shop, HOLDS).file
    measure(shop)
    record = json.loads(file.read_text())
    record["circumstances"] |= {"date": "1999-09-09T10:00:00+00:00", "commit": "long ago"}
    file.write_text(json.dumps(record))
    later = replace(shop, seed=2)
    bench.Measuring(later, HOLDS).work()
    findings.tell(bench.found([HOLDS], shop, (2,)), shop, (2,))
    page = findings.tell(bench.found([HOLDS], shop, (1,)), shop, (1,))
    assert "1999-09-09, " in page.read_text()
    assert json.loads((shop.directory / bench.KEPT).read_text())["commit"] == "long ago"


def test_numbers_that_do_not_say_when_they_were_measured_are_as_old_as_their_report(shop: Shop) -> None:
    measure(shop)
    file = bench.Measuring(shop, HOLDS).file
    file.write_text(json.dumps({**json.loads(file.read_text()), "circumstances": {}}))
    results = bench.found([HOLDS], shop, (1,))
    findings.tell(results, shop, (1,))
    kept = shop.directory / bench.KEPT
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "commit": "long ago", "date": "1999-09-09"}))
    page = findings.tell(results, shop, (1,))
    assert "1999-09-09" in page.read_text()
    assert json.loads(kept.read_text())["commit"] == "long ago"


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


def test_a_report_of_nothing_is_as_old_as_it_is(shop: Shop) -> None:
    kept = shop.directory / bench.KEPT
    kept.write_text(json.dumps({**json.loads(kept.read_text()), **circumstances.present(), "commit": "long ago"}))
    assert findings.facts([], shop, (9,))["commit"] == circumstances.commit()


def test_a_claim_that_was_copied_with_its_name_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    (original,) = find(["look_ahead"])
    monkeypatch.setattr("regard.lab.claims.padding.CLAIM", original)
    with pytest.raises(ConfigError, match=r"padding\.py is called look_ahead(.|\n)*write name=\"padding\" there"):
        find(["padding"])


def test_a_claim_is_told_when_all_its_seeds_are_there(shop: Shop) -> None:
    measure(shop)
    assert bench.found([HOLDS], shop, (1, 2)) == []


def test_the_report_has_every_claim_with_its_figure_and_verdict(shop: Shop) -> None:
    page = findings.tell(measure(shop, (1, 2)), shop, (1, 2))
    told = json.loads((shop.directory / "lab.json").read_text())
    holds, no_test = told["claims"]
    assert told["quick"] is True
    assert (holds["name"], holds["verdict"], holds["held"]) == ("holds", "held", True)
    assert (holds["seeds"], holds["value"], holds["control"]) == ([1, 2], [0.8, 0.8], [0.1, 0.2])
    assert (holds["threshold"], holds["side"]) == (0.5, "at least")
    assert len(holds["seconds"]) == len(holds["cpu_seconds"]) == 2
    assert holds["numbers"] == [{"quick": 1.0}, {"quick": 1.0}]
    assert (no_test["verdict"], no_test["held"]) == ("did not hold", False)
    assert "the test is no test" in no_test["reason"]
    html = page.read_text()
    assert "1 of 2 claims held" in html
    assert "Not measured yet: bottleneck, alignment" in html
    assert html.count("<figure>") == 1
    assert "--seeds 1 --seeds 2" in html
    assert "Verdict: did not hold. The test is no test" in html


def test_the_report_says_how_to_repeat_it_whatever_was_typed_last(shop: Shop) -> None:
    results, out = measure(shop), str(shop.directory)
    assert findings.command(results, shop, (1,)) == f"regard lab holds no_test --quick --out {out}"
    assert findings.command([], shop, (1, 7)) == f"regard lab --quick --seeds 1 --seeds 7 --out {out}"
    all_of_them = results[:1] * len(CLAIMS)
    assert findings.command(all_of_them, replace(shop, quick=False), bench.SEEDS) == f"regard lab --out {out}"


def test_the_minutes_are_those_of_claims_and_of_the_models_that_they_share(shop: Shop) -> None:
    results = [replace(found, seconds=(60.0,)) for found in measure(shop)]
    for name, seed in (("bert", 1), ("bert", 2), ("meanings", 1)):  # another seed's; one that is in its claim's time
        place = shop.of(seed).place(name)
        place.mkdir(parents=True)
        (place / bundle.CARD).write_text(json.dumps({**CARD, "train_seconds": 30.0}))
    assert findings.total_minutes(results, shop, (1,)) == 2.5


@pytest.mark.parametrize("damage", [{"train_seconds": None}, {"updates": "many"}, {"scores": []}])
def test_a_damaged_card_is_told_with_what_to_do(damage: Any, shop: Shop) -> None:
    results, place = measure(shop), shop.place("bert")
    place.mkdir(parents=True)
    (place / bundle.CARD).write_text(json.dumps({**CARD, **damage}))
    with pytest.raises(BundleError, match=f"{next(iter(damage))} missing or wrong(?s:.*)delete {place}"):
        findings.tell(results, shop, (1,))


def test_a_report_of_nothing_can_be_written(shop: Shop) -> None:
    assert "0 of 0 claims held" in findings.tell([], shop, (1,)).read_text()


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


def test_the_report_tells_the_version_and_the_commit(shop: Shop, tmp_path: Path) -> None:
    package = tmp_path / "src" / "regard"
    package.mkdir(parents=True)
    assert circumstances.commit(package) is None
    moves = tmp_path / ".git" / "logs" / "HEAD"
    moves.parent.mkdir(parents=True)
    moves.write_bytes(b"0000 aaaa Ann <a@b> 1 +0000\tcommit\naaaa bbbb J\xfcrgen <a@b> 2 +0000\tcommit\n")
    assert circumstances.commit(package) == "bbbb"
    bench.begin(shop)
    told = findings.facts([], shop, (1,))
    assert told["versions"]["regard"]
    assert told["commit"] == circumstances.commit()


def test_a_worktree_has_its_own_commit(tmp_path: Path) -> None:
    moves = tmp_path / "elsewhere" / "logs" / "HEAD"
    moves.parent.mkdir(parents=True)
    moves.write_text("aaaa cccc Ann <a@b> 1 +0000\tcheckout\n")
    (tmp_path / ".git").write_text(f"gitdir: {tmp_path / 'elsewhere'}\n")
    assert circumstances.commit(tmp_path / "src" / "regard") == "cccc"


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
