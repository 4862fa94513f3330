"""Pictures of a word among the words whose vectors point where its own does."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from regard.insight.canvas import breadth, paint, shown
from regard.insight.contexts import COLOURS, GREY, Plane, cosines, plane
from regard.insight.labels import Box, is_far, place_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FONT = 10.0
INCH = 72.0
MARGIN = 24.0
"""Points between the outermost dots and the frame."""
ROW = 0.24
"""Inches that a bar takes."""


@dataclass(frozen=True)
class Neighbourhood:
    """A word, `words[0]`, and its neighbours, the nearest first; `vectors` (N D): theirs, row by row."""

    words: tuple[str, ...]
    vectors: Float[np.ndarray, "N D"]

    def neighbours(self) -> list[tuple[str, float]]:
        """Each neighbour and its cosine with the word."""
        found = cosines(self.vectors[:1], self.vectors[1:])[0].tolist()
        return list(zip(self.words[1:], found, strict=True))


def draw_neighbourhood(found: Neighbourhood, path: Path | str) -> Path:
    """The directions of the vectors in the plane of their largest differences; beside it the cosines with the word."""
    return paint(lambda: _figure(found), path)


def _figure(found: Neighbourhood) -> "Figure":
    from matplotlib.figure import Figure

    count = len(found.words) - 1
    height = max(5.2, ROW * count + 1.2)
    figure = Figure(figsize=(11, height))
    bottom, tall = 0.6 / height, 1 - 1.4 / height
    _dots(figure.add_axes((0.06, bottom, 0.56, tall)), found, (11 * 0.56 * INCH, height * tall * INCH))
    _bars(figure.add_axes((0.78, bottom, 0.18, tall)), found)
    told = f"“{shown(found.words[0])}” and the {count} words nearest to it"
    figure.suptitle(told, x=0.06, y=1 - 0.12 / height, ha="left", va="top")
    return figure


def _dots(axes: "Axes", found: Neighbourhood, room: tuple[float, float]) -> None:
    """room: the size of the axes in points, which are their units."""
    lengths = np.maximum(np.linalg.norm(found.vectors, axis=1, keepdims=True), 1e-12)
    places, shares = plane(found.vectors / lengths)
    dots = _spread(places, room)
    axes.set(xlim=(0, room[0]), ylim=(0, room[1]), xticks=[], yticks=[])
    axes.scatter(dots[1:, 0], dots[1:, 1], s=36, color=COLOURS[0], zorder=3)
    axes.scatter(dots[0, 0], dots[0, 1], s=170, marker="*", color=COLOURS[1], zorder=3)
    _names(axes, dots, found.words, room)
    axes.set_title("directions of their vectors", fontsize=10, loc="left")
    axes.set_xlabel(f"{shares[0]:.0%} of the differences", color=GREY)
    axes.set_ylabel(f"{shares[1]:.0%}", color=GREY)
    axes.spines[["top", "right"]].set_visible(False)


def _spread(places: Plane, room: tuple[float, float]) -> Plane:
    """The places in points, in the middle of the room and as large as fits: a step is as long across as along."""
    low, high = places.min(axis=0), places.max(axis=0)
    free = np.array(room) - 2 * MARGIN
    scale = float(np.min(free / np.maximum(high - low, 1e-9)))
    return np.asarray((places - (low + high) / 2) * scale + np.array(room) / 2)


def _names(axes: "Axes", dots: Plane, words: Sequence[str], room: tuple[float, float]) -> None:
    """The names beside their dots; a line leads to one that had to move away."""
    labels = [shown(word) for word in words]
    sizes = [(breadth(label) * FONT + 2, FONT * 1.3) for label in labels]
    points = [(float(x), float(y)) for x, y in dots]
    boxes = place_labels(points, sizes, room)
    for number, (label, box, dot) in enumerate(zip(labels, boxes, points, strict=True)):
        if is_far(box, dot):
            axes.plot(*zip(dot, box.nearest(dot), strict=True), color=GREY, linewidth=0.6, alpha=0.7, zorder=1)
        how: dict[str, Any] = {"weight": "bold", "color": COLOURS[1]} if number == 0 else {}
        side, x = _anchor(box, dot[0])
        axes.text(x, box.y, label, ha=side, va="center", fontsize=FONT, zorder=4, **how)


def _anchor(box: Box, x: float) -> tuple[str, float]:
    """Which end of a name is held, and where: the one at its dot, for how broad the name is was a guess."""
    if box.x - box.width / 2 > x:
        return "left", box.x - box.width / 2
    if box.x + box.width / 2 < x:
        return "right", box.x + box.width / 2
    return "center", box.x


def _bars(axes: "Axes", found: Neighbourhood) -> None:
    near = found.neighbours()
    values = [cosine for _, cosine in near]
    axes.barh(range(len(near)), values, color=COLOURS[0], height=0.7)
    axes.set_yticks(range(len(near)), [shown(word) for word, _ in near], fontsize=9)
    axes.set(xlim=(min(0.0, *values, 0.0), 1), ylim=(max(len(near), 8) - 0.5, -0.5))
    for row, value in enumerate(values):
        axes.text(max(value, 0.0) + 0.02, row, f"{value:.2f}", va="center", fontsize=8, color=GREY)
    axes.set_title("cosine", fontsize=10, loc="left")
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right"]].set_visible(False)
