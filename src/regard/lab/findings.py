"""What the lab has found, as a report: all verdicts in one table, then each claim with its figure and numbers."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard import bundle
from regard.files import write_text
from regard.lab.bench import KEPT, Found
from regard.lab.claim import judge
from regard.report import Cell, Code, Column, Paragraph, Report, Section, Table, write
from regard.report.document import Block, Content
from regard.report.write import plain

INTRO = (
    "Each claim is measured by a statistic and a threshold that were written down before the run, and the same "
    "statistic is taken of a negative control, where it must fail. A claim holds if it does with every seed."
)


def tell(results: Sequence[Found], directory: Path, *, quick: bool, command: str = "") -> Path:
    """Writes the report and lab.json; gives the path of the page."""
    data = facts(results, quick=quick)
    write_text(directory / KEPT, json.dumps(plain(data), indent=2, ensure_ascii=False) + "\n")
    held = sum(judge(found.claim, found.measured).held for found in results)
    mode = "--quick: one seed, short trainings" if quick else "in full"
    intro = f"{held} of {len(results)} claims held ({mode}). {INTRO}"
    versions = ", ".join(f"{package} {version}" for package, version in bundle.versions().items())
    again = Section("How to repeat it", [Code(command), Paragraph(versions)] if command else [Paragraph(versions)])
    shared = models(directory)
    trained = [Section("Models that were trained", [shared])] if shared.rows else []
    sections = [Section("Verdicts", [verdicts(results)]), *map(told, results), *trained, again]
    return write(Report("The lab: what is said of attention, measured", intro, sections, data), directory)


def line(found: Found) -> str:
    """A claim, what came out, and the verdict."""
    verdict = judge(found.claim, found.measured)
    return f"{found.claim.name}: {found.claim.title}. {str(verdict).capitalize()}: {verdict.reason}."


def facts(results: Sequence[Found], *, quick: bool) -> dict[str, Any]:
    """What lab.json holds."""
    return {"quick": quick, "versions": bundle.versions(), "claims": [_facts(found) for found in results]}


def _facts(found: Found) -> dict[str, Any]:
    claim, verdict = found.claim, judge(found.claim, found.measured)
    told = ("name", "title", "question", "source", "statistic", "side", "threshold")
    return {
        **{name: getattr(claim, name) for name in told},
        "negative_control": claim.control,
        "seeds": found.seeds,
        "value": [one.value for one in found.measured],
        "control": [one.control for one in found.measured],
        "verdict": str(verdict),
        "held": verdict.held,
        "reason": verdict.reason,
        "seconds": [round(seconds, 1) for seconds in found.seconds],
        "numbers": [one.numbers for one in found.measured],
    }


def verdicts(results: Sequence[Found]) -> Table:
    """A row for each claim."""
    columns = [
        Column("claim"), Column("number"), Column("wanted"), Column("control"), Column("verdict"),
        Column("seconds", ".0f"),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [
            found.claim.title,
            _spread([one.value for one in found.measured]),
            f"{found.claim.side} {found.claim.threshold:g}",
            _spread([one.control for one in found.measured]),
            str(judge(found.claim, found.measured)),
            sum(found.seconds),
        ]
        for found in results
    ]
    notes = ["Seconds without the training of models that several claims share."]
    return Table(columns, rows, caption="What held", notes=notes)


def told(found: Found) -> Section:
    """All about one claim."""
    claim, verdict = found.claim, judge(found.claim, found.measured)
    test = f"{claim.statistic} Wanted: {claim.side} {claim.threshold:g}. Control: {claim.control}"
    blocks: list[Block] = [
        Paragraph(f"{claim.question} ({claim.source})"),
        Paragraph(f"Measured: {test}"),
        Paragraph(f"Verdict: {verdict}. {verdict.reason[0].upper()}{verdict.reason[1:]}."),
        *claim.draw(found.measured),
        *([numbers(found)] if found.measured[0].numbers else []),
    ]
    return Section(f"{claim.title} ({claim.name})", blocks)


def numbers(found: Found) -> Table:
    """The further numbers, a column for each seed."""
    columns = [Column(""), *(Column(f"seed {seed}", ".4g") for seed in found.seeds)]
    rows = [[name, *(one.numbers.get(name) for one in found.measured)] for name in found.measured[0].numbers]
    return Table(columns, rows)


def models(directory: Path) -> Table:
    """What was trained on the way, and what it came to."""
    columns = [Column("model"), Column("seed", "d"), Column("parameters", ",d"), Column("updates", ",d"),
               Column("minutes", ".1f"), Column("on validation data")]  # fmt: skip
    rows: list[list[Content]] = []
    for card in sorted((directory / "models").glob(f"*/{bundle.CARD}")):
        known = bundle.read_card(card.parent)
        scores = known.get("scores", {}).get("val", {})
        told = ", ".join(f"{name} {value:.3g}" for name, value in scores.items() if isinstance(value, float))
        minutes = known["train_seconds"] / 60
        rows.append([card.parent.stem, known["seed"], known["parameters"], known["updates"], minutes, told])
    return Table(columns, rows)


def _spread(values: Sequence[float]) -> Cell:
    ends = f" ({min(values):.3g} to {max(values):.3g})" if len(values) > 1 else ""
    return Cell(values[0], f"{sum(values) / len(values):.3g}{ends}")
