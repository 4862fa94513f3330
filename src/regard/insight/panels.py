"""Matrices of weights, drawn: cells, labels on both sides, one colour bar."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from regard.insight.layout import EDGE, HEADING, Grid, Panel, Sheet, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = "Blues"  # one hue, white to dark: safe for every kind of colour vision, and in print
GREY = "#5a5a5a"


def sheet(grid: Grid, style: Style, heading: Sequence[str], *, shade: str = "weight") -> "Figure":
    """The figure of a grid of panels under a heading, with one colour bar for all. shade: what it says."""
    from matplotlib.figure import Figure

    plan = Sheet(grid, style, heading)
    figure = Figure(figsize=(plan.width, plan.height))
    for i, text in enumerate(heading):
        y = 1 - (EDGE + HEADING * i) / plan.height
        size, colour = (11, "black") if i == 0 else (9, GREY)
        figure.text(EDGE / plan.width, y, text, size=size, color=colour, va="top")
    for r, row in enumerate(grid):
        for c in range(len(row)):
            _panel(figure, plan, r, c)
    _bar(figure, plan, shade)
    return figure


def _panel(figure: "Figure", plan: Sheet, r: int, c: int) -> None:
    panel, font = plan.grid[r][c], plan.style.font
    axes = figure.add_axes(_share(plan, *plan.place(r, c)))
    axes.imshow(panel.weights, cmap=COLOURS, vmin=0, vmax=1, aspect="auto")
    axes.set_title(panel.title, size=font, pad=0.35 * font, loc="left")
    axes.tick_params(length=1.5, width=0.5, pad=2.5, labelsize=font)
    for spine in axes.spines.values():
        spine.set(linewidth=0.5, color=GREY)
    _label(axes, plan, panel, (plan.closes(r, c), c == 0))
    if plan.cell > 0.15:
        _rule(axes, panel)
    if plan.style.numbers and plan.cell > 0.3:
        _number(axes, panel)


def _label(axes: "Axes", plan: Sheet, panel: Panel, sides: tuple[bool, bool]) -> None:
    """Titles and token labels, below and on the left where they are wanted."""
    font, step = plan.style.font, plan.step
    turned = {"rotation": plan.rotation, "ha": "right", "va": "center"} if plan.rotation else {}
    below, left = sides
    T, S = panel.weights.shape
    axes.set_xticks(range(0, S, step), panel.reads.labels[::step] if below else [""] * len(range(0, S, step)))
    axes.set_yticks(range(0, T, step), panel.asks.labels[::step] if left else [""] * len(range(0, T, step)))
    for label in axes.get_xticklabels() if below else ():
        label.set(rotation_mode="anchor", **turned)
    note = f", every {step}th" if step > 3 else ("", ", every second", ", every third")[step - 1]
    if below:
        place = -(plan.under + 0.5 * plan.line) / (T * plan.cell)
        axes.text(0, place, panel.reads.title + note, size=font, va="top", color=GREY, transform=axes.transAxes)
    if left:
        place = (EDGE - plan.left) / (S * plan.cell)
        axes.text(
            place,
            1,
            panel.asks.title + note,
            size=font,
            rotation=90,
            ha="left",
            va="top",
            color=GREY,
            transform=axes.transAxes,
            rotation_mode="default",
        )


def _rule(axes: "Axes", panel: Panel) -> None:
    """Thin lines between the cells, to follow a row with the eye."""
    T, S = panel.weights.shape
    axes.set_xticks(np.arange(S - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(T - 1) + 0.5, minor=True)
    axes.grid(which="minor", color="#e4e4e4", linewidth=0.4)
    axes.tick_params(which="minor", length=0)


def _number(axes: "Axes", panel: Panel) -> None:
    """The weight in each cell that has a notable one: .61"""
    for t, s in np.argwhere(panel.weights >= 0.05):
        weight = float(panel.weights[t, s])
        text = f"{weight:.2f}".removeprefix("0")
        axes.text(s, t, text, size=6.5, ha="center", va="center", color="white" if weight > 0.5 else "#333333")


def _bar(figure: "Figure", plan: Sheet, shade: str) -> None:
    """The colour bar, at the right of the first row."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    _, bottom, _, height = plan.place(0, 0)
    tall = min(max(height, 0.9), 2.5)
    x = plan.left + plan.pitch * max(map(len, plan.grid)) + 0.05
    axes = figure.add_axes(_share(plan, x, bottom + height - tall, 0.13, tall))
    bar = figure.colorbar(ScalarMappable(Normalize(0, 1), COLOURS), cax=axes, ticks=[0, 0.25, 0.5, 0.75, 1])
    bar.outline.set_linewidth(0.5)
    bar.ax.tick_params(labelsize=7.5, length=2, width=0.5)
    bar.set_label(shade, size=8, color=GREY)


def _share(plan: Sheet, x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
    return x / plan.width, y / plan.height, width / plan.width, height / plan.height
