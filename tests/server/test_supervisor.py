"""The server's side of a model, whatever happens to its process."""

import asyncio
import errno
import json
from pathlib import Path
from typing import Any

import pytest

from regard.errors import BundleError
from regard.server import supervisor
from regard.server.line import Line
from regard.server.messages import Begun, Done, Facts
from regard.server.metrics import Metrics
from regard.server.refusals import RefusedError
from regard.server.settings import Settings
from regard.server.supervisor import Supervisor
from tests.server.serving import write_generator

PATIENCE = 600.0
"""Seconds, also on a busy machine."""


def supervised(place: Path) -> Supervisor:
    return Supervisor(str(place), Settings((str(place),), timeout=PATIENCE), Metrics())


def test_a_process_that_cannot_be_started_again_is_tried_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    refused = [OSError(errno.ENOMEM, "Cannot allocate memory")]

    def line(*given: Any) -> Line:
        if refused:
            raise refused.pop()
        return Line(*given)

    async def asked() -> Any:
        model = supervised(write_generator(tmp_path / "writer"))
        try:
            await model.start()
            monkeypatch.setattr(supervisor, "Line", line)
            assert model._line is not None
            model._line.process.kill()
            (done,) = await model.ask("tokenize", ["The cat"], side="source")
            return json.loads(done.value)
        finally:
            await model.stop()

    assert "".join(token["text"] for token in asyncio.run(asked())) == "The cat"
    assert "the process of writer cannot be started: [Errno 12] Cannot allocate memory" in caplog.text


def test_a_process_that_ends_while_it_loads_is_told_with_how_it_ended(tmp_path: Path) -> None:
    async def killed() -> None:
        model = supervised(write_generator(tmp_path / "writer"))
        loading = asyncio.create_task(model.start())
        await asyncio.sleep(0)
        assert model._line is not None
        model._line.process.kill()
        try:
            await loading
        finally:
            await model.stop()

    with pytest.raises(BundleError, match=r"before the model was loaded.\n  found: exit code -9\n  do this: "):
        asyncio.run(killed())


def test_whoever_does_not_wait_for_a_model_leaves_nothing_behind(tmp_path: Path) -> None:
    """As Ctrl-C does while models are loaded: the process ends at once, and no callback fails."""
    failed: list[Any] = []

    async def left() -> int | None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, told: failed.append(told))
        model = supervised(write_generator(tmp_path / "writer"))
        loading = asyncio.create_task(model.start())
        await asyncio.sleep(0)
        assert model._line is not None
        loading.cancel()
        await asyncio.wait({loading})
        await model.stop()
        await asyncio.sleep(0.1)  # what the process said last is heard
        return model._line.process.exitcode

    assert asyncio.run(left()) == -9
    assert failed == []


def test_what_was_begun_is_finished_when_the_server_is_told_to_end(tmp_path: Path) -> None:
    """Also if at that moment nothing of it is being computed."""

    async def ended() -> list[Any]:
        model = supervised(tmp_path)
        model.facts = Facts("writer", "lm", "GPT2", ("tokenize",), 0)
        begun = asyncio.create_task(model.ask("tokenize", ["a", "b"], side="source"))
        waits = asyncio.create_task(model.ask("tokenize", ["c"], side="source"))
        await asyncio.sleep(0)
        first, second, _ = model._tickets
        model.heard([Begun((first,), 1), Done(first, "A")])
        model.refuse_waiting()
        model.heard([Begun((second,), 1), Done(second, "B")])
        with pytest.raises(RefusedError, match="being stopped"):
            await waits
        with pytest.raises(RefusedError, match="being stopped"):
            await model.ask("tokenize", ["d"], side="source")
        return [one.value for one in await begun]

    assert asyncio.run(ended()) == ["A", "B"]
