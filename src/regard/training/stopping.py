"""Leaving in good order: the first Ctrl-C or SIGTERM asks for a checkpoint, the second does not wait."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class StopRequest:
    """`requested` is empty, or the name of the signal that asked to stop."""

    def __init__(self) -> None:
        self.requested = ""
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "StopRequest":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.requested = signal.Signals(number).name
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
