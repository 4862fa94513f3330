"""The side of the server that faces the network: uvicorn, made to part with those who send too slowly, and to end in
order."""

import asyncio
import logging
import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any, ClassVar

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from regard.errors import ConfigError
from regard.server.edge.intake import WRITING
from regard.server.settings import Settings

COMING = (h11.IDLE, h11.SEND_BODY)
"""What is known of a request that is not all there."""
TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
BACKLOG = 1024


class Timely(H11Protocol):
    """Requests must have come in, head and body, so many seconds after the connection, or their first byte; and answers
    must not lie here untaken for longer than `taking`. (uvicorn itself waits for ever.)"""

    seconds: ClassVar[float]
    taking: ClassVar[float]

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._clock: asyncio.TimerHandle | None = None
        self._untaken: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state not in COMING:
            self._stop()
        elif self._clock is None:
            self._start()

    def handle_events(self) -> None:
        """Also when an answer was sent, and the next request has come meanwhile."""
        super().handle_events()
        if self._clock is None and self.conn.their_state is h11.SEND_BODY:
            self._start()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._untaken = self.loop.call_later(self.taking, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._taken()

    def _taken(self) -> None:
        if self._untaken is not None:
            self._untaken.cancel()
            self._untaken = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        self._taken()
        super().connection_lost(exc)

    def _start(self) -> None:
        self._clock = self.loop.call_later(self.seconds, self._too_late)

    def _stop(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _too_late(self) -> None:
        self._clock = None
        if self.conn.their_state not in COMING:  # pipelined: it came in while another was answered
            return
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(TOO_SLOW)
        self.transport.close()


def timely(seconds: float, taking: float) -> type[Timely]:
    """A protocol with these limits."""
    return type("Bounded", (Timely,), {"seconds": seconds, "taking": taking})


class Listener(uvicorn.Server):
    """Ends in order: what runs is finished, everything else is refused."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None], ending: Callable[[], None]) -> None:
        super().__init__(config)
        self._started, self._ending = started, ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGTERM and Ctrl-C; a second Ctrl-C waits for nothing."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ending()
        await super().shutdown(sockets)


def bound(host: str, port: int) -> socket.socket:
    """A socket at this address, before anything else is done: a port that is taken is told at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise ConfigError(
            f"Nothing can be served at {host}, port {port}.",
            found=error.strerror or str(error),
            do="give another --port (0: any that is free) or --host",
        ) from None
    return found


def listener(app: ASGIApp, settings: Settings, started: Callable[[], None], ending: Callable[[], None]) -> Listener:
    """A server for an application. started: called when it listens; ending: when it is told to end."""
    for name in ("uvicorn.error", "asyncio"):  # whoever sends nonsense, or goes away, must not fill the log
        logging.getLogger(name).setLevel(logging.ERROR)
    config = uvicorn.Config(
        app,
        http=timely(settings.arrival, settings.timeout + WRITING),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=int(settings.timeout) + 1,
    )
    return Listener(config, started, ending)
