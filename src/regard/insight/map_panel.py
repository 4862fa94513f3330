"""One map: what is there, and the lines of one head."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float32

from regard.insight.canvas import shown
from regard.insight.panels import GREY

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from regard.insight.map import Map

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's, which every kind of colour vision tells apart; shapes tell kinds apart as well."""
MARKERS = ("o", "^", "s", "D", "P", "v")
WALL, GROUND, SIGHT = "#333333", "#f7f6f2", "#b9b6ab"
LEAST = 0.03
"""Weights below it are not drawn."""
THICK, RING, ASIDE = 9.0, 7.0, 2.4
"""Points: a line of weight 1; the ring of one that looks at itself alone; how far a line is from the one back."""


@dataclass(frozen=True)
class MapPanel:
    """A title, weights (T N) of which T is N or, pooled, 1, and what the N are called."""

    title: str
    weights: Float32[np.ndarray, "T N"]
    names: Sequence[str]


def panel(axes: "Axes", one: MapPanel, drawn: "Map", *, scale: float) -> None:
    """Draws it; scale: of markers, lines and letters."""
    places = np.array(drawn.places, dtype=float)
    _ground(axes, one.title, drawn, places)
    if len(one.weights) == len(places):
        _sight(axes, drawn, places)
        _looks(axes, one, drawn, places, scale)
    else:
        _counts(axes, one, drawn, places, scale)
    _entities(axes, one, drawn, places, scale)


def legend(drawn: "Map") -> "list[Artist]":
    """What the signs mean."""
    from matplotlib.lines import Line2D

    signs: list[Artist] = [
        Line2D([], [], linestyle="", marker=look["marker"], color=look["color"], markersize=8, label=shown(kind))
        for kind, look in _styles(drawn.kinds).items()
        if kind
    ]
    signs.append(Line2D([], [], color=GREY, linewidth=4, label="looks at (thick: much)"))
    if drawn.seen is not None:
        signs.append(Line2D([], [], color=SIGHT, linewidth=1.2, linestyle=":", label="can see"))
    if drawn.walls:
        signs.append(Line2D([], [], color=WALL, linewidth=4, label="wall"))
    return signs


def _ground(axes: "Axes", title: str, drawn: "Map", places: np.ndarray) -> None:
    axes.set_axis_on()
    ends = np.concatenate([places, np.reshape(np.array(drawn.walls, dtype=float), (-1, 2))])
    margin = 0.07 * float(np.ptp(ends, axis=0).max() or 1.0)
    (left, low), (right, high) = ends.min(0) - margin, ends.max(0) + margin
    axes.set(
        xlim=(left, right), ylim=(low - margin, high + margin), xticks=[], yticks=[], aspect="equal", facecolor=GROUND
    )
    axes.spines[:].set_color("#dddad0")
    axes.set_title(title, size=9, loc="left", color=GREY)
    for x, y, to_x, to_y in drawn.walls:
        axes.plot([x, to_x], [y, to_y], color=WALL, linewidth=4, solid_capstyle="butt", zorder=2)


def _sight(axes: "Axes", drawn: "Map", places: np.ndarray) -> None:
    """Dotted: who may look at whom, be it in one direction."""
    from matplotlib.collections import LineCollection

    if drawn.seen is not None:
        seen = np.array(drawn.seen, dtype=bool)
        ways = places[np.argwhere(np.tril(seen | seen.T, -1))]
        axes.add_collection(LineCollection(list(ways), colors=SIGHT, linewidths=0.8, linestyles=":", zorder=1))


def _looks(axes: "Axes", one: MapPanel, drawn: "Map", places: np.ndarray, scale: float) -> None:
    styles = _styles(drawn.kinds)
    for i, j in np.argwhere(one.weights >= LEAST).tolist():
        weight, colour = float(one.weights[i, j]), styles[drawn.kinds[i]]["color"]
        gid = f"{one.title.replace(' ', '')}:{i}-{j}"
        if i == j:
            size = (19 * scale + RING * scale * weight) ** 2
            ring: dict[str, Any] = {
                "facecolors": "none",
                "edgecolors": colour,
                "linewidths": RING * scale * weight,
                "alpha": 0.45,
            }
            axes.scatter(places[i, 0], places[i, 1], size, zorder=3, gid=gid, **ring)
        else:
            _line(axes, places[[i, j]], weight, scale, color=colour, gid=gid)


def _line(axes: "Axes", ends: np.ndarray, weight: float, scale: float, **look: Any) -> None:
    """From one to the other, a little to the left of the straight way, so that the look back has its own line."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.transforms import ScaledTranslation

    here, there = ends
    along = (there - here) / (np.hypot(*(there - here)) or 1.0)  # two may stand in one place
    left, up = np.array([-along[1], along[0]]) * ASIDE * scale / 72
    width = THICK * scale * weight
    head = f"simple,tail_width={width},head_width={width + 5 * scale},head_length={width + 4 * scale}"
    room: dict[str, Any] = {"shrinkA": 10 * scale, "shrinkB": 11 * scale}
    alpha = 0.3 + 0.55 * weight
    arrow = FancyArrowPatch(
        tuple(here), tuple(there), arrowstyle=head, alpha=alpha, linewidth=0, zorder=4, **room, **look
    )
    arrow.set_transform(axes.transData + ScaledTranslation(left, up, axes.figure.dpi_scale_trans))
    axes.add_patch(arrow)


def _counts(axes: "Axes", one: MapPanel, drawn: "Map", places: np.ndarray, scale: float) -> None:
    """How much each counts where all are pooled: a disc around it."""
    styles = _styles(drawn.kinds)
    for place, weight, kind in zip(places, one.weights[0].tolist(), drawn.kinds, strict=True):
        disc: dict[str, Any] = {"color": styles[kind]["color"], "alpha": 0.25, "linewidths": 0, "zorder": 3}
        axes.scatter(place[0], place[1], 6000 * scale**2 * weight, **disc)
        _text(axes, place, f"{weight:.2f}", (0.0, 12 * scale), 8 * scale, GREY)


def _entities(axes: "Axes", one: MapPanel, drawn: "Map", places: np.ndarray, scale: float) -> None:
    each = len(drawn.said) == len(places) == len(one.weights)
    styles = _styles(drawn.kinds)
    for i, (place, kind) in enumerate(zip(places, drawn.kinds, strict=True)):
        edge: dict[str, Any] = {"edgecolors": "white", "linewidths": 1.2, "zorder": 5}
        axes.scatter(place[0], place[1], (13 * scale) ** 2, **edge, **styles[kind])
        _text(axes, place, shown(one.names[i]), (0.0, -23 * scale), 7.5 * scale, GREY)
        if each:
            _text(axes, place, shown(drawn.said[i]), (0.0, 24 * scale), 13 * scale, "black")


def _text(axes: "Axes", place: np.ndarray, text: str, aside: tuple[float, float], size: float, colour: str) -> None:
    """Beside a place, on a patch of the ground that keeps it legible on lines."""
    ground = {"boxstyle": "round,pad=0.05", "facecolor": GROUND, "edgecolor": "none", "alpha": 0.6}
    at: dict[str, Any] = {"xytext": aside, "textcoords": "offset points", "ha": "center", "va": "center", "zorder": 6}
    axes.annotate(text, tuple(place), size=size, color=colour, bbox=ground, **at)


def _styles(kinds: Sequence[str]) -> Mapping[str, dict[str, Any]]:
    """Colour and shape of each kind, the same in every picture of the same kinds; no two alike up to 36 kinds."""
    return {
        kind: {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]}
        for i, kind in enumerate(sorted(set(kinds)))
    }
