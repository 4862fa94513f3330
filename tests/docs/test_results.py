"""What docs/results/ tells is what the code of today would tell of the same measurements."""

from pathlib import Path
from shutil import copytree

import pytest

from regard.lab import bench, findings
from regard.lab.claims import find
from regard.lab.shop import Shop
from tests.docs.blocks import DOCS

LAB = DOCS / "results" / "lab"


def after(heading: str, page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    return text[text.index(heading) :]


def test_all_claims_were_measured_as_they_are_written_today() -> None:
    pieces = [bench.Measuring(Shop(LAB, seed=seed), claim) for seed in bench.SEEDS for claim in find()]
    assert not [piece.label for piece in pieces if not piece.done]


@pytest.mark.slow
def test_the_page_of_the_lab_is_the_report_of_what_was_measured(tmp_path: Path) -> None:
    """But for the names of pictures, which other results lie beside, and for when and where the report was made."""
    shop = Shop(copytree(LAB, tmp_path / "lab-full"))
    findings.tell(bench.found(find(), shop, bench.SEEDS), shop, bench.SEEDS)
    told = after("## Verdicts", tmp_path / "lab-full" / "report.md").replace("](pictures/", "](pictures/lab-")
    shown = after("## Verdicts", LAB.with_suffix(".md"))
    assert shown.split("## How to repeat it")[0] == told.split("## How to repeat it")[0]
    pictures = {f"lab-{path.name}" for path in (tmp_path / "lab-full" / "pictures").iterdir()}
    assert pictures == {path.name for path in (DOCS / "results" / "pictures").glob("lab-*")}
