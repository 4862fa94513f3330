"""A process, and the connection to it."""

import asyncio
import logging
import multiprocessing
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, Protocol, runtime_checkable

from regard.server.messages import Asked, Dropped, Order

logger = logging.getLogger("regard.server")


def work(connection: Connection, order: Order) -> None:
    """What the process does: torch is imported there, and not in the server."""
    from regard.server.work.worker import run

    run(connection, order)


@runtime_checkable
class Owner(Protocol):
    """Who is told what the process says, and that it is gone: in the thread of the server."""

    def heard(self, message: Any) -> None: ...
    def lost(self, line: Any) -> None: ...


class Line:
    """A process and the connection to it. Two threads speak and listen, so that the server never waits for a pipe."""

    def __init__(self, order: Order, owner: Owner) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=work, args=(theirs, order), daemon=True)
        self.process.start()
        theirs.close()
        self._outgoing: SimpleQueue[Asked | Dropped | None] = SimpleQueue()
        self._owner, self._loop, self._ended = owner, asyncio.get_running_loop(), Event()
        for run in (self._speak, self._listen):
            Thread(target=run, daemon=True).start()

    def say(self, message: Asked | Dropped) -> None:
        self._outgoing.put(message)

    def end(self, seconds: float) -> None:
        """The process ends when it is told so; if it has not after so many seconds, it is ended."""
        self._outgoing.put(None)
        if not self._ended.wait(seconds):
            self.process.kill()
            self._ended.wait()

    def _speak(self) -> None:
        message: Asked | Dropped | None
        try:
            while True:
                message = self._outgoing.get()
                self._connection.send(message)
                if message is None:
                    return
        except OSError:
            return  # the listener has noticed too

    def _listen(self) -> None:
        try:
            while True:
                self._tell(self._owner.heard, self._connection.recv())
        except (EOFError, OSError):
            pass
        except Exception:
            logger.exception("A model said what cannot be understood: its process is ended.")
            self.process.kill()
        self.process.join()
        self._connection.close()
        self._ended.set()
        self._outgoing.put(None)
        self._tell(self._owner.lost, self)

    def _tell(self, listener: Any, message: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(listener, message)
        except RuntimeError:
            return  # the server has ended
