"""What the lab has found, as a report: all verdicts in one table, then each claim with its figure and numbers."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard import bundle
from regard.config import Tree
from regard.errors import BundleError
from regard.files import write_text
from regard.lab.bench import KEPT, Found, usual_seeds
from regard.lab.circumstances import present
from regard.lab.claim import judge
from regard.lab.claims import CLAIMS
from regard.lab.recipes import RECIPES
from regard.lab.shop import Shop
from regard.report import Cell, Code, Column, Paragraph, Report, Section, Table, write
from regard.report.document import Block, Content
from regard.report.write import plain

INTRO = (
    "Each claim is measured by a statistic and a threshold that were written down before the run, and the same "
    "statistic is taken of a negative control, where it must fail. A claim holds if it does with every seed."
)

ON_CARD = {"seed": int, "parameters": int, "updates": int, "train_seconds": int | float, "scores": dict}
"""Of a model's card, and what it must be."""


def tell(results: Sequence[Found], shop: Shop, seeds: Sequence[int]) -> Path:
    """Writes the report and lab.json; gives the path of the page."""
    data = facts(results, shop, seeds)
    write_text(shop.directory / KEPT, json.dumps(plain(data), indent=2, ensure_ascii=False) + "\n")
    held = sum(judge(found.claim, found.measured).held for found in results)
    mode = "--quick: short trainings" if shop.quick else "in full"
    named = f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"
    known = {found.claim.name for found in results}
    missing = ", ".join(name for name in CLAIMS if name not in known)
    intro = f"{held} of {len(results)} claims held ({mode}; {named}). {INTRO}"
    intro += f" Not measured yet: {missing}." if missing else ""
    again = Section("How to repeat it", [Code(command(results, shop, seeds)), Paragraph(circumstances(data))])
    shared = models(shop.directory)
    trained = [Section("Models that were trained", [shared])] if shared.rows else []
    sections = [Section("Verdicts", [verdicts(results)]), *map(told, results), *trained, again]
    return write(Report("The lab: what is said of attention, measured", intro, sections, data), shop.directory)


def line(found: Found) -> str:
    """A claim, what came out, and the verdict."""
    verdict = judge(found.claim, found.measured)
    return f"{found.claim.name}: {found.claim.title}. {str(verdict).capitalize()}: {verdict.reason}."


def command(results: Sequence[Found], shop: Shop, seeds: Sequence[int]) -> str:
    """What gives this report in one start, however many it took."""
    names = [found.claim.name for found in results]
    words = ["regard", "lab", *(names if len(names) < len(CLAIMS) else [])]
    words += ["--quick"] if shop.quick else []
    if tuple(seeds) != usual_seeds(quick=shop.quick):
        words += [word for seed in seeds for word in ("--seeds", str(seed))]
    return shlex.join([*words, "--out", str(shop.directory)])


def circumstances(data: dict[str, Any]) -> str:
    """When, where and with what; how long it took."""
    versions = ", ".join(f"{package} {version}" for package, version in data["versions"].items())
    took = f"{data['minutes']:.1f} minutes, those of claims and of the models that they share added up"
    checkout = f" Commit {data['commit'][:10]}." if data["commit"] else ""
    return f"{data['date']}, {data['cores']} cores: {took}. {versions}.{checkout}"


def facts(results: Sequence[Found], shop: Shop, seeds: Sequence[int]) -> dict[str, Any]:
    """What lab.json holds."""
    return {
        "quick": shop.quick,
        "seeds": list(seeds),
        **_latest(results, shop),
        "minutes": round(total_minutes(results, shop, seeds), 1),
        "claims": [_facts(found) for found in results],
    }


def _latest(results: Sequence[Found], shop: Shop) -> Tree:
    """When, where and with what the last of these was measured. (Numbers that were kept before they said so themselves
    have it in lab.json.)"""
    known = [when for found in results for when in found.circumstances]
    if known:
        latest = max(known, key=lambda when: str(when["date"]))
    else:
        now, before = present(), bundle.read_json(shop.directory / KEPT) if results else {}
        latest = {name: before.get(name, now[name]) for name in now}
    return {**latest, "date": str(latest["date"])[:10]}


def total_minutes(results: Sequence[Found], shop: Shop, seeds: Sequence[int]) -> float:
    """Of the claims that are told, and of the models that claims share. Models of a single claim are in its time."""
    places = [shop.of(seed).place(name) for seed in seeds for name in RECIPES]
    made = sum(float(_card(place)["train_seconds"]) for place in places if (place / bundle.CARD).exists())
    return (made + sum(sum(found.seconds) for found in results)) / 60


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
        "cpu_seconds": [round(seconds, 1) for seconds in found.cpu_seconds],
        "numbers": [one.numbers for one in found.measured],
    }


def verdicts(results: Sequence[Found]) -> Table:
    """A row for each claim."""
    columns = [
        Column("claim"), Column("number"), Column("wanted"), Column("control"), Column("verdict"),
        Column("seconds", ".0f"), Column("CPU seconds", ".0f"),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [
            found.claim.title,
            _spread([one.value for one in found.measured]),
            f"{found.claim.side} {found.claim.threshold:g}",
            _spread([one.control for one in found.measured]),
            str(judge(found.claim, found.measured)),
            sum(found.seconds),
            sum(found.cpu_seconds),
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
        known = _card(card.parent)
        scores = known["scores"].get("val", {})
        told = ", ".join(f"{name} {value:.3g}" for name, value in scores.items() if isinstance(value, float))
        minutes = known["train_seconds"] / 60
        rows.append([card.parent.stem, known["seed"], known["parameters"], known["updates"], minutes, told])
    return Table(columns, rows)


def _card(place: Path) -> Tree:
    """What the report tells of a model, or what is wrong with its card."""
    known = bundle.read_card(place)
    if wrong := [key for key, kind in ON_CARD.items() if not isinstance(known.get(key), kind)]:
        found, do = f"{', '.join(wrong)} missing or wrong", f"delete {place} to have it trained anew"
        raise BundleError(f"{place / bundle.CARD} is damaged.", found=found, do=do)
    return known


def _spread(values: Sequence[float]) -> Cell:
    ends = f" ({min(values):.3g} to {max(values):.3g})" if len(values) > 1 else ""
    return Cell(values[0], f"{sum(values) / len(values):.3g}{ends}")
