"""What the lab reports: verdicts with their figures, how to repeat them, when and where they were measured."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from regard import bundle
from regard.errors import BundleError
from regard.lab import bench, circumstances, findings
from regard.lab.claims import CLAIMS
from regard.lab.shop import Shop
from tests.lab.claims_of_tests import HOLDS, measure_all

CARD = {"seed": 1, "parameters": 10, "updates": 5, "train_seconds": 1.5, "scores": {}}
"""Of a model, as far as the report tells it."""


def test_a_report_that_is_made_again_tells_when_and_where_it_was_measured(shop: Shop) -> None:
    results = measure_all(shop)
    findings.tell(results, shop, (1,))
    kept = shop.directory / bench.KEPT
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "commit": "long ago", "date": "1999-09-09"}))
    told = json.loads(findings.tell(results, shop, (1,)).with_name(bench.KEPT).read_text())
    assert told["commit"] == circumstances.commit() != "long ago"


def test_numbers_of_other_seeds_do_not_change_when_these_were_measured(shop: Shop) -> None:
    file = bench.Measuring(shop, HOLDS).file
    measure_all(shop)
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
    measure_all(shop)
    file = bench.Measuring(shop, HOLDS).file
    file.write_text(json.dumps({**json.loads(file.read_text()), "circumstances": {}}))
    results = bench.found([HOLDS], shop, (1,))
    findings.tell(results, shop, (1,))
    kept = shop.directory / bench.KEPT
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "commit": "long ago", "date": "1999-09-09"}))
    page = findings.tell(results, shop, (1,))
    assert "1999-09-09" in page.read_text()
    assert json.loads(kept.read_text())["commit"] == "long ago"


def test_a_report_of_nothing_is_as_old_as_it_is(shop: Shop) -> None:
    kept = shop.directory / bench.KEPT
    kept.write_text(json.dumps({**json.loads(kept.read_text()), **circumstances.present(), "commit": "long ago"}))
    assert findings.facts([], shop, (9,))["commit"] == circumstances.commit()


def test_the_report_has_every_claim_with_its_figure_and_verdict(shop: Shop) -> None:
    page = findings.tell(measure_all(shop, (1, 2)), shop, (1, 2))
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
    results, out = measure_all(shop), str(shop.directory)
    assert findings.command(results, shop, (1,)) == f"regard lab holds no_test --quick --out {out}"
    assert findings.command([], shop, (1, 7)) == f"regard lab --quick --seeds 1 --seeds 7 --out {out}"
    all_of_them = results[:1] * len(CLAIMS)
    assert findings.command(all_of_them, replace(shop, quick=False), bench.SEEDS) == f"regard lab --out {out}"


def test_the_minutes_are_those_of_claims_and_of_the_models_that_they_share(shop: Shop) -> None:
    results = [replace(found, seconds=(60.0,)) for found in measure_all(shop)]
    for name, seed in (("bert", 1), ("bert", 2), ("meanings", 1)):  # another seed's; one that is in its claim's time
        place = shop.of(seed).place(name)
        place.mkdir(parents=True)
        (place / bundle.CARD).write_text(json.dumps({**CARD, "train_seconds": 30.0}))
    assert findings.total_minutes(results, shop, (1,)) == 2.5


@pytest.mark.parametrize("damage", [{"train_seconds": None}, {"updates": "many"}, {"scores": []}])
def test_a_damaged_card_is_told_with_what_to_do(damage: Any, shop: Shop) -> None:
    results, place = measure_all(shop), shop.place("bert")
    place.mkdir(parents=True)
    (place / bundle.CARD).write_text(json.dumps({**CARD, **damage}))
    with pytest.raises(BundleError, match=f"{next(iter(damage))} missing or wrong(?s:.*)delete {place}"):
        findings.tell(results, shop, (1,))


def test_a_report_of_nothing_can_be_written(shop: Shop) -> None:
    assert "0 of 0 claims held" in findings.tell([], shop, (1,)).read_text()


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
