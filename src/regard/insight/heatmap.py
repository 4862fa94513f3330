"""Attention as still pictures: one head, a layer's heads, every layer; alignments; positions.

A matrix has the tokens that ask on its left and the tokens that they read from below it, and says so.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

import numpy as np
from jaxtyping import Float, Float32

from regard.errors import ConfigError, DataError
from regard.insight.canvas import paint, shown
from regard.insight.layout import LARGE, MEDIUM, SMALL, Axis, Grid, Panel, Style
from regard.insight.panels import GREY, sheet
from regard.insight.trace import Head, Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(
    trace: Trace,
    *,
    path: Path | str,
    name: str | None = None,
    layer: int | None = None,
    head: Head = None,
    words: bool = False,
) -> Path:
    """Draw one head, all heads of one attention, or all attentions and heads as small multiples, as .png or .svg.

    What is not named is drawn whole. `name` may be a part of a name ("cross"); `words` merges tokens into words.
    """
    trace = trace.by_words() if words else trace
    names = trace.select(name, layer)
    grid = [_heads(trace, chosen, head) for chosen in names]
    if len(names) > 1:
        heading = _heading(trace, names, f"{len(names)} attentions")
        return paint(lambda: sheet(_together(grid), _small(grid), heading), path)
    (heads,) = grid
    if len(heads) > 1:
        square = _wrapped(heads, columns=ceil(sqrt(len(heads))))
        return paint(lambda: sheet(square, MEDIUM, _heading(trace, names, names[0])), path)
    return _alone(trace, names, heads[0], path)


def alignment(
    trace: Trace, path: Path | str, *, layer: int | Literal["all"] | None = None, words: bool = False
) -> Path:
    """Draw which source word each target word looked at: cross-attention, the mean over heads.

    Of one decoder layer, the last unless said otherwise, or the mean over all.
    """
    trace = trace.by_words() if words else trace
    names = _crossings(trace)
    if isinstance(layer, int):
        names = tuple(name for name in trace.select(None, layer) if name in names) or _no_crossing(trace)
    elif layer is None:
        names = names[-1:]
    weights = np.stack([trace.weights_of(name, "mean") for name in names]).mean(axis=0)
    of = names[0] if len(names) == 1 else f"{len(names)} layers"
    title = f"alignment · {of} · {_heads_of(trace, names[0])}"
    return _alone(trace, names, _panel(trace, names[0], weights, title), path)


def draw_confusion(trace: Trace, path: Path | str) -> Path:
    """Draw what was taken for what: on the left what a text is, below what it was said to be."""
    (name,) = trace.names
    asks, reads = (Axis(row, tuple(map(shown, trace.rows[row].labels))) for row in trace.axes[name])
    panel = Panel("", trace.weights_of(name, 0), asks, reads)
    return paint(lambda: sheet([[panel]], LARGE, ["What was taken for what"], shade="share of the true class"), path)


def positions(encoding: Float[np.ndarray, "positions width"], path: Path | str) -> Path:
    """Draw a table of position encodings: a row per position, a column per dimension."""
    if not encoding.size:
        raise DataError("There is no position to draw.", found=f"shape {encoding.shape}", wanted="(positions, width)")
    return paint(lambda: _positions(encoding), path)


def _positions(encoding: Float[np.ndarray, "positions width"]) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    bound = float(np.abs(encoding).max()) or 1.0
    image = axes.imshow(encoding, cmap="RdBu", vmin=-bound, vmax=bound, aspect="auto")
    axes.set_title("Position encoding: each row is added to the word at that position", size=11, loc="left")
    axes.set_xlabel("dimension", color=GREY)
    axes.set_ylabel("position", color=GREY)
    figure.colorbar(image, label="value")
    return figure


def _heads(trace: Trace, name: str, head: Head) -> list[Panel]:
    """The panels of an attention: every head, or the one that is asked for."""
    if head == "mean":
        return [_panel(trace, name, trace.weights_of(name, "mean"), f"{name} · {_heads_of(trace, name)}")]
    numbers = range(len(trace.weights_of(name))) if head is None else [head]
    return [_panel(trace, name, trace.weights_of(name, number), f"{name} · head {number}") for number in numbers]


def _panel(trace: Trace, name: str, weights: Float32[np.ndarray, "T S"], title: str) -> Panel:
    if not weights.size:
        raise DataError(f"There is nothing to draw in {name}.", found=f"{weights.shape[0]} × {weights.shape[1]} tokens")
    asks, reads = trace.axes[name]
    return Panel(title, weights, _axis(trace, asks, "asks"), _axis(trace, reads, "reads from"))


def _axis(trace: Trace, row: str, role: str) -> Axis:
    tokens = trace.rows[row]
    language = f" ({tokens.language})" if tokens.language else ""
    return Axis(f"{role}: {row}{language}", tuple(map(shown, tokens.labels)))


def _alone(trace: Trace, names: Sequence[str], panel: Panel, path: Path | str) -> Path:
    """One large matrix, with its title as the heading."""
    heading = _heading(trace, names, panel.title)
    return paint(lambda: sheet([[replace(panel, title="")]], LARGE, heading), path)


def _heading(trace: Trace, names: Sequence[str], what: str) -> list[str]:
    """The model and what is seen of it; below, how the trace was changed before it was drawn."""
    model = shown(str(trace.meta.get("model", "")))
    views = list(trace.meta.get("view", []))
    if "dropped" in trace.meta:
        views.append(f"special tokens got {np.mean([trace.meta['dropped'][name] for name in names]):.2f}")
    return [f"{model} · {what}" if model else what, *([", ".join(views)] if views else [])]


def _together(grid: Grid) -> Grid:
    """The rows of a grid with equal axes next to each other, so that they share their labels."""
    kinds = [(row[0].asks, row[0].reads) for row in grid]
    return sorted(grid, key=lambda row: kinds.index((row[0].asks, row[0].reads)))


def _small(grid: Grid) -> Style:
    """Small multiples: larger for long texts, smaller for many layers and heads."""
    tokens = max(max(row[0].weights.shape) for row in grid)
    most = 40 / max(len(grid), len(grid[0]))
    return replace(SMALL, side=max(0.8, min(SMALL.side * max(1.0, tokens / 64), 2 * SMALL.side, most)))


def _wrapped(panels: Sequence[Panel], columns: int) -> Grid:
    return [panels[i : i + columns] for i in range(0, len(panels), columns)]


def _crossings(trace: Trace) -> tuple[str, ...]:
    """The attentions in which one row looks at another."""
    found = tuple(name for name, (asks, reads) in trace.axes.items() if reads == "source" != asks)
    return found or _no_crossing(trace)


def _no_crossing(trace: Trace) -> NoReturn:
    raise ConfigError(
        "There is no such cross-attention, so there is no alignment to draw.",
        found=", ".join(trace.names),
        wanted="an attention that asks from target or prediction and reads from source",
    )


def _heads_of(trace: Trace, name: str) -> str:
    heads = len(trace.weights[name])
    return f"mean of {heads} heads" if heads > 1 else "one head"
