"""Those who send too slowly are parted with; those who wait for their answer are not."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from regard.server.edge.listening import bound, listener
from regard.server.settings import Settings

LENGTH = 1 << 26
ARRIVAL, ANSWER = 0.4, 1.0
"""Seconds in which a request must have come in, and after which it is answered."""
WHOLE = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n%b\r\nab"
UPGRADE = b"connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n"


async def answers_late(scope: Scope, receive: Receive, send: Send) -> None:
    while (await receive()).get("more_body"):
        pass
    await asyncio.sleep(ANSWER)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def answers_at_length(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % LENGTH)]})
    await send({"type": "http.response.body", "body": b"x" * LENGTH})


def talk(
    to: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bytes]],
    app: ASGIApp = answers_late,
    timeout: float = 60.0,
) -> bytes:
    """What comes of a conversation with a server that is started for it."""

    async def run() -> bytes:
        with bound("127.0.0.1", 0) as place:
            listening = asyncio.Event()
            server = listener(app, Settings(("x",), arrival=ARRIVAL, timeout=timeout), listening.set, lambda: None)
            serving = asyncio.create_task(server.serve([place]))
            await listening.wait()
            reader, writer = await asyncio.open_connection(*place.getsockname())
            try:
                return await asyncio.wait_for(to(reader, writer), 30)
            finally:
                writer.close()
                with suppress(ConnectionError):
                    await writer.wait_closed()
                server.should_exit = True
                await serving

    return asyncio.run(run())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"POST / HT",
        b"POST / HTTP/1.1\r\nhost: localhost\r\n",
        b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\nab",
    ],
)
def test_a_request_that_does_not_come_in_is_not_waited_for(data: bytes) -> None:
    async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        begun = time.monotonic()
        writer.write(data)
        told = await reader.read()  # until it is closed
        assert ARRIVAL * 0.9 < time.monotonic() - begun < 10
        return told

    assert talk(conversation).startswith(b"HTTP/1.1 408 ")


def test_letters_that_come_one_by_one_do_not_keep_it_open() -> None:
    async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        told = asyncio.create_task(reader.read())
        begun = time.monotonic()
        while not told.done():
            assert time.monotonic() - begun < 10
            writer.write(b"x")
            await asyncio.sleep(0.05)
        return await told

    assert talk(conversation).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("head", [b"", UPGRADE, b"connection: close\r\n"])
def test_who_has_sent_everything_is_answered_however_late(head: bytes) -> None:
    async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(WHOLE % head)
        return await reader.readuntil(b"ok")

    assert talk(conversation).startswith(b"HTTP/1.1 200 ")


def test_the_next_request_of_a_connection_must_come_in_too() -> None:
    async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(WHOLE % b"")
        await reader.readuntil(b"ok")
        writer.write(b"POST / HTTP/1.1\r\n")
        return await reader.read()

    assert talk(conversation).startswith(b"HTTP/1.1 408 ")


def test_a_request_that_came_with_the_one_before_must_come_in_too() -> None:
    async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(WHOLE % b"" + b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n")
        await reader.readuntil(b"ok")
        return await reader.read()

    assert talk(conversation).startswith(b"HTTP/1.1 408 ")


def test_an_answer_that_nobody_takes_is_thrown_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.server.edge.listening.WRITING", 0.5)

    async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        await asyncio.sleep(3)
        taken = b""
        with suppress(ConnectionError):
            while piece := await reader.read(1 << 20):
                taken += piece
        return taken

    assert 0 < len(talk(conversation, answers_at_length, timeout=0.5)) < LENGTH


def test_an_answer_that_is_taken_slowly_comes_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        await asyncio.sleep(1)
        return await reader.read()

    assert len(talk(conversation, answers_at_length)) > LENGTH
