"""Plots of a report, as SVG: readable in colour, without colour vision, and printed in grey."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from regard.insight.canvas import paint
from regard.report.document import Number, Plot, clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe & Ito (2008), "Color Universal Design", without its yellow, which is lost on white
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLES = ("-", "--", ":", "-.")  # for more series than there are colours
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++", "ooo")
GREY = "#5a5a5a"
LEGEND = 80  # characters that fit side by side, in the legend
AXIS = 68  # and along an axis


def draw_plot(plot: Plot, path: Path) -> Path:
    """Draw a plot into an .svg or .png."""
    return paint(lambda: _figure(plot), path)


def _figure(plot: Plot) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.8, 3.6), layout="constrained")
    axes = figure.add_subplot()
    KINDS[plot.kind](axes, plot)
    axes.set_xlabel(clean(plot.x_title), color=GREY)
    axes.set_ylabel(clean(plot.y_title), color=GREY)
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if plot.series:
        longest = max(len(series.label) for series in plot.series)
        columns = max(1, min(len(plot.series), 4, LEGEND // (longest + 5)))
        figure.legend(loc="outside upper left", ncols=columns, frameon=False, fontsize=9)
    return figure


def _lines(axes: "Axes", plot: Plot) -> None:
    places = np.asarray(_places(axes, plot), dtype=float)
    for number, series in enumerate(plot.series):
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        style, values = STYLES[number // len(COLOURS) % len(STYLES)], _numbers(series.values)
        shown = ~np.isnan(values) if plot.connected else np.full(len(values), True)
        line = axes.plot(places[shown], values[shown], color=colour, marker=marker, linestyle=style)[0]
        line.set(markersize=5, label=clean(series.label))
        if series.low is not None and series.high is not None:
            axes.fill_between(
                places, _numbers(series.low), _numbers(series.high), color=colour, alpha=0.13, linewidth=0
            )


def _bars(axes: "Axes", plot: Plot) -> None:
    _places(axes, plot)
    breadth = 0.8 / max(len(plot.series), 1)
    for number, series in enumerate(plot.series):
        places = np.arange(len(plot.x)) + (number - (len(plot.series) - 1) / 2) * breadth
        colour, hatch = COLOURS[number % len(COLOURS)], HATCHES[number % len(HATCHES)]
        values = _numbers(series.values)
        bars = axes.bar(places, values, 0.9 * breadth, color=colour, hatch=hatch, label=clean(series.label))
        for bar in bars:
            bar.set(edgecolor="white", linewidth=0)
        if series.low is not None and series.high is not None:
            reach = np.maximum([values - _numbers(series.low), _numbers(series.high) - values], 0)
            axes.errorbar(places, values, reach, fmt="none", color="#222222", linewidth=1)


KINDS = {"lines": _lines, "bars": _bars}


def _places(axes: "Axes", plot: Plot) -> Sequence[Number] | Float[np.ndarray, "places"]:
    """Where each x is on the axis. Categories and bars stand side by side."""
    numbers = [x for x in plot.x if not isinstance(x, str)]
    if plot.kind == "lines" and len(numbers) == len(plot.x):
        return numbers
    width = max(1, AXIS // max(len(plot.x), 1) - 1)
    axes.set_xticks(range(len(plot.x)), [_wrapped(clean(str(x)), width) for x in plot.x])
    return np.arange(len(plot.x), dtype=float)


def _wrapped(text: str, width: int) -> str:
    """In lines of this many characters, if its words allow it, so that it does not run into its neighbours."""
    return "\n".join(fill(line, width, break_long_words=False, break_on_hyphens=False) for line in text.splitlines())


def _numbers(values: Sequence[Number | None]) -> Float[np.ndarray, "places"]:
    """The values with not-a-number where there is none: matplotlib leaves a gap."""
    return np.array([np.nan if value is None else value for value in values], dtype=float)
