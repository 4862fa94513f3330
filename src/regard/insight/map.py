"""Who looks at whom, on a map: entities where they are, walls, and a line from each to all that it looks at, the
thicker the more weight it gives. Where the mask forbids a look the weight is zero, and there is no line."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil, cos, pi, sin, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.data.scenes import Scene
from regard.insight.canvas import paint, shown
from regard.insight.map_panel import MapPanel, legend, panel
from regard.insight.panels import GREY
from regard.insight.trace import Head, Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAP = "map"
"""Where the meta data of a trace has the scene, if it is one of entities."""
SIGN, LETTER = 0.6, 0.085
"""Inches that a sign of the legend takes with its margins, and a letter of what it means."""
LARGE, SMALL, SMALLEST = 6.4, 3.4, 2.2
"""How wide a map is, in inches: alone, among a few, among many."""


@dataclass(frozen=True)
class Map:
    """What there is to draw besides weights. `places`: x and y of each; `said`: what the model says of each, or of the
    whole; `seen`: the pairs that may look at each other, None if all may."""

    kinds: Sequence[str]
    places: Sequence[Sequence[float]]
    walls: Sequence[Sequence[float]]
    said: Sequence[str]
    seen: Sequence[Sequence[bool]] | None

    @classmethod
    def of(cls, scene: Scene, said: Sequence[str]) -> "Map":
        """Entities stand in a circle if one of them has no x and y; walls would mean nothing there."""
        turns = [2 * pi * i / len(scene) for i in range(len(scene))]
        circle = [(round(sin(turn), 4), round(cos(turn), 4)) for turn in turns]
        seen = None if scene.relation is None else scene.relation.tolist()
        places, walls = (circle, ()) if scene.places is None else (scene.places, scene.walls)
        return cls(scene.kinds, places, walls, said, seen)

    def tree(self) -> dict[str, Any]:
        """As a trace keeps it."""
        return asdict(self)


def draw_map(
    trace: Trace, *, path: Path | str, name: str | None = None, layer: int | None = None, head: Head = None
) -> Path:
    """Draw one head, all heads of one attention, or all attentions and heads as small maps, as .png or .svg."""
    names = trace.select(name, layer)
    trace.refuse_head(names, head)
    grid = [_row(trace, chosen, head) for chosen in names]
    if len(grid) == 1 and len(grid[0]) > 3:
        columns = ceil(sqrt(len(grid[0])))
        grid = [grid[0][i : i + columns] for i in range(0, len(grid[0]), columns)]
    model = shown(str(trace.meta.get("model", "")))
    return paint(lambda: _figure(grid, Map(**trace.meta[MAP]), model), path)


def _row(trace: Trace, name: str, head: Head) -> list[MapPanel]:
    names = trace.rows_of(name)[1].labels
    weights = trace.weights_of(name)
    if head == "mean" and len(weights) > 1:
        return [MapPanel(f"{name} · mean of {len(weights)} heads", trace.weights_of(name, "mean"), names)]
    numbers = [head] if isinstance(head, int) and len(weights) > 1 else range(len(weights))
    return [MapPanel(_title(name, number, len(weights)), trace.weights_of(name, number), names) for number in numbers]


def _title(name: str, head: int, heads: int) -> str:
    return f"{name} · head {head}" if heads > 1 else name


def _figure(grid: Sequence[Sequence[MapPanel]], drawn: Map, model: str) -> "Figure":
    from matplotlib.figure import Figure

    rows, columns = len(grid), max(map(len, grid))
    alone = rows == columns == 1
    side = LARGE if alone else SMALL if rows * columns <= 12 else SMALLEST
    extent = np.ptp(np.array([*drawn.places, *np.reshape(np.array(drawn.walls), (-1, 2))]), axis=0) + 1e-6
    tall = side * float(np.clip(extent[1] / extent[0], 0.5, 1.5))
    figure = Figure(figsize=(side * columns + 0.3, (tall + 0.25) * rows + 0.9), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for place in axes.flat:
        place.set_axis_off()
    for line, panels in zip(axes, grid, strict=True):
        for place, one in zip(line, panels, strict=False):
            panel(place, one, drawn, scale=sqrt(side / LARGE))
    whole = f" · says {shown(drawn.said[0])}" if len(drawn.said) == 1 != len(drawn.places) else ""
    figure.suptitle(f"{model}{whole}" or "who looks at whom", x=0.012, ha="left", size=11)
    signs = legend(drawn)
    across = _columns([len(str(sign.get_label())) for sign in signs], 3 + columns, figure.get_figwidth())
    figure.legend(handles=signs, loc="outside lower left", ncols=across, frameon=False, labelcolor=GREY)
    return figure


def _columns(letters: Sequence[int], most: int, width: float) -> int:
    """In how many columns a legend fits into a width, filled one after the other."""
    for columns in range(most, 1, -1):
        rows = ceil(len(letters) / columns)
        longest = [max(letters[i : i + rows]) for i in range(0, len(letters), rows)]
        if sum(SIGN + LETTER * each for each in longest) <= width:
            return columns
    return 1
