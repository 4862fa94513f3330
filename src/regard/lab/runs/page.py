"""One page for all runs: their table, their curves over each other, the settings that differ."""

from collections.abc import Callable, Sequence
from math import ceil, isfinite
from statistics import fmean, median

from regard.lab.runs.comparing import best_of, compared, differences, listing
from regard.lab.runs.reading import KnownRun
from regard.report import Paragraph, Plot, Report, Section, Series

POINTS, LOST = 50, 2.0
"""How many points a curve has at most; which multiple of the usual first loss is the highest that is shown."""
Points = list[tuple[int, float]]


def page(runs: Sequence[KnownRun], *, title: str) -> Report:
    """The report; it has curves as soon as one run has something to draw."""
    sections = [Section("Runs", [listing(runs), *map(Paragraph, notes(runs))])]
    if curves := _curves(runs):
        sections.append(Section("Curves", curves))
    if differences(runs):
        sections.append(Section("Settings that differ", [compared(runs)]))
    return Report(title, "", sections)


def notes(runs: Sequence[KnownRun]) -> list[str]:
    """Which run is the best, and what has become of those that came to no good end."""
    groups = best_of(runs)
    among = " of {} that were validated alike" if len(groups) > 1 else ""
    best = [
        f"* best{among.format(len(group))}: {run.name}, {run.best.text} after update {run.best.update:,}"
        for run, group in groups
        if run.best
    ]
    return best + [f"{run.name}: {run.why}" for run in runs if run.why]


def _curves(runs: Sequence[KnownRun]) -> list[Plot]:
    """Training loss and validation score; every run looks the same in both."""
    trained = {run.name: _points(run, "train", "loss") for run in runs}
    scored = {run.name: _points(run, "validation", "score") for run in runs}
    drawn = [run.name for run in runs if trained[run.name] or scored[run.name]]
    if not drawn:
        return []
    high = LOST * median([points[0][1] for points in trained.values() if points] or [0.0])
    losses = {name: [(update, loss) for update, loss in trained[name] if loss <= high] for name in drawn}
    scores = {name: scored[name] for name in drawn}
    cut = any(len(losses[name]) < len(trained[name]) for name in drawn)
    return [
        _plot(losses, _even(losses), fmean, "training loss", f"Losses above {high:.3g} are not shown." if cut else ""),
        _plot(scores, _measured(scores), lambda values: values[-1], "validation score"),
    ]


def _points(run: KnownRun, kind: str, key: str) -> Points:
    found = [(record["update"], record.get(key)) for record in run.records if record["kind"] == kind]
    return [(update, float(value)) for update, value in found if isinstance(value, int | float) and isfinite(value)]


def _even(curves: dict[str, Points]) -> list[int]:
    """Updates at equal distances."""
    last = max((update for points in curves.values() for update, _ in points), default=0)
    step = max(1, ceil(last / POINTS))
    return list(range(step, last + step, step))


def _measured(curves: dict[str, Points]) -> list[int]:
    """Updates at which something was measured; the last, and of the others not too many."""
    updates = sorted({update for points in curves.values() for update, _ in points})
    step = max(1, ceil(len(updates) / POINTS))
    return updates[::-1][::step][::-1]


def _plot(
    curves: dict[str, Points], grid: list[int], summed_up: Callable[[list[float]], float], what: str, note: str = ""
) -> Plot:
    """The curves at the updates of a grid; what lies between two of them is summed up in one value."""
    series = []
    for name, points in curves.items():
        between = [
            [value for at, value in points if before < at <= update]
            for before, update in zip([-1, *grid], grid, strict=False)
        ]
        series.append(Series(name, [summed_up(values) if values else None for values in between]))
    return Plot("lines", grid, series, "update", what, note, connected=True)
