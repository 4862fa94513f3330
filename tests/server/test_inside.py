"""What is inside a model, over HTTP: the numbers are those of the library, and what cannot be shown is told."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load

import regard
from regard import inside
from regard.inside.gold import held, known, linked
from regard.insight import rollout, tags
from regard.server.work import shapes
from regard.server.work.inside import INSIDE
from regard.training import probes
from tests.server.serving import Running

SCENES: dict[str, dict[str, Any]] = {
    "en-de": {"text": "a b c", "second": "c b a"},
    "writer": {"text": "The cat"},
    "encoder": {"text": "the cat", "second": "a dog"},
    "sorter": {"text": "the cat"},
}
NAMES = {
    "en-de": "decoder.1.cross",
    "writer": "decoder.2.self",
    "encoder": "encoder.0.self",
    "sorter": "encoder.1.self",
}


@pytest.fixture(scope="module")
def loaded(models: dict[str, Path]) -> dict[str, Any]:
    return {name: regard.load(models[name]) for name in SCENES}


def told(server: Running, verb: str, asked: dict[str, Any]) -> dict[str, Any]:
    status, found = server.post(f"/inside/{verb}", asked)
    assert status == 200, found
    assert found.pop("model") == asked["model"]
    return dict(found)


def assert_near(found: Any, wanted: Any) -> None:
    """The same, but for the last digits of numbers."""
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        for key in wanted:
            assert_near(found[key], wanted[key])
    elif isinstance(wanted, list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_near(one, other)
    elif isinstance(wanted, float):
        assert found == pytest.approx(wanted, rel=1e-4, abs=1e-5)
    else:
        assert found == wanted


@pytest.mark.parametrize("name", SCENES)
def test_a_row_is_worked_out_as_the_library_does(server: Running, loaded: dict[str, Any], name: str) -> None:
    asked = {"name": NAMES[name], "head": 1, "row": 1}
    found = told(server, "workings", {"model": name, **SCENES[name], **asked})
    assert_near(found, shapes.workings(inside.workings(loaded[name], **SCENES[name], **asked)))
    scores = np.array(found["raw"]) * found["scale"]
    exponents = np.where(found["mask"], np.exp(scores - scores.max()), 0)
    np.testing.assert_allclose(exponents / exponents.sum(), found["weights"], atol=1e-6)
    seen = server.post("/attention", {"model": name, **SCENES[name], "name": NAMES[name]})[1]["weights"]
    np.testing.assert_allclose(found["weights"], seen[NAMES[name]][1][1], atol=2e-6)


@pytest.mark.parametrize("name", SCENES)
def test_a_step_is_charted_as_the_library_does(server: Running, loaded: dict[str, Any], name: str) -> None:
    found = told(server, "flow", {"model": name, **SCENES[name], "step": 1})
    assert_near(found, shapes.flow(inside.flow(loaded[name], **SCENES[name], step=1)))
    nodes = {node["id"] for node in found["nodes"]}
    assert all({edge["from"], edge["to"]} <= nodes for edge in found["edges"])
    assert {node["group"] for node in found["nodes"]} == {group["id"] for group in found["groups"]}


@pytest.mark.parametrize("name", SCENES)
def test_masks_and_tags_are_the_librarys(server: Running, loaded: dict[str, Any], name: str) -> None:
    found = told(server, "masks", {"model": name, **SCENES[name], "padding": 2})
    wanted = inside.masks(loaded[name], **SCENES[name], padding=2)
    assert {n: m["rows"] for n, m in found["masks"].items()} == {
        n: shapes.bits(m.may_look) for n, m in wanted.masks.items()
    }
    assert len(found["rows"]["source" if name == "en-de" else "text"]["tokens"]) > 3
    heads = told(server, "heads", {"model": name, **SCENES[name]})["tags"]
    for attention, one in tags(inside.trace(loaded[name], **SCENES[name])).items():
        for tag, numbers in vars(one).items():
            np.testing.assert_allclose(heads[attention][tag], numbers, atol=1e-5)


def test_positions_come_as_numbers_and_as_a_file(server: Running, loaded: dict[str, Any]) -> None:
    found = told(server, "positions", {"model": "en-de", "length": 5})
    wanted = inside.positions(loaded["en-de"], 5)
    assert (found["kind"], found["length"], found["width"], found["limit"]) == ("sinusoidal", 5, 16, 32)
    np.testing.assert_allclose(found["numbers"], wanted.numbers, atol=1e-5)
    status, content = server.post("/inside/positions", {"model": "writer", "length": 3, "format": "float16"})
    assert status == 200
    np.testing.assert_allclose(load(content)["positions"], inside.positions(loaded["writer"], 3).numbers, atol=1e-2)
    size = int.from_bytes(content[:8], "little")
    assert json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["kind"]) == "learned"


@pytest.mark.parametrize(
    "asked",
    [
        {"model": "en-de", "text": "a b c", "top": 3},
        {"model": "en-de", "text": "a b c", "beam": 1, "forced": [5]},
        {
            "model": "writer",
            "text": "The cat",
            "temperature": 0.9,
            "top_k": 7,
            "seed": 3,
            "max_new_tokens": 6,
            "top": 4,
        },
        {"model": "writer", "text": "The cat", "max_new_tokens": 4, "forced": [40, 41]},
    ],
)
def test_a_text_is_timed_as_the_library_does(server: Running, loaded: dict[str, Any], asked: dict[str, Any]) -> None:
    how = {key: value for key, value in asked.items() if key != "model"}
    assert_near(told(server, "timeline", asked), shapes.timeline(inside.timeline(loaded[asked["model"]], **how)))


@pytest.mark.parametrize("name", ["en-de", "writer"])
def test_a_search_is_told_and_followed(server: Running, loaded: dict[str, Any], name: str) -> None:
    asked = {"text": "a b c" if name == "en-de" else "The cat", "beam": 3, "max_new_tokens": 5}
    found = told(server, "beams", {"model": name, **asked, "attention": True, "follow": 1})
    tree, trace = inside.following(loaded[name], number=1, **asked)
    seen = found.pop("trace")
    assert_near(found, shapes.tree(tree))
    for attention, weights in trace.weights.items():
        np.testing.assert_allclose(seen["weights"][attention], weights, atol=1e-5)
    assert told(server, "beams", {"model": name, **asked})["trace"] is None


@pytest.mark.parametrize("view", ["rollout", "norms"])
def test_weights_can_be_seen_otherwise(server: Running, loaded: dict[str, Any], view: str) -> None:
    found = server.post("/attention", {"model": "en-de", **SCENES["en-de"], "view": view})[1]
    model, scene = loaded["en-de"], SCENES["en-de"]
    wanted = inside.norms(model, **scene) if view == "norms" else rollout(inside.trace(model, **scene))
    assert found["meta"]["seen"] == view
    for attention, weights in wanted.weights.items():
        np.testing.assert_allclose(found["weights"][attention], weights, atol=1e-5)
    plain = server.post("/attention", {"model": "en-de", **SCENES["en-de"]})[1]
    assert plain["weights"] != found["weights"]


def test_a_run_shows_where_it_looked_while_it_learned(server: Running, models: dict[str, Path]) -> None:
    run = told(server, "run", {"model": "en-de"})
    assert run["updates"] == probes.updates(models["en-de"])
    kept = probes.read(models["en-de"], run["updates"][0])
    assert [one["text"] for one in run["sentences"]] == [trace.rows["source"].text for trace in kept]
    asked = {"model": "en-de", "update": run["updates"][0], "sentence": 1}
    status, found = server.post("/inside/checkpoint", asked)
    assert (status, found["meta"]["update"]) == (200, run["updates"][0])
    for attention, weights in kept[1].weights.items():
        np.testing.assert_allclose(found["weights"][attention], weights, atol=1e-6)
    status, content = server.post(
        "/inside/checkpoint", {**asked, "view": "rollout", "name": "cross", "format": "float16"}
    )
    assert status == 200
    wanted = rollout(kept[1]).weights["decoder.1.cross"]
    np.testing.assert_allclose(load(content)["decoder.1.cross"].astype(float), wanted, atol=1e-3)


def test_links_are_known_or_not(server: Running, loaded: dict[str, Any]) -> None:
    assert told(server, "gold", {"model": "en-de", "text": "a b c"}) == {"second": None, "gold": None}
    short = min(held(), key=lambda pair: len(pair.source) + len(pair.target))
    found = known(short.source)
    assert found is not None
    wanted = shapes.gold(found, linked(loaded["en-de"], found))
    assert_near(told(server, "gold", {"model": "en-de", "text": short.source}), wanted)


def test_each_model_says_what_of_it_can_be_seen(server: Running) -> None:
    verbs = {model["name"]: set(model["verbs"]) & set(INSIDE) for model in server.get("/info")[1]["models"]}
    reads = {"workings", "flow", "positions", "masks", "heads"}
    assert verbs["en-de"] == set(INSIDE)
    assert verbs["writer"] == reads | {"timeline", "beams"}
    assert verbs["encoder"] == verbs["sorter"] == reads


@pytest.mark.parametrize(
    ("verb", "asked", "status", "said"),
    [
        ("workings", {"model": "en-de", "text": "a", "name": "cross"}, 400, "no attention called 'cross'"),
        ("workings", {"model": "en-de", "text": "a", "name": "decoder.0.cross", "row": 99}, 400, "no row 99"),
        ("workings", {"model": "en-de", "text": "a"}, 422, "cannot be understood"),
        ("workings", {"model": "writer", "text": "a", "second": "b", "name": "decoder.0.self"}, 400, "one text"),
        ("flow", {"model": "writer", "text": "The cat", "step": 99}, 400, "no step 99"),
        ("flow", {"model": "en-de", "text": "a " * 99}, 413, "longer than the model can take"),
        ("positions", {"model": "en-de", "length": 99}, 413, "no 99 positions"),
        ("masks", {"model": "en-de", "text": "a", "generate": 2}, 400, "Only a language model"),
        ("timeline", {"model": "encoder", "text": "a"}, 400, "has no verb timeline"),
        ("timeline", {"model": "writer", "text": "a", "top": 21}, 422, "cannot be understood"),
        ("timeline", {"model": "writer", "text": "a", "forced": [99999]}, 400, "none that the model has"),
        ("timeline", {"text": "a"}, 400, "Several models have the verb timeline"),
        ("beams", {"model": "en-de", "text": "a", "attention": True, "follow": 999}, 400, "no hypothesis 999"),
        ("run", {"model": "../../etc"}, 404, "no model"),
        ("checkpoint", {"model": "en-de", "update": 7}, 400, "No attention was kept at update 7"),
        ("checkpoint", {"model": "en-de", "update": 5, "sentence": 99}, 400, "no sentence 99"),
        ("checkpoint", {"model": "writer", "update": 5}, 400, "has no verb checkpoint"),
    ],
)
def test_what_cannot_be_shown_is_told(
    server: Running, verb: str, asked: dict[str, Any], status: int, said: str
) -> None:
    code, found = server.post(f"/inside/{verb}", asked)
    assert (code, said in found["error"]) == (status, True), found


@pytest.mark.parametrize(
    "more",
    [
        {"model": "writer", "second": "b"},
        {"model": "en-de", "generate": 2},
        {"model": "de-zh", "view": "sideways"},
        {"model": "writer", "generate": 2, "view": "rollout"},
    ],
)
def test_attention_refuses_what_a_model_does_not_take(server: Running, more: dict[str, Any]) -> None:
    assert server.post("/attention", {"text": "a", **more})[0] in (400, 422)
