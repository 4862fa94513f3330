"""A server that may do little at a time: what is refused, what is given up, and how it ends."""

import http.client
import json
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.server.serving import Running, served, waited_for

WORDS = ("--max-batch-tokens", 40, "--max-concurrent", 3, "--timeout", 15)
"""A text fills the batch: the next one waits."""
LONG = {"model": "writer", "prompt": "a", "temperature": 0, "max_tokens": 16000}
MORE = 100
"""Tokens of a text that is too long to be let in beside another one."""


@pytest.fixture(scope="module")
def small(models: dict[str, Path]) -> Iterator[Running]:
    with served(models["writer"], words=WORDS) as running:
        yield running


@contextmanager
def streaming(server: Running, **asked: Any) -> Iterator[http.client.HTTPResponse]:
    """A text that is being written."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    body = json.dumps({**LONG, **asked, "stream": True})
    connection.request("POST", "/v1/completions", body, {"content-type": "application/json"})
    answer = connection.getresponse()
    try:
        assert answer.status == 200
        assert answer.readline().startswith(b"data: ")
        yield answer
    finally:
        connection.close()


def figure(server: Running, name: str) -> int:
    lines = server.get("/metrics")[1].decode().split("\n")
    return int(next(line for line in lines if line.startswith(name)).rpartition(" ")[2])


def idle(server: Running) -> None:
    waited_for(lambda: figure(server, "regard_running") == figure(server, "regard_waiting") == 0)


def test_a_full_server_says_when_to_come_again(small: Running) -> None:
    with ThreadPoolExecutor() as pool, streaming(small):
        waiting = [pool.submit(small.post, "/v1/completions", {**LONG, "max_tokens": MORE}) for _ in range(2)]
        waited_for(lambda: figure(small, "regard_waiting") == 2)
        connection = http.client.HTTPConnection("127.0.0.1", small.port, timeout=60)
        connection.request("POST", "/v1/completions", json.dumps(LONG), {"content-type": "application/json"})
        answer = connection.getresponse()
        told = json.loads(answer.read())
        connection.close()
        assert answer.status == 503
        assert int(answer.getheader("retry-after", "0")) >= 1
        assert told["error"]["code"] == "busy"
        assert small.get("/health")[0] == 200  # that may always be asked
    assert [one.result()[0] for one in waiting] == [200, 200]  # the long one has gone
    idle(small)


def test_a_client_that_goes_away_makes_room(small: Running) -> None:
    with streaming(small):
        assert figure(small, "regard_running") == 1
    assert small.post("/v1/completions", {**LONG, "max_tokens": MORE})[0] == 200
    idle(small)


def test_one_that_waits_and_goes_away_is_forgotten(small: Running) -> None:
    with streaming(small):
        body = json.dumps(LONG).encode()
        head = f"POST /v1/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n".encode()
        with socket.create_connection(("127.0.0.1", small.port)) as connection:
            connection.sendall(head + b"content-type: application/json\r\n\r\n" + body)
            waited_for(lambda: figure(small, "regard_waiting") == 1)
        waited_for(lambda: figure(small, "regard_waiting") == 0)
        assert figure(small, "regard_running") == 1
    idle(small)


def test_what_takes_too_long_is_given_up(small: Running) -> None:
    status, found = small.post("/v1/completions", {**LONG, "n": 40})
    assert status == 504
    assert "15 seconds" in found["error"]["message"]
    idle(small)
    assert small.post("/v1/completions", {**LONG, "max_tokens": MORE})[0] == 200


def test_an_end_in_order_finishes_what_runs_and_refuses_the_rest(models: dict[str, Path]) -> None:
    with served(models["writer"], words=("--max-batch-tokens", 40)) as running, ThreadPoolExecutor() as pool:
        with streaming(running, max_tokens=1500) as answer:
            waiting = pool.submit(running.post, "/v1/completions", {**LONG, "max_tokens": MORE})
            waited_for(lambda: figure(running, "regard_waiting") == 1)
            running.process.send_signal(signal.SIGTERM)
            status, found = waiting.result()
            assert (status, found["error"]["code"]) == (503, "closing")
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", running.port), timeout=60)
            assert answer.read().endswith(b"data: [DONE]\n\n")
        assert running.process.wait(60) == 0
        assert "Traceback" not in "".join(running.log)


def test_ctrl_c_ends_it_too(models: dict[str, Path]) -> None:
    with served(models["writer"]) as running:
        workers = running.workers()
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(60) == 0
        waited_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def test_processes_end_with_a_server_that_is_killed(models: dict[str, Path]) -> None:
    with served(models["writer"]) as running:
        workers = running.workers()
        assert workers
        running.process.kill()
        waited_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
