"""Which picture a trace is drawn as: a map if it knows where its entities are, matrices of weights if not."""

from pathlib import Path
from typing import Protocol, runtime_checkable

from regard.insight.heatmap import draw
from regard.insight.map import MAP, draw_map
from regard.insight.trace import Head, Trace


@runtime_checkable
class Picture(Protocol):
    """Draws a trace, or what is named of it."""

    def __call__(
        self, trace: Trace, *, path: Path | str, name: str | None = None, layer: int | None = None, head: Head = None
    ) -> Path: ...


def picture_of(trace: Trace) -> Picture:
    return draw_map if MAP in trace.meta else draw
