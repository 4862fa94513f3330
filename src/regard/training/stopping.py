"""Leaving in good order: the first Ctrl-C or SIGTERM asks for a checkpoint, the second does not wait."""

import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any

TOGETHER = 0.5
"""Seconds within which two signals count as one: torchrun passes on what the terminal has sent to all."""


class StopRequest:
    """`requested` is empty, or the name of the signal that asked to stop."""

    def __init__(self) -> None:
        self.requested = ""
        self._asked = 0.0
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
        now = time.monotonic()
        if not self.requested:
            self.requested, self._asked = signal.Signals(number).name, now
        elif now - self._asked > TOGETHER:
            self._restore()
            signal.raise_signal(number)

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
