"""Traces that were made a moment ago: a page asks for one layer after the other of the same text."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock

from regard.insight import Trace

MOST = 1 << 28
"""Bytes of weights that are kept. What is larger by itself is made again each time."""


class Recent:
    """By what they were made of, all of it: nobody gets what another text gave. Many threads may call it."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Trace] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Trace]) -> Trace:
        """The one that is kept, or a new one."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        trace = make()
        with self._lock:
            self._kept[key] = trace
            while self._kept and sum(map(_size, self._kept.values())) > self._most:
                self._kept.popitem(last=False)
        return trace


def _size(trace: Trace) -> int:
    return sum(heads.nbytes for heads in trace.weights.values())
