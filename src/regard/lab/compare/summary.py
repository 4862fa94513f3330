"""The result of a comparison as a report: who is better, at which lengths, at what price, and where each one looks."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import Any

from regard.errors import BundleError, LimitError
from regard.evaluation.scores import pairwise
from regard.lab.compare import directory, material
from regard.lab.compare.conditions import Trial, how, price, recipes
from regard.lab.compare.figures import OUTPUTS
from regard.lab.compare.looks import alignments
from regard.lab.compare.plan import Plan
from regard.lab.compare.results import Results, interval, mean_of, spread
from regard.report import Cell, Column, Paragraph, Plot, Report, Section, Series, Table

SHORT, LONG = "11–20", "41+"
ENOUGH = 10
"""Sentences that a length must have to be spoken of in a sentence."""
DIVERGED = "lower the rates with training.learning_rate=5e-4, in another --out: this one keeps its settings"


def summary(
    plan: Plan, trials: Mapping[str, list[Trial]], results: Results, out: Path, *, jobs: int, command: str
) -> Report:
    """All sections that the data allows."""
    finished = {name: figures for name, figures in results.items() if figures}
    if not finished:
        raise LimitError("Every model has diverged.", do=DIVERGED)
    sections = [
        _scores(plan, finished),
        _lengths(plan, finished),
        _significance(plan, finished, out),
        _challenges(finished),
        alignments(plan, finished, out),
        _curves(finished),
        price(finished, jobs),
        recipes(trials),
        how(plan, command),
    ]
    lost = [
        f"{name} ({len(plan.seeds) - len(f)} of {len(plan.seeds)} runs)"
        for name, f in results.items()
        if len(f) < len(plan.seeds)
    ]
    diverged = f" Diverged and not counted: {', '.join(lost)}." if lost else ""
    equal = f"Same data and tokenizer, equal size, {plan.budget} each, {_seeds(plan)}."
    return Report(
        title=" · ".join(plan.names),
        intro=f"{equal} {_verdict(finished)}{diverged}",
        sections=[section for section in sections if section is not None],
        data={
            "plan": plan.record(),
            "trials": {name: [asdict(trial) for trial in tried] for name, tried in trials.items()},
            "results": results,
            "command": command,
        },
    )


def _seeds(plan: Plan) -> str:
    return f"seed{'s' * (len(plan.seeds) > 1)} {', '.join(map(str, plan.seeds))}"


def _verdict(results: Results) -> str:
    """The result in two sentences."""
    ranked = sorted(results, key=lambda model: -mean_of(results[model], "bleu"))
    order = ", ".join(f"{model} {mean_of(results[model], 'bleu'):.1f}" for model in ranked)
    ratios = {model: ratio for model in results if (ratio := long_to_short(results[model])) is not None}
    held = ", ".join(f"{model} {ratio:.0%}" for model, ratio in ratios.items())
    kept = f" Of its BLEU on {SHORT} words each keeps on {LONG} words: {held}." if held else ""
    return f"BLEU on the test set: {order}.{kept}"


def long_to_short(figures: Sequence[dict[str, Any]]) -> float | None:
    """BLEU on 41+ words as a share of BLEU on 11–20, the mean over seeds; None where there are too few."""
    ratios: list[float] = []
    for one in figures:
        by_label = {bucket["label"]: bucket["bleu"] for bucket in one["lengths"] if bucket["sentences"] >= ENOUGH}
        if by_label.get(LONG) is None or not by_label.get(SHORT):
            return None
        ratios.append(by_label[LONG] / by_label[SHORT])
    return mean(ratios)


def _scores(plan: Plan, results: Results) -> Section:
    columns = [
        Column("model"),
        Column("BLEU", ".2f", best="max"),
        Column("95 % interval"),
        Column("chrF", ".2f", best="max"),
        Column("95 % interval"),
        Column("exact", ".1%", best="max"),
        Column("BLEU, lower-cased", ".2f", best="max"),
        Column("BLEU on val", ".2f", best="max"),
    ]
    rows = [
        [
            model,
            spread([one["bleu"] for one in figures], 2, 1),
            interval(figures[0], "bleu"),
            spread([one["chrf"] for one in figures], 2, 1),
            interval(figures[0], "chrf"),
            mean_of(figures, "exact"),
            mean_of(figures, "bleu_lowercase"),
            mean(one["val"]["bleu"] for one in figures) if all(one["val"] for one in figures) else None,
        ]
        for model, figures in results.items()
    ]
    first = next(iter(results.values()))[0]
    notes = [f"Beam {first['beam']}. {first['signature']}; {first['chrf_signature']}."]
    if len(plan.seeds) > 1:
        notes.append("Means over the seeds, with the lowest and the highest; intervals are those of the first seed.")
    return Section("Scores on the test set", [Table(columns, rows, notes=notes)])


def _lengths(plan: Plan, results: Results) -> Section:
    labels = [bucket["label"] for bucket in next(iter(results.values()))[0]["lengths"]]
    counts = [bucket["sentences"] for bucket in next(iter(results.values()))[0]["lengths"]]
    series, rows = [], []
    for model, figures in results.items():
        buckets = [[one["lengths"][i]["bleu"] for one in figures] for i in range(len(labels))]
        means = [None if None in values else mean(values) for values in buckets]
        low = [one["bleu_low"] for one in figures[0]["lengths"]]
        high = [one["bleu_high"] for one in figures[0]["lengths"]]
        if len(figures) > 1:
            low = [None if None in values else min(values) for values in buckets]
            high = [None if None in values else max(values) for values in buckets]
        series.append(Series(model, means, low, high))
        rows.append([model, *means, long_to_short(figures)])
    band = "lowest and highest seed" if len(plan.seeds) > 1 else "95 % interval"
    columns = [Column("model"), *(Column(label, ".1f", best="max") for label in labels)]
    return Section(
        "BLEU by sentence length",
        [
            Paragraph("Figure 2 of Bahdanau et al. (2015): what does not attend falls as sentences grow."),
            Plot("lines", labels, series, "words in the source", "BLEU", caption=f"Shaded: {band}."),
            Table(
                [*columns, Column(f"{LONG} / {SHORT}", ".2f", best="max")],
                [*rows, ["sentences", *(Cell(float("nan"), f"{count:,}") for count in counts), None]],
            ),
        ],
    )


def _significance(plan: Plan, results: Results, out: Path) -> Section | None:
    if len(results) < 2:
        return None
    systems = {
        model: _outputs(out / "runs" / model / f"seed-{figures[0]['seed']}") for model, figures in results.items()
    }
    references, language = material.read_text(plan, "test").targets, material.languages(plan)[1]
    rows: list[list[str | None]] = []
    found = {metric: pairwise(systems, references, language=language, metric=metric) for metric in ("bleu", "chrf")}
    names = list(systems)
    for a, b in ((a, b) for i, a in enumerate(names) for b in names[i + 1 :]):
        cells = [
            f"{d.difference:+.2f} [{d.low:+.2f}, {d.high:+.2f}], p = {d.p_value:.3f}"
            for d in (found[metric][a, b] for metric in ("bleu", "chrf"))
        ]
        rows.append([f"{b} − {a}", *cells])
    note = "Paired bootstrap (Koehn 2004), 1,000 samples, the first seed of each model; 95 % intervals; p is "
    note += "not corrected for the number of pairs."
    return Section(
        "Are the differences real?", [Table([Column("pair"), Column("BLEU"), Column("chrF")], rows, notes=[note])]
    )


def _challenges(results: Results) -> Section | None:
    phenomena = list(next(iter(results.values()))[0]["challenges"])
    if not phenomena:
        return None
    columns = [Column("pairs exactly right"), *(Column(model, ".0%") for model in results)]
    rows = [
        [phenomenon, *(mean(one["challenges"][phenomenon]["exact"] for one in figures) for figures in results.values())]
        for phenomenon in phenomena
    ]
    return Section(
        "Challenge sets",
        [
            Paragraph("Pairs of sentences that differ in one thing; a pair counts if both are right."),
            Table(columns, rows),
        ],
    )


def _curves(results: Results) -> Section | None:
    grids = [[point["update"] for point in figures[0]["curve"]] for figures in results.values()]
    if any(len(grid) < 2 for grid in grids):
        return None
    shares = [i / 10 for i in range(1, 11)]
    series = [
        Series(model, [_at(figures[0]["curve"], share) for share in shares]) for model, figures in results.items()
    ]
    plot = Plot("lines", shares, series, "share of its updates", "BLEU on val (greedy)")
    return Section("While they learned", [plot])


def _at(curve: list[dict[str, Any]], share: float) -> float | None:
    """The last score that was known at this share of the training."""
    known = [point["score"] for point in curve if point["update"] <= share * curve[-1]["update"] + 1e-9]
    return known[-1] if known else None


def _outputs(run: Path) -> list[str]:
    with directory.advised(run):
        try:
            outputs: list[str] = json.loads((run / OUTPUTS).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BundleError(f"{run / OUTPUTS} is damaged.", found=str(error)) from None
    return outputs
