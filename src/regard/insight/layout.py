"""Where everything goes on a sheet of matrices.

All lengths are inches, measured before anything is drawn, so that a picture grows with its tokens, up to a bound, and
looks the same whether or not this machine has the fonts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from jaxtyping import Float32

from regard.insight.canvas import breadth, broadest

POINT = 1 / 72
EDGE, GAP, BAR, HEADING = 0.15, 0.25, 0.8, 0.24


@dataclass(frozen=True)
class Axis:
    """One side of a matrix: its title and the label of each of its tokens."""

    title: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Panel:
    """One matrix of weights."""

    title: str
    weights: Float32[np.ndarray, "T S"]
    asks: Axis
    reads: Axis


@dataclass(frozen=True)
class Style:
    """How large things may become: a cell, a side of a matrix, the font of labels (points); numbers in cells or not."""

    cell: float
    side: float
    font: float
    rotation: int = 90
    numbers: bool = False


LARGE = Style(cell=0.36, side=13.0, font=9.0, rotation=60, numbers=True)
MEDIUM = Style(cell=0.26, side=3.6, font=7.5)
SMALL = Style(cell=0.2, side=2.0, font=6.0)

Grid = Sequence[Sequence[Panel]]


class Sheet:
    """The measures of a grid of panels. A panel has its own x labels unless the one below it has the same ones."""

    def __init__(self, grid: Grid, style: Style, heading: Sequence[str]) -> None:
        self.grid, self.style, self.heading = grid, style, heading
        panels = [panel for row in grid for panel in row]
        self.cell: float = min(style.cell, style.side / max(max(panel.weights.shape) for panel in panels))
        self.step = max(1, ceil(1.2 * style.font * POINT / self.cell))
        self.line = 1.5 * style.font * POINT

        below = self._length(*(label for panel in panels for label in panel.reads.labels))
        self.rotation = 0 if below <= 0.9 * self.cell * self.step else style.rotation
        angle = np.radians(self.rotation)
        self.under = below * float(np.sin(angle)) + 0.7 * self.line
        lean = below * float(np.cos(angle)) if self.rotation else 0.0

        beside = self._length(*(label for panel in panels for label in panel.asks.labels))
        self.left = EDGE + max(beside + 2 * self.line, lean)
        broad = self.cell * max(panel.weights.shape[1] for panel in panels)
        self.pitch = GAP + max(
            broad, self._length(*(text for panel in panels for text in (panel.title, panel.reads.title)))
        )
        self.top = EDGE + HEADING * (len(heading) + 0.2)
        self.heights = [self._height(r) for r in range(len(grid))]
        breadths = [breadth(text) * 11 * POINT for text in heading]
        self.width = EDGE + max(self.left + self.pitch * max(map(len, grid)) + BAR, *breadths)
        self.height = self.top + max(sum(self.heights), 1.2) + EDGE

    def place(self, r: int, c: int) -> tuple[float, float, float, float]:
        """Left, bottom, width and height of a matrix."""
        rows, columns = self.grid[r][c].weights.shape
        top = self.height - self.top - sum(self.heights[:r]) - self.line
        return self.left + c * self.pitch, top - rows * self.cell, columns * self.cell, rows * self.cell

    def closes(self, r: int, c: int) -> bool:
        """Whether a panel needs its own x labels."""
        below = self.grid[r + 1] if r + 1 < len(self.grid) else ()
        return c >= len(below) or below[c].reads != self.grid[r][c].reads

    def _height(self, r: int) -> float:
        matrix = self.cell * len(self.grid[r][0].weights)
        closed = any(self.closes(r, c) for c in range(len(self.grid[r])))
        under = self.under + 1.5 * self.line if closed else 0.0
        return max(2 * self.line + matrix + under, self._length(self.grid[r][0].asks.title) + self.line)

    def _length(self, *texts: str) -> float:
        return broadest(texts) * self.style.font * POINT
