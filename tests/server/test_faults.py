"""What goes wrong in the world: the server stays up, says what happened, and the next request succeeds."""

import http.client
import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

import regard
from regard import engines
from tests.server.serving import Running, served, waited_for, write_classifier


def sent(server: Running, data: bytes, *, wait: bool = True) -> bytes:
    """Whatever comes back for some bytes, until the server closes the connection or is silent."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(data)
        return connection.recv(65536) if wait else b""


def works(server: Running) -> None:
    """The next request succeeds."""
    assert server.post("/translate", {"q": "a b", "source": "en", "target": "de"})[0] == 200
    assert server.post("/v1/completions", {"model": "writer", "prompt": "a", "max_tokens": 2})[0] == 200


@pytest.mark.parametrize(
    "text",
    [
        "x" * 10_000,
        "猫" * 10_000,
        "🎈👩‍👩‍👧‍👦🏳️‍🌈",
        "مرحبا بالعالم \u202eabc\u202c",
        "a\x00b\x00",
        "\x00",
        "\ud800 half a character \udfff",
        "\u0301\u0301\u0301",
        "a\r\nb\u2028c\x85d",
        "</s><pad>[MASK][CLS]<|endoftext|>",
        " \t ",
        "{}[]'\"\\$(rm -rf /)",
    ],
)
def test_strange_texts_are_answered_or_refused(server: Running, text: str) -> None:
    asked: list[tuple[str, dict[str, Any]]] = [
        ("/translate", {"q": text, "source": "en", "target": "de"}),
        ("/translate", {"q": [text, "a"], "source": "auto", "target": "zh"}),
        ("/detect", {"q": text}),
        ("/v1/completions", {"model": "writer", "prompt": text, "max_tokens": 3, "logprobs": 1, "echo": True}),
        ("/v1/completions", {"model": "writer", "prompt": "a", "max_tokens": 3, "stop": text}),
        ("/v1/embeddings", {"model": "encoder", "input": text}),
        ("/classify", {"texts": [text]}),
        ("/fill", {"text": text}),
        ("/attention", {"model": "encoder", "text": text}),
        ("/tokenize", {"model": "writer", "texts": [text]}),
        ("/classify", {"model": text, "texts": ["a"]}),
    ]
    statuses = [server.post(path, body)[0] for path, body in asked]
    assert set(statuses) <= {200, 400, 404, 413, 422}, statuses
    works(server)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/translate", {"q": "x" * 900_000, "source": "en", "target": "de"}),
        ("/v1/completions", {"model": "writer", "prompt": "x" * 900_000}),
        ("/v1/embeddings", {"model": "encoder", "input": "x" * 900_000}),
        ("/classify", {"texts": ["x" * 900_000]}),
        ("/fill", {"text": "[MASK]" + "x" * 900_000}),
        ("/attention", {"model": "encoder", "text": "x" * 900_000}),
    ],
)
def test_a_text_that_is_far_too_long_is_refused_at_sight(server: Running, path: str, body: dict[str, Any]) -> None:
    status, found = server.post(path, body)
    assert status == 413
    assert "far longer than the model can" in json.dumps(found)


@pytest.mark.parametrize("path", ["/translate", "/v1/completions", "/classify"])
@pytest.mark.parametrize("body", [b"", b"{", b"null", b"\xff\xff", b"\x00", b"[" * 200_000, b'{"a":' * 50_000, b"NaN"])
def test_bad_bodies_are_refused(server: Running, path: str, body: bytes) -> None:
    assert server.post(path, body)[0] in (400, 422)


def test_a_body_of_ten_megabytes_is_refused_and_not_read(server: Running) -> None:
    body = json.dumps({"q": "a" * 10_000_000, "source": "en", "target": "de"}).encode()
    assert server.post("/translate", body)[0] == 413
    head = b"POST /classify HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10000000\r\n\r\n"
    assert b" 413 " in sent(server, head)  # before any of it has come
    works(server)


def test_a_body_of_unknown_length_is_refused_once_it_is_too_long(server: Running) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    chunks = (b"a" * 65536 for _ in range(160))
    connection.request(
        "POST", "/v1/completions", body=chunks, encode_chunked=True, headers={"transfer-encoding": "chunked"}
    )
    answer = connection.getresponse()
    assert answer.status == 413
    assert "too large" in json.loads(answer.read())["error"]["message"]
    connection.close()
    works(server)


def test_half_a_body_costs_nothing(server: Running) -> None:
    head = b"POST /translate HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n"
    for _ in range(20):
        sent(server, head + b'{"q": "a', wait=False)
    works(server)


def test_half_bodies_take_no_place_from_others(server: Running) -> None:
    """More of them than requests are taken at a time."""
    head = b"POST /translate HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n"
    with ExitStack() as stack:
        for _ in range(300):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            slow.sendall(head + b'{"q": "a')
        works(server)
    works(server)


@pytest.mark.parametrize("data", [b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"\x00" * 100, b"A" * 100_000])
def test_what_is_no_http_is_refused(server: Running, data: bytes) -> None:
    with suppress(ConnectionError):  # closed while more was sent
        assert sent(server, data + b"\r\n\r\n")[:12] in (b"HTTP/1.1 400", b"")
    works(server)


@pytest.mark.soak
def test_two_hundred_who_send_a_letter_now_and_then_are_parted_with(server: Running) -> None:
    begun = b"POST /fill HTTP/1.1\r\nhost: localhost\r\n"
    heads = (begun, begun + b"content-length: 50000\r\n\r\n{")
    slow = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(200)]
    try:
        for number, connection in enumerate(slow):
            connection.sendall(heads[number % 2])
        started = time.monotonic()
        works(server)
        ended = set()
        while len(ended) < len(slow):
            assert time.monotonic() - started < 60, f"{len(slow) - len(ended)} are still there"
            for number, connection in enumerate(slow):
                if number not in ended and _closed(connection):
                    ended.add(number)
            time.sleep(1)
    finally:
        for connection in slow:
            connection.close()
    works(server)


def _closed(connection: socket.socket) -> bool:
    """Sends a letter; whether the other side has gone."""
    try:
        connection.sendall(b"x")
        connection.setblocking(False)
        while answer := connection.recv(4096):
            assert b" 408 " in answer
        return True
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    finally:
        connection.settimeout(60)


def test_clients_that_go_away_leave_nothing_behind(models: dict[str, Path]) -> None:
    """There is room for one text at a time: if a text went on that nobody waits for, the next would never begin."""
    with served(models["writer"], words=("--max-batch-tokens", "40")) as server:
        _go_away(server)


def _go_away(server: Running) -> None:
    body = json.dumps(
        {"model": "writer", "prompt": "a", "max_tokens": 16000, "stream": True, "temperature": 0}
    ).encode()
    head = f"POST /v1/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n".encode()
    for _ in range(60):  # at any moment, in the middle of a write too
        answer = sent(server, head + b"content-type: application/json\r\n\r\n" + body)
        assert answer.startswith(b"HTTP/1.1 200")
    assert server.process.poll() is None
    waited_for(lambda: b'regard_running{model="writer"} 0' in server.get("/metrics")[1])
    assert b'regard_waiting{model="writer"} 0' in server.get("/metrics")[1]
    assert "socket" not in "".join(server.log)
    assert server.post("/v1/completions", {"model": "writer", "prompt": "a", "max_tokens": 100})[0] == 200


@pytest.fixture(scope="module")
def small(models: dict[str, Path]) -> Iterator[Running]:
    """One whose processes are killed: it has no more than it needs."""
    with served(models["en-de"], models["writer"]) as running:
        yield running


def test_processes_that_are_killed_are_started_again(small: Running, models: dict[str, Path]) -> None:
    before = set(small.workers())
    assert len(before) == 2
    asked = {"model": "writer", "prompt": "The cat", "max_tokens": 1000, "temperature": 0}
    with ThreadPoolExecutor() as pool:
        running = pool.submit(small.post, "/v1/completions", asked)
        waited_for(lambda: b'regard_running{model="writer"} 1' in small.get("/metrics")[1])
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        next_one = small.post("/translate", {"q": "a b c", "source": "en", "target": "de"})
        status, found = running.result()
    wanted = regard.load(models["writer"]).generate("The cat", max_new_tokens=1000, temperature=0.0)[0].text
    assert (status, found["choices"][0]["text"]) == (200, wanted)  # it was tried once more
    assert next_one == (200, {"translatedText": engines.load(models["en-de"]).translate("a b c")})
    waited_for(lambda: small.get("/ready")[0] == 200)
    assert not before & set(small.workers())
    assert "the process of writer is lost (exit code -9)" in "".join(small.log)
    assert b'regard_worker_restarts_total{model="writer"} 1' in small.get("/metrics")[1]
    works(small)


def test_a_stream_that_is_cut_off_by_a_lost_process_says_so(small: Running) -> None:
    asked = {"model": "writer", "prompt": "a", "max_tokens": 16000, "temperature": 0, "stream": True}
    connection = http.client.HTTPConnection("127.0.0.1", small.port, timeout=120)
    connection.request("POST", "/v1/completions", json.dumps(asked), {"content-type": "application/json"})
    answer = connection.getresponse()
    assert answer.readline().startswith(b"data: ")
    for pid in small.workers():
        os.kill(pid, signal.SIGKILL)
    events = [line for line in answer.read().split(b"\n") if line]
    connection.close()
    assert "was lost" in json.loads(events[-1].removeprefix(b"data: "))["error"]["message"]
    waited_for(lambda: small.get("/ready")[0] == 200)
    works(small)


PLANTED = """
from regard.tasks.classifier import Classifier

sound = Classifier.classify


def classify(self, examples, **how):
    if any("dog" in text for text in examples[0]):
        raise IndexError("planted")
    return sound(self, examples, **how)


Classifier.classify = classify
"""


def test_a_fault_of_ours_is_told_logged_and_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every process that python starts runs sitecustomize.py first."""
    (tmp_path / "sitecustomize.py").write_text(PLANTED)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *os.environ.get("PYTHONPATH", "").split()]))
    with served(write_classifier(tmp_path / "sorter")) as running:
        status, found = running.post("/classify", {"texts": ["a dog"]})
        assert (status, found["code"]) == (500, "fault")
        assert running.post("/classify", {"texts": ["the cat"]})[0] == 200
        waited_for(lambda: "A job failed." in "".join(running.log))
        assert "IndexError" in "".join(running.log)
        assert b"regard_worker_restarts_total{" not in running.get("/metrics")[1]
