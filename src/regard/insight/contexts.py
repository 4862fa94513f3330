"""Pictures of one word in several sentences: each layer moves its vector to where its meaning is."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from regard.insight.canvas import paint, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#5a5a5a"
Plane = Float[np.ndarray, "N 2"]


@dataclass(frozen=True)
class Contexts:
    """A word's vector without context, `alone` (D), and in each sentence after each layer, `layers` (N L D): the first
    layer is the embedding with its position."""

    word: str
    sentences: tuple[str, ...]
    alone: np.ndarray
    layers: np.ndarray

    def likeness(self, layer: int = -1) -> Float[np.ndarray, "N N"]:
        """The cosines between the sentences, after a layer."""
        return cosines(self.layers[:, layer], self.layers[:, layer])

    def from_alone(self) -> Float[np.ndarray, "N L"]:
        """The cosine of each vector with the one without context."""
        return np.stack([cosines(vectors, self.alone[None])[:, 0] for vectors in self.layers])


def cosines(a: Float[np.ndarray, "N D"], b: Float[np.ndarray, "M D"]) -> Float[np.ndarray, "N M"]:
    """The cosine of each vector with each other."""
    long = [np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12) for x in (a, b)]
    return np.asarray((a / long[0]) @ (b / long[1]).T)


def plane(points: Float[np.ndarray, "N D"]) -> tuple[Plane, tuple[float, float]]:
    """The two directions in which points of many dimensions differ most (PCA), and what share of the variance each
    has. Signs are chosen so that the largest entry of each direction is positive."""
    centred = (points - points.mean(0)).astype(np.float64)
    _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    directions = np.concatenate([directions, np.zeros((2, directions.shape[1]))])[:2]
    signs = np.sign(directions[np.arange(2), np.abs(directions).argmax(1)])
    variance = np.concatenate([sizes**2, [0.0, 0.0]])
    shares = variance[:2] / max(variance.sum(), 1e-12)
    return centred @ (directions * np.where(signs == 0, 1, signs)[:, None]).T, (float(shares[0]), float(shares[1]))


def draw_contexts(contexts: Contexts, path: Path | str) -> Path:
    """Where each layer moves the word in each sentence, in the plane of the largest differences; beside it the cosines
    between the sentences after the last layer."""
    return paint(lambda: _figure(contexts), path)


def _figure(contexts: Contexts) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[3, 2])
    _paths(left, contexts)
    _cosines(right, contexts)
    figure.legend(loc="outside lower left", frameon=False, fontsize=9, ncols=1)
    figure.suptitle(f"“{shown(contexts.word)}” in {len(contexts.sentences)} sentences", x=0.01, ha="left")
    return figure


def _paths(axes: "Axes", contexts: Contexts) -> None:
    sentences, layers, width = contexts.layers.shape
    points = np.concatenate([contexts.alone[None], contexts.layers.reshape(-1, width)])
    places, shares = plane(points)
    start, moved = places[0], places[1:].reshape(sentences, layers, 2)
    axes.scatter(start[0], start[1], marker="*", s=160, color=GREY, zorder=3, label="without context")
    for number, (sentence, way) in enumerate(zip(contexts.sentences, moved, strict=True)):
        colour = COLOURS[number % len(COLOURS)]
        axes.plot(way[:, 0], way[:, 1], color=colour, linewidth=1, alpha=0.6)
        axes.scatter(way[:-1, 0], way[:-1, 1], s=14, color=colour, alpha=0.6)
        axes.scatter(way[-1, 0], way[-1, 1], s=70, color=colour, zorder=3, label=f"{number + 1}  {sentence[:70]}")
        axes.annotate(str(number + 1), way[-1], textcoords="offset points", xytext=(6, 4), color=colour)
    axes.set_title(f"from layer 0 to layer {layers - 1}", fontsize=10, loc="left")
    axes.set_xlabel(f"{shares[0]:.0%} of the differences", color=GREY)
    axes.set_ylabel(f"{shares[1]:.0%}", color=GREY)
    axes.spines[["top", "right"]].set_visible(False)


def _cosines(axes: "Axes", contexts: Contexts) -> None:
    likeness = contexts.likeness()
    names = [str(number + 1) for number in range(len(likeness))]
    axes.imshow(likeness, cmap="Blues", vmin=min(0.0, float(likeness.min())), vmax=1.0)
    _numbers(axes, likeness)
    axes.set_xticks(range(len(names)), names)
    axes.set_yticks(range(len(names)), names)
    axes.set_title("cosine between sentences, last layer", fontsize=10, loc="left")
    axes.tick_params(length=0)


def _numbers(axes: "Axes", matrix: np.ndarray, most: int = 14) -> None:
    if len(matrix) > most:
        return
    for (row, column), value in np.ndenumerate(matrix):
        colour = "white" if value > 0.6 else "black"
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=8, color=colour)


def table(contexts: Contexts) -> Sequence[str]:
    """The same as lines of text: cosines with the vector without context by layer, and between the sentences."""
    layers = contexts.layers.shape[1]
    lines = ["cosine with the word without context, by layer (0: the embedding with its position)"]
    lines.append("     " + " ".join(f"{layer:>5}" for layer in range(layers)))
    for number, row in enumerate(contexts.from_alone(), start=1):
        lines.append(f"{number:>4} " + " ".join(f"{value:>5.2f}" for value in row))
    lines += ["", "cosine between the sentences, last layer"]
    lines.append("     " + " ".join(f"{number:>5}" for number in range(1, len(contexts.sentences) + 1)))
    for number, row in enumerate(contexts.likeness(), start=1):
        lines.append(f"{number:>4} " + " ".join(f"{value:>5.2f}" for value in row))
    return lines
