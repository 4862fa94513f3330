"""What a model shows of its inside: one function for each verb, which takes what a text is asked with and gives what
JSON can hold, or bytes."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import save

from regard import inside
from regard.attention import Attends
from regard.errors import ConfigError
from regard.inside.charts import CHARTS
from regard.inside.gold import known, linked
from regard.inside.positions import KINDS
from regard.insight import rollout, tags
from regard.insight.packed import rows_of
from regard.server.work import shapes
from regard.server.work.traces import readable, told
from regard.training import probes

How = Mapping[str, Any]
Given = tuple[Any, ...]
"""Text and second text; or nothing."""


class Inner(NamedTuple):
    """A verb: whether a model has it, and what it gives."""

    can: Callable[[Any], bool]
    run: Callable[[Any, Given, How], dict[str, Any] | bytes]


def workings(model: Any, given: Given, how: How) -> dict[str, Any]:
    asked = {key: how[key] for key in ("name", "head", "row", "column", "generate")}
    return shapes.workings(inside.workings(model, *given, **asked))


def flow(model: Any, given: Given, how: How) -> dict[str, Any]:
    return shapes.flow(inside.flow(model, *given, step=how["step"], generate=how["generate"]))


def positions(model: Any, given: Given, how: How) -> dict[str, Any] | bytes:
    found = inside.positions(model, how["length"])
    length, width = found.numbers.shape
    head = {"kind": found.kind, "length": length, "width": width, "limit": found.limit}
    if how["format"] == "json":
        return {**head, "numbers": [shapes.numbers(row, shapes.VECTOR) for row in found.numbers]}
    metadata = {key: json.dumps(value) for key, value in head.items()}
    return save({"positions": found.numbers.astype(np.float16)}, metadata)


def masks(model: Any, given: Given, how: How) -> dict[str, Any]:
    found = inside.masks(model, *given, padding=how["padding"], generate=how["generate"])
    return {
        "rows": rows_of(found.rows),
        "axes": {name: list(mask.axes) for name, mask in found.masks.items()},
        "masks": {name: {"kinds": list(m.kinds), "rows": shapes.bits(m.may_look)} for name, m in found.masks.items()},
    }


def timeline(model: Any, given: Given, how: How) -> dict[str, Any]:
    return shapes.timeline(inside.timeline(model, given[0], **how))


def beams(model: Any, given: Given, how: How) -> dict[str, Any]:
    asked = {key: how[key] for key in ("forced", "beam", "max_new_tokens")}
    if not how["attention"]:
        return {**shapes.tree(inside.beams(model, given[0], **asked)), "trace": None}
    found, trace = inside.following(model, given[0], number=how["follow"], **asked)
    return {**shapes.tree(found), "trace": readable(trace, do="give less text, or a lower max_new_tokens")}


def heads(model: Any, given: Given, how: How) -> dict[str, Any]:
    found = tags(inside.trace(model, *given, generate=how["generate"]))
    return {"tags": {name: {tag: shapes.numbers(row) for tag, row in vars(one).items()} for name, one in found.items()}}


def gold(model: Any, given: Given, how: How) -> dict[str, Any]:
    found = known(*given)
    return {"second": None, "gold": None} if found is None else shapes.gold(found, linked(model, found))


def run(model: Any, given: Given, how: How) -> dict[str, Any]:
    rows = [trace.rows for trace in probes.read(model.run)]
    sentences = [(row.get("source", row.get("text")), row.get("target")) for row in rows]
    shown = [{"text": one.text if one else "", "second": two.text if two else None} for one, two in sentences]
    return {"updates": probes.updates(model.run), "sentences": shown}


def checkpoint(model: Any, given: Given, how: How) -> bytes:
    kept, sentence = probes.updates(model.run), how["sentence"]
    if how["update"] not in kept:
        raise ConfigError(f"No attention was kept at update {how['update']}.", wanted=", ".join(map(str, kept)))
    traces = probes.read(model.run, how["update"])
    if sentence >= len(traces):
        raise ConfigError(f"There is no sentence {sentence}.", wanted=f"0 to {len(traces) - 1}")
    return told(rollout(traces[sentence]) if how["view"] == "rollout" else traces[sentence], how)


def _attends(model: Any) -> bool:
    return hasattr(model, "attention") and any(isinstance(part, Attends) for part in model.model.modules())


def _writes(model: Any) -> bool:
    return hasattr(model, "translations") or hasattr(model, "generate")


def _drawn(model: Any) -> bool:
    return hasattr(model, "tokenizers") and type(model.model) in CHARTS


def _placed(model: Any) -> bool:
    return hasattr(model, "limit") and any(isinstance(part, KINDS) for part in model.model.modules())


def _aligns(model: Any) -> bool:
    return hasattr(model, "translations") and _attends(model)


def _probed(model: Any) -> bool:
    return getattr(model, "run", None) is not None


INSIDE = {
    "workings": Inner(_attends, workings),
    "flow": Inner(_drawn, flow),
    "positions": Inner(_placed, positions),
    "masks": Inner(_attends, masks),
    "timeline": Inner(_writes, timeline),
    "beams": Inner(_writes, beams),
    "heads": Inner(_attends, heads),
    "gold": Inner(_aligns, gold),
    "run": Inner(_probed, run),
    "checkpoint": Inner(_probed, checkpoint),
}
"""By the name that a job, and a route, has."""
