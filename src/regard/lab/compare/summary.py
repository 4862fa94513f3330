"""The result of a comparison as a report: who is better, at which lengths, at what price, and where each one looks."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from regard import bundle
from regard.config import Tree
from regard.data.readers import read_lines, read_pairs
from regard.errors import LimitError
from regard.evaluation.scores import pairwise
from regard.insight import draw
from regard.lab.compare.figures import OUTPUTS
from regard.lab.compare.plan import TRIAL_SHARE, Plan, folder, name
from regard.report import Cell, Code, Column, Paragraph, Picture, Pictures, Plot, Report, Section, Series, Table

Results = Mapping[str, Sequence[dict[str, Any]]]
"""By model, the figures of each seed."""
SHORT, LONG = "11–20", "41+"


@dataclass(frozen=True)
class Trial:
    """A recipe and what it scored on the validation set."""

    recipe: Tree
    score: float
    updates: int
    seconds: float


def summary(plan: Plan, trials: Mapping[str, list[Trial]], results: Results, out: Path, *, command: str) -> Report:
    """All sections that the data allows."""
    sections = [
        _scores(plan, results),
        _lengths(plan, results),
        _significance(plan, results, out),
        _challenges(results),
        _alignments(plan, results, out),
        _curves(results),
        _price(results),
        _recipes(plan, trials),
        _how(plan, results, command),
    ]
    data = {"plan": plan.record(), "trials": {m: [asdict(t) for t in tried] for m, tried in trials.items()}}
    return Report(
        title=" · ".join(map(name, plan.models)),
        intro=f"Same data, same tokenizer, equal size, {plan.budget} each, {_seeds(plan)}. {_verdict(results)}",
        sections=[section for section in sections if section is not None],
        data={**data, "results": results, "command": command},
    )


def _seeds(plan: Plan) -> str:
    return f"seed{'s' * (len(plan.seeds) > 1)} {', '.join(map(str, plan.seeds))}"


def _verdict(results: Results) -> str:
    """The result in two sentences."""
    ranked = sorted(results, key=lambda model: -_mean(results[model], "bleu"))
    order = " > ".join(f"{name(model)} {_mean(results[model], 'bleu'):.1f}" for model in ranked)
    ratios = {model: ratio for model in results if (ratio := long_to_short(results[model])) is not None}
    held = ", ".join(f"{name(model)} {ratio:.0%}" for model, ratio in ratios.items())
    kept = f" Of its BLEU on {SHORT} words each keeps on {LONG} words: {held}." if held else ""
    return f"BLEU on the test set: {order}.{kept}"


def long_to_short(figures: Sequence[dict[str, Any]]) -> float | None:
    """BLEU on 41+ words as a share of BLEU on 11–20, the mean over seeds; None where there are no such sentences."""
    ratios: list[float] = []
    for one in figures:
        by_label = {bucket["label"]: bucket["bleu"] for bucket in one["lengths"]}
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
            name(model),
            _spread(figures, "bleu"),
            _interval(figures[0], "bleu"),
            _spread(figures, "chrf"),
            _interval(figures[0], "chrf"),
            _mean(figures, "exact"),
            _mean(figures, "bleu_lowercase"),
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
        series.append(Series(name(model), means, low, high))
        rows.append([name(model), *means, long_to_short(figures)])
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
    systems = {name(m): read_lines(str(out / "runs" / folder(m) / f"seed-{plan.seeds[0]}" / OUTPUTS)) for m in results}
    references, language = _test(plan)
    rows: list[list[str | None]] = []
    found = {metric: pairwise(systems, references, language=language, metric=metric) for metric in ("bleu", "chrf")}
    names = list(systems)
    for a, b in ((a, b) for i, a in enumerate(names) for b in names[i + 1 :]):
        cells = [
            f"{d.difference:+.2f} [{d.low:+.2f}, {d.high:+.2f}], p = {d.p_value:.3f}"
            for d in (found[metric][a, b] for metric in ("bleu", "chrf"))
        ]
        rows.append([f"{b} − {a}", *cells])
    note = f"Paired bootstrap (Koehn 2004), 1,000 samples, seed {plan.seeds[0]} of each model; 95 % intervals."
    return Section(
        "Are the differences real?", [Table([Column("pair"), Column("BLEU"), Column("chrF")], rows, notes=[note])]
    )


def _challenges(results: Results) -> Section | None:
    phenomena = list(next(iter(results.values()))[0]["challenges"])
    if not phenomena:
        return None
    columns = [Column("pairs exactly right"), *(Column(name(model), ".0%") for model in results)]
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


def _alignments(plan: Plan, results: Results, out: Path) -> Section | None:
    attending = {model: figures for model, figures in results.items() if "head" in figures[0]}
    if not attending:
        return None
    blocks: list[Any] = []
    if all("alignment" in figures[0] for figures in attending.values()):
        rows = [
            [
                name(model),
                *(mean(one["alignment"][key] for one in figures) for key in ("aer", "precision", "recall")),
                _head(figures[0]["head"]),
            ]
            for model, figures in attending.items()
        ]
        columns = [
            Column("model"),
            Column("alignment error rate", ".3f", best="min"),
            Column("precision", ".3f"),
            Column("recall", ".3f"),
            Column("read from (first seed)"),
        ]
        blocks.append(Table(columns, rows, notes=["The head is chosen on the validation set, with its gold links."]))
    drawn = [_picture(plan, model, figures[0], out) for model, figures in attending.items()]
    if pictures := [picture for picture in drawn if picture is not None]:
        blocks.append(Pictures(pictures))
    return Section("Where they look", blocks) if blocks else None


def _picture(plan: Plan, model: str, figures: dict[str, Any], out: Path) -> Picture | None:
    """How one model aligns the sentence with its own translation; nothing if it does not come to an end with it."""
    run = out / "runs" / folder(model) / f"seed-{plan.seeds[0]}"
    translator = bundle.load(run)
    try:
        trace = translator.attention(plan.sentence or _typical(plan)).by_words()
    except LimitError:
        return None
    head = figures["head"]
    path = draw(trace, name=head["name"], head=head["head"], path=run / "alignment.svg")
    text = trace.rows["prediction"].text
    return Picture(path, f"alignment matrix of {name(model)}: {text}", f"{name(model)}: {_head(head)}")


def _typical(plan: Plan) -> str:
    """The first sentence of the test set that is neither short nor long."""
    test = read_pairs(plan.settings["data"]["test"])
    return min(test.sources, key=lambda source: abs(len(source.split()) - 11))


def _curves(results: Results) -> Section | None:
    grids = [[point["update"] for point in figures[0]["curve"]] for figures in results.values()]
    if any(len(grid) < 2 for grid in grids):
        return None
    shares = [i / 10 for i in range(1, 11)]
    series = [
        Series(name(model), [_at(figures[0]["curve"], share) for share in shares]) for model, figures in results.items()
    ]
    plot = Plot("lines", shares, series, "share of its updates", "BLEU on val (greedy)")
    return Section("While they learned", [plot])


def _at(curve: list[dict[str, Any]], share: float) -> float | None:
    """The last score that was known at this share of the training."""
    known = [point["score"] for point in curve if point["update"] <= share * curve[-1]["update"] + 1e-9]
    return known[-1] if known else None


def _price(results: Results) -> Section:
    columns = [
        Column("model"),
        Column("parameters", ",d"),
        Column("updates", ",.0f"),
        Column("training, minutes", ".1f"),
        Column("trains, target tokens/s", ",.0f", best="max"),
        Column("translates, sentences/s", ",.1f", best="max"),
        Column("translates, tokens/s", ",.0f", best="max"),
        Column("peak memory, MB", ",.0f", best="min"),
    ]
    rows = [
        [
            name(model),
            figures[0]["parameters"],
            _mean(figures, "updates"),
            _mean(figures, "train_seconds") / 60,
            _mean(figures, "train_tokens_per_second"),
            _mean(figures, "sentences_per_second"),
            _mean(figures, "tokens_per_second"),
            max(one["peak_memory_bytes"] for one in figures) / 1e6,
        ]
        for model, figures in results.items()
    ]
    return Section("Size and speed", [Table(columns, rows, notes=["Translation as for the scores: beam 5, batched."])])


def _recipes(plan: Plan, trials: Mapping[str, list[Trial]]) -> Section | None:
    if plan.trials <= 1:
        return None
    rows: list[list[str | float]] = []
    for model, tried in trials.items():
        best = max(tried, key=lambda trial: trial.score)
        for trial in tried:
            settings = ", ".join(f"{s}.{k}={v:g}" for s, pairs in trial.recipe.items() for k, v in pairs.items())
            mark = "chosen" if trial is best else "" if trial.updates else "failed"
            rows.append([name(model), settings, trial.updates, trial.seconds / 60, trial.score, mark])
    columns = [
        Column("model"), Column("recipe"), Column("updates", ",d"), Column("minutes", ".1f"),
        Column("BLEU on val", ".2f"), Column(""),
    ]  # fmt: skip
    text = f"Each model tried the same recipes, each with {TRIAL_SHARE:.0%} of the budget; the best on val was trained."
    return Section("Recipes that were tried", [Paragraph(text), Table(columns, rows)])


def _how(plan: Plan, results: Results, command: str) -> Section:
    files = plan.settings["data"]
    lines = [f"{split}: {', '.join(files[split])}" for split in ("train", "val", "test")]
    versions = ", ".join(f"{package} {version}" for package, version in bundle.versions().items())
    return Section("How to repeat it", [Code(command), Code("\n".join([*lines, versions]))])


def _test(plan: Plan) -> tuple[list[str], str]:
    data = plan.settings["data"]
    langs = tuple(data.get("langs", ("", "")))
    test = read_pairs(data["test"], langs=langs if all(langs) else None)
    return list(test.targets), langs[1]


def _head(head: dict[str, Any]) -> str:
    return f"{head['name']}, head {head['head']}, at the step that {head['shift']} the word"


def _mean(figures: Sequence[dict[str, Any]], key: str) -> float:
    return float(mean(one[key] for one in figures))


def _spread(figures: Sequence[dict[str, Any]], key: str) -> Cell:
    values = [one[key] for one in figures]
    spread = f" ({min(values):.1f}–{max(values):.1f})" if len(values) > 1 else ""
    return Cell(mean(values), f"{mean(values):.2f}{spread}")


def _interval(figures: dict[str, Any], metric: str) -> str:
    interval = figures["intervals"][metric]
    return f"{interval['low']:.1f}–{interval['high']:.1f}"
