"""Our own API: classes, hidden words, attention, tokens, and what the server says of itself."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load

import regard
from regard.server.work.inside import INSIDE
from tests.server.serving import Running

MODES = ("json", "uint8", "float16")


def test_classes_are_the_models(server: Running, models: dict[str, Path]) -> None:
    texts: list[Any] = ["the cat", ["a dog", "is in the house"], "a river"]
    status, found = server.post("/classify", {"texts": texts})
    sorter = regard.load(models["sorter"])
    wanted = [sorter.classify([text if isinstance(text, str) else tuple(text)])[0] for text in texts]
    assert (status, found["model"]) == (200, "sorter")
    assert [one["label"] for one in found["classes"]] == [one.label for one in wanted]
    for one, other in zip(found["classes"], wanted, strict=True):
        assert one["probabilities"] == pytest.approx(other.probabilities, abs=1e-5)
        assert one["probability"] == max(one["probabilities"].values())


def test_hidden_words_are_the_models(server: Running, models: dict[str, Path]) -> None:
    status, found = server.post("/fill", {"text": "the [MASK] is in a [MASK] .", "top": 3})
    wanted = regard.load(models["encoder"]).fill("the [MASK] is in a [MASK] .", top=3)
    assert status == 200
    assert [[one["word"] for one in words] for words in found["masks"]] == [[w.text for w in words] for words in wanted]
    assert server.post("/fill", {"text": "no mask"})[0] == 400


@pytest.mark.parametrize("format", MODES)
def test_attention_is_where_the_model_looks(server: Running, models: dict[str, Path], format: str) -> None:
    trace = regard.load(models["en-de"]).attention("a b c", "c b a")
    status, found = server.post(
        "/attention", {"model": "en-de", "text": "a b c", "second": "c b a", "name": "cross", "format": format}
    )
    assert status == 200
    if format == "json":
        weights, rows, axes = found["weights"], found["rows"], found["axes"]
    else:
        size = int.from_bytes(found[:8], "little")
        told = json.loads(found[8 : 8 + size])["__metadata__"]
        weights, rows, axes = load(found), json.loads(told["rows"]), json.loads(told["axes"])
        assert {array.dtype.name for array in weights.values()} == {format}
        weights = {name: array.astype(float) / json.loads(told["one"]) for name, array in weights.items()}
    assert set(weights) == {"decoder.0.cross", "decoder.1.cross"}
    assert axes["decoder.0.cross"] == ["prediction", "source"]
    assert [token["text"] for token in rows["source"]["tokens"]] == ["a", "b", "c", "</s>"]
    for name in weights:
        np.testing.assert_allclose(np.array(weights[name]), trace.weights[name], atol=0.5 / 255 + 1e-3)


def test_attention_of_one_head_and_of_words(server: Running, models: dict[str, Path]) -> None:
    asked = {"model": "en-de", "text": "a b c", "second": "c", "name": "encoder", "layer": 0, "head": 1, "words": True}
    found = server.post("/attention", asked)[1]
    wanted = regard.load(models["en-de"]).attention("a b c", "c").by_words().weights_of("encoder.0.self", 1)
    np.testing.assert_allclose(np.array(found["weights"]["encoder.0.self"]), wanted[None], atol=1e-5)


@pytest.mark.parametrize(
    "asked",
    [
        {"model": "writer", "text": "The cat"},
        {"model": "writer", "text": "The cat", "generate": 3},
        {"model": "encoder", "text": "the cat", "second": "a dog"},
        {"model": "sorter", "text": "the cat"},
    ],
)
def test_every_kind_of_model_shows_where_it_looks(server: Running, asked: dict[str, Any]) -> None:
    status, found = server.post("/attention", asked)
    assert status == 200
    for weights in found["weights"].values():
        np.testing.assert_allclose(np.array(weights).sum(-1), 1, atol=1e-3)


@pytest.mark.parametrize(
    ("asked", "status", "told"),
    [
        ({"text": "a"}, 400, "Several models have the verb attention"),
        ({"model": "en-de", "text": "a", "name": "sideways"}, 400, "no attention called 'sideways'"),
        ({"model": "en-de", "text": "a", "layer": 9}, 400, "no layer 9"),
        ({"model": "en-de", "text": "a", "head": 9}, 400, "no head 9"),
        ({"model": "en-de", "text": "a " * 99}, 413, "longer than the model can take"),
        ({"model": "en-de", "text": "a", "format": "pickle"}, 422, "cannot be understood"),
        ({"model": "/etc/passwd", "text": "a"}, 404, "no model '/etc/passwd'"),
    ],
)
def test_what_cannot_be_looked_at_is_told(server: Running, asked: dict[str, Any], status: int, told: str) -> None:
    code, found = server.post("/attention", asked)
    assert code == status
    assert told in found["error"]


def test_tokens_have_their_places(server: Running, models: dict[str, Path]) -> None:
    text = "The 猫 cat"
    status, found = server.post("/tokenize", {"model": "writer", "texts": [text, ""]})
    pieces = regard.load(models["writer"]).tokenizer.pieces(text)
    assert status == 200
    assert [(one["id"], one["start"], one["end"]) for one in found["tokens"][0]] == [
        (piece.id, piece.start, piece.end) for piece in pieces
    ]
    assert [one["text"] for one in found["tokens"][0]] == [text[piece.start : piece.end] for piece in pieces]
    assert found["tokens"][1] == []
    assert server.post("/tokenize", {"model": "en-de", "texts": ["a b"], "side": "target"})[0] == 200


def test_the_server_says_what_it_serves_and_not_where_it_is(server: Running, models: dict[str, Path]) -> None:
    status, found = server.get("/info")
    about = {one["name"]: one for one in found["models"]}
    assert (status, list(about)) == (200, list(models))
    assert about["en-de"]["langs"] == ["en", "de"]
    assert about["writer"]["limit"] == 40
    assert [about[name]["engine"] for name in ("en-de", "encoder", "writer")] == ["ctranslate2"] * 2 + ["torch"]
    assert about["sorter"]["labels"] == ["order", "complaint", "thanks"]
    assert {"embed", "fill", "attention", "tokenize"} == set(about["encoder"]["verbs"]) - set(INSIDE)
    assert str(models["en-de"].parent) not in json.dumps(found)


def test_the_server_is_alive_and_ready(server: Running) -> None:
    assert server.get("/health") == (200, {"status": "alive"})
    assert server.get("/ready") == (200, {"status": "ready"})


def test_figures_count_requests_texts_and_tokens(server: Running) -> None:
    def figure(name: str) -> float:
        lines = [line for line in server.get("/metrics")[1].decode().split("\n") if line.startswith(name)]
        return float(lines[0].rpartition(" ")[2]) if lines else 0.0

    names = (
        'regard_requests_total{path="/translate",status="200"}',
        'regard_request_seconds_count{path="/translate"}',
        'regard_queue_seconds_count{model="en-de"}',
        'regard_tokens_total{model="en-de",direction="read"}',
    )
    before = [figure(name) for name in names]
    server.post("/translate", {"q": ["a b", "c"], "source": "en", "target": "de"})
    after = [figure(name) for name in names]
    assert [b - a for a, b in zip(before, after, strict=True)] == [1, 1, 2, 5]
    assert figure('regard_running{model="en-de"}') == figure('regard_waiting{model="en-de"}') == 0
    assert server.get("/no/such/path")[0] == 404
    assert figure('regard_requests_total{path="other",status="404"}') >= 1


def test_unknown_paths_are_told_in_the_shape_of_their_api(server: Running) -> None:
    assert set(server.get("/nothing")[1]) == {"error", "code"}
    assert set(server.get("/v1/nothing")[1]["error"]) == {"message", "type", "param", "code"}
    assert server.get("/translate")[0] == 405


@pytest.mark.parametrize("path", ["/classify", "/v1/completions"])
def test_json_that_is_not_said_to_be_json_is_told(server: Running, path: str) -> None:
    """As curl sends it without -H."""
    status, found = server.post(path, {"texts": ["a"]}, {"content-type": "application/x-www-form-urlencoded"})
    assert status in (400, 422)
    assert "content-type: application/json" in json.dumps(found)


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/classify", {"texts": [["a"]]}, "texts.0: Input should be a valid string; texts.0.1: Field required"),
        ("/classify", {"texts": [], "truncat": 1}, "texts: List should have at least 1 item"),
        ("/v1/completions", {"model": "writer", "stop": [""]}, "stop.0: String should have at least 1 character"),
        ("/v1/embeddings", {"model": "encoder", "input": [[1]]}, "input.0: Input should be a valid string"),
        ("/translate", {"q": 1, "source": "en", "target": "de"}, "q: Input should be a valid string"),
    ],
)
def test_mistakes_are_told_by_the_names_of_fields_and_nothing_of_the_inside(
    server: Running, path: str, body: dict[str, Any], told: str
) -> None:
    status, found = server.post(path, body)
    assert status in (400, 422)
    assert told in json.dumps(found)
    assert "function" not in json.dumps(found)
