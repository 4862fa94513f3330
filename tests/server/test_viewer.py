"""The page as it is served: small, cached, allowed nothing but its own server, and without a key nothing but itself."""

import http.client
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load

import regard
from regard.insight import Trace, assets
from regard.server.work.recent import Recent
from tests.insight.example import example
from tests.server.serving import Running, served

KEY = "open-sesame"


@pytest.fixture(scope="module")
def guarded(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    keys = tmp_path_factory.mktemp("keys") / "keys.txt"
    keys.write_text(KEY)
    with served(models["en-de"], words=("--api-key-file", keys)) as running:
        yield running


def fetch(server: Running, path: str, **sent: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in sent.items()})
    answer = connection.getresponse()
    found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    connection.close()
    return found


def test_the_server_opens_on_the_page(server: Running) -> None:
    status, headers, content = fetch(server, "/")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    links = re.findall(rb'(?:src|href)="([^"]*)"', content)
    files = [link.decode() for link in links if not link.startswith(b"data:")]
    assert {Path(link).name for link in files} == set(assets.files()) - {"index.html"}
    for link in files:
        code, told, inside = fetch(server, link)
        assert (code, inside) == (200, assets.files()[Path(link).name])
        assert "immutable" in told["cache-control"]
        assert told["content-type"].split(";")[0] in ("text/javascript", "text/css")


def test_the_page_may_use_its_own_server_and_nothing_else(server: Running) -> None:
    _, headers, content = fetch(server, "/")
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert {policy[name] for name in ("script-src", "style-src", "connect-src")} == {"'self'"}
    assert "unsafe" not in headers["content-security-policy"]
    assert not re.search(rb"<script(?![^>]*\bsrc=)", content)


def test_a_page_that_has_not_changed_is_not_sent_again(server: Running) -> None:
    _, headers, _ = fetch(server, "/")
    status, _, content = fetch(server, "/", If_None_Match=headers["etag"])
    assert (status, content) == (304, b"")


@pytest.mark.parametrize("name", ["nothing.js", "..%2f..%2fassets.py", "%2e%2e/assets.py", "index.html/"])
def test_only_files_of_the_page_are_handed_out(server: Running, name: str) -> None:
    assert fetch(server, f"/page/{assets.digest()}/{name}")[0] == 404
    assert fetch(server, "/page/0000000000000000/main.js")[0] == 404


def test_the_page_needs_no_key_but_what_it_asks_for_does(guarded: Running) -> None:
    assert fetch(guarded, "/")[0] == 200
    assert fetch(guarded, f"/page/{assets.digest()}/main.js")[0] == 200
    assert fetch(guarded, "/info")[0] == 401
    assert fetch(guarded, "/info", Authorization=f"Bearer {KEY}")[0] == 200


def test_models_bring_something_to_look_at(server: Running) -> None:
    about = {one["name"]: one for one in server.get("/info")[1]["models"]}
    assert "bank" in about["en-de"]["examples"][0]
    assert about["writer"]["examples"]
    assert all(one["attends"] for one in about.values())


def test_of_a_large_trace_one_attention_comes_and_the_others_are_named(
    server: Running, models: dict[str, Path]
) -> None:
    asked = {"model": "en-de", "text": "a b c", "second": "c b a", "format": "float16", "most": 10}
    found = load(server.post("/attention", asked)[1])
    trace = regard.load(models["en-de"]).attention("a b c", "c b a")
    assert list(found) == ["decoder.1.cross"]
    np.testing.assert_allclose(found["decoder.1.cross"], trace.weights["decoder.1.cross"], atol=1e-3)
    content = server.post("/attention", asked)[1]
    assert all(name.encode() in content for name in trace.names)
    assert len(load(server.post("/attention", {**asked, "most": 10_000})[1])) == len(trace.names)


def test_the_page_can_be_taken_away_with_its_weights(server: Running) -> None:
    status, content = server.post("/attention", {"model": "en-de", "text": "a b c", "format": "html"})
    assert status == 200
    assert content.startswith(b"<!doctype html>")
    assert b'id="trace"' in content


def test_traces_are_kept_by_all_that_they_were_made_of() -> None:
    recent, made = Recent(most=3 * sum(w.nbytes for w in example().weights.values())), []

    def make(name: str) -> Trace:
        made.append(name)
        return example()

    for name in ("a", "b", "a", "c", "d", "a", "b"):
        recent.get((name,), lambda name=name: make(name))  # type: ignore[misc]
    assert made == ["a", "b", "c", "d", "b"]
