"""Answers as they leave the process of a model, and what is said where there is none."""

import json
from typing import Any

import pytest

from regard.errors import ConfigError, LimitError
from regard.inside import following, positions, trace
from regard.server.work import shapes, traces
from regard.server.work.verbs import VERBS
from tests.inside.models import loaded

BEAMS: dict[str, Any] = {"forced": (), "beam": 2, "max_new_tokens": 4, "attention": True, "follow": 0}
LOOK: dict[str, Any] = {
    "generate": 0, "view": "weights", "words": False,
    "name": None, "layer": None, "head": None, "most": None, "format": "json",
}  # fmt: skip


def answered(verb: str, given: tuple[Any, ...], how: dict[str, Any]) -> Any:
    (answer,) = VERBS[verb].run(loaded("gpt2"), [given], how)
    return answer.value


def test_what_may_be_large_is_json_before_it_comes_to_the_server() -> None:
    places = answered("positions", (), {"length": 3, "format": "json"})
    assert isinstance(places, bytes)
    found = json.loads(places)
    assert (found["model"], found["length"]) == (loaded("gpt2").name, 3)
    assert found["numbers"] == [shapes.numbers(row, shapes.VECTOR) for row in positions(loaded("gpt2"), 3).numbers]
    search = answered("beams", ("The river", None), BEAMS)
    assert isinstance(search, bytes)
    tree, seen = following(loaded("gpt2"), "The river", beam=2, max_new_tokens=4)
    assert json.loads(search)["hypotheses"] == shapes.tree(tree)["hypotheses"]
    assert json.loads(search)["trace"] == json.loads(json.dumps(traces.readable(seen)))


def test_too_much_for_an_answer_is_told_with_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "READABLE", 10)
    with pytest.raises(LimitError, match="do this: give less text, or a lower max_new_tokens"):
        answered("beams", ("The river", None), BEAMS)
    with pytest.raises(LimitError, match="do this: ask for one layer or head, or for format uint8"):
        answered("attention", ("The river", None), LOOK)


def test_a_head_that_is_not_there_is_told_with_those_that_are() -> None:
    heads = len(trace(loaded("gpt2"), "The river").weights["decoder.0.self"])
    with pytest.raises(ConfigError, match=rf"has no head 99.\n  wanted: 0 to {heads - 1}"):
        answered("attention", ("The river", None), {**LOOK, "head": 99})
