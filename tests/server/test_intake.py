"""How requests come in: whoever is refused is told, and nothing is waited for that cannot come."""

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError
from starlette.types import Message, Receive, Scope, Send

from regard.server.api.schema.openai import Completion
from regard.server.edge.intake import Intake
from regard.server.settings import Settings

SCOPE: dict[str, Any] = {"type": "http", "method": "POST", "path": "/v1/completions", "headers": []}


async def never(scope: Scope, receive: Receive, send: Send) -> None:
    raise AssertionError("the server is full")


def test_who_is_refused_after_all_has_come_in_is_answered_at_once() -> None:
    """Another request took the last place while this one came in."""
    intake, told = Intake(never, Settings(("x",), max_concurrent=1), lambda: 7), list[Message]()
    coming = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.request", "body": b"}"}]

    async def receive() -> Message:
        assert coming, "nothing more can come"
        intake._inside = 1
        return coming.pop(0)

    async def send(message: Message) -> None:
        told.append(message)

    asyncio.run(intake(SCOPE, receive, send))
    assert told[0]["status"] == 503
    assert (b"retry-after", b"7") in told[0]["headers"]
    assert not told[-1].get("more_body", False)


def test_of_a_body_full_of_mistakes_few_are_looked_at() -> None:
    with pytest.raises(ValidationError) as told:
        Completion.model_validate({"model": "m", "prompt": [[None] * 500] * 400})
    assert told.value.error_count() < 20
