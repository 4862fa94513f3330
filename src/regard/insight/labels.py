"""Where to write the names of points so that none lies on another. Everything in points, 1/72 inch, y upwards."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import cos, dist, pi, sin

DOT = 5.0
"""Half the side of the square that a dot keeps free."""
RINGS = (4.0, 12.0, 22.0, 34.0, 48.0, 64.0, 82.0)
"""How far from its dot a name may stand."""
WAYS = 16
STEP = 4.0
Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A rectangle by its middle and its size."""

    x: float
    y: float
    width: float
    height: float

    def overlap(self, other: "Box") -> float:
        """The area that both have."""
        across = (self.width + other.width) / 2 - abs(self.x - other.x)
        along = (self.height + other.height) / 2 - abs(self.y - other.y)
        return max(0.0, min(across, self.width, other.width)) * max(0.0, min(along, self.height, other.height))

    def nearest(self, point: Point) -> Point:
        """Its place that is nearest to a point."""
        return (
            min(max(point[0], self.x - self.width / 2), self.x + self.width / 2),
            min(max(point[1], self.y - self.height / 2), self.y + self.height / 2),
        )

    def inside(self, size: Point) -> bool:
        """Whether it is within (0, 0) and size."""
        return self.width / 2 <= self.x <= size[0] - self.width / 2 and (
            self.height / 2 <= self.y <= size[1] - self.height / 2
        )


def place_labels(points: Sequence[Point], sizes: Sequence[Point], room: Point) -> list[Box]:
    """A box of its size for each point, as near as it can be: the first are placed first. Where there is no free place,
    the one that hides least."""
    dots = [Box(x, y, 2 * DOT, 2 * DOT) for x, y in points]
    placed: list[Box] = []
    written: list[Box] = []
    for point, size in zip(points, sizes, strict=True):
        best = _freest(point, size, room, dots, written)
        placed.append(best)
        written += [best, *_line(best, point)]
    return placed


def _freest(point: Point, size: Point, room: Point, dots: Sequence[Box], written: Sequence[Box]) -> Box:
    """Neither it nor the line to it lies on what is written; dots may lie on the line."""
    least, best = float("inf"), Box(*point, *size)
    for box in _around(point, size):
        hidden = 0.0 if box.inside(room) else size[0] * size[1]
        hidden += sum(box.overlap(other) for other in (*dots, *written))
        hidden += sum(step.overlap(other) for step in _line(box, point) for other in written)
        if hidden < least:
            least, best = hidden, box
        if not hidden:
            break
    return best


def _line(box: Box, point: Point) -> list[Box]:
    """The line from a point to its box, as small squares; none if they are side by side."""
    end = box.nearest(point)
    count = int(dist(point, end) / STEP) if is_far(box, point) else 0
    ways = [(number + 1) / (count + 1) for number in range(count)]
    return [
        Box(point[0] + way * (end[0] - point[0]), point[1] + way * (end[1] - point[1]), STEP / 2, STEP / 2)
        for way in ways
    ]


def is_far(box: Box, point: Point) -> bool:
    """Whether a line must show that they belong together."""
    return dist(point, box.nearest(point)) > DOT + RINGS[0] + STEP


def _around(point: Point, size: Point) -> Iterator[Box]:
    """Boxes about a point, right of it first, then farther away."""
    for ring in RINGS:
        for way in range(WAYS):
            angle = pi / WAYS * (way + way % 2) * (1 if way % 2 else -1)  # 0, then above and below in turn
            across = cos(angle) * (DOT + ring + size[0] / 2)
            along = sin(angle) * (DOT + ring + size[1] / 2)
            yield Box(point[0] + across, point[1] + along, *size)
