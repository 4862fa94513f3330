"""How requests come in: so many at a time, each of limited size, and gone when its client is gone."""

import asyncio
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regard.server.edge.security import is_open
from regard.server.refusals import RefusedError, busy, overdue, refuse, response
from regard.server.settings import Settings

ALWAYS = ("/metrics",)
"""Besides what is open to all: what a full server may still be asked."""
WRITING = 30.0
"""Seconds beyond the time for the answer in which a client must have taken it."""
ARRIVING = 256
"""Bodies of the largest size that may be on their way at a time, or as many bytes of others."""
Later = Callable[[], int]
"""How many seconds a client that is refused is to wait."""


class Intake:
    """Reads the body of a request before the application sees it, and ends the application's work on it when nobody
    waits for the answer any more."""

    def __init__(self, app: ASGIApp, settings: Settings, later: Later) -> None:
        self._app, self._settings, self._later = app, settings, later
        self._inside = self._arriving = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_open(scope["path"]) or scope["path"] in ALWAYS:
            await self._app(scope, receive, send)
            return
        came = False

        async def noted() -> Message:
            nonlocal came
            message = await receive()
            came = came or not message.get("more_body", False)
            return message

        try:
            self._refuse_if_full()
            body = await self._body(Headers(scope=scope), noted)
            if body is None:
                return
            self._refuse_if_full()
            self._inside += 1
            try:
                await _Exchange(self._app, scope, body).run(receive, send, self._settings.timeout + WRITING)
            finally:
                self._inside -= 1
        except RefusedError as refused:
            if came:  # nothing is left to come: to wait for it would be to wait for ever
                await response(scope["path"], refused)(scope, receive, send)
            else:
                await refuse(scope, receive, send, refused)

    def _refuse_if_full(self) -> None:
        """Only what has come in whole takes a place: whoever sends slowly takes none from others."""
        if self._inside >= self._settings.max_concurrent:
            raise busy(self._later(), most=self._inside)

    async def _body(self, headers: Headers, receive: Receive) -> bytes | None:
        """All of it; None if the client went away. What is too large is refused as soon as that is known, and what is
        too much together with all else that is coming in."""
        most = self._settings.max_body
        said = headers.get("content-length", "")
        if said.isdecimal() and int(said) > most:
            raise _too_large(said, most)
        body = bytearray()
        try:
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                piece = message.get("body", b"")
                body += piece
                self._arriving += len(piece)
                if len(body) > most:
                    raise _too_large(f"more than {most}", most)
                if self._arriving > ARRIVING * most:
                    raise busy(self._later(), most=self._inside)
                if not message.get("more_body", False):
                    return bytes(body)
        finally:
            self._arriving -= len(body)


class _Exchange:
    """One request that has come in, and its answer."""

    def __init__(self, app: ASGIApp, scope: Scope, body: bytes) -> None:
        self._app, self._scope, self._body = app, scope, body
        self._read = self._begun = self._ended = False
        self._gone = asyncio.Event()

    async def run(self, receive: Receive, send: Send, seconds: float) -> None:
        """Until it is answered, the client has gone, or the time is over."""

        async def observed(message: Message) -> None:
            self._begun = True
            self._ended = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        answer = asyncio.ensure_future(self._app(self._scope, self._receive, observed))
        watch = asyncio.ensure_future(self._watch(receive))
        try:
            await asyncio.wait({answer, watch}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done() and not self._ended:
                answer.cancel()
            await asyncio.wait({answer})
        finally:
            answer.cancel()
            watch.cancel()
        if not answer.cancelled():
            answer.result()  # what went wrong in it, if something did
        elif not self._gone.is_set() and not self._begun:
            await response(self._scope["path"], overdue(seconds))(self._scope, receive, send)

    async def _watch(self, receive: Receive) -> None:
        """Ends when the client has gone, or the answer was sent."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone.set()

    async def _receive(self) -> Message:
        """What the application reads: the body at once, and then that the client has gone, when it has."""
        if not self._read:
            self._read = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}


def _too_large(found: str, most: int) -> RefusedError:
    return RefusedError(
        413, "The request is too large.", found=f"{found} bytes", wanted=f"at most {most} bytes", code="too_large"
    )
