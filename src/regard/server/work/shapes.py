"""What is inside a model, as JSON has it: see docs/serving.md. What is −∞ is null."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from regard.inside import Flow, Timeline, Tree, Workings
from regard.inside.beams import Twig
from regard.inside.charts import Node
from regard.inside.gold import Known, Seen
from regard.inside.timeline import Moment, Option
from regard.insight import Token
from regard.tasks.links import Links
from regard.tasks.word_texts import WordText

EXACT, VECTOR = 9, 6
"""Significant digits: of what can be computed with, and of what is looked at."""
MOST, SOME = 256, 8
"""Numbers of a vector that are told, and of a node in a chart."""


def number(value: float, digits: int = EXACT) -> float | None:
    return None if value == -np.inf else float(f"{value:.{digits}g}")


def numbers(values: np.ndarray, digits: int = EXACT) -> list[Any]:
    """Whole numbers stay whole."""
    if values.dtype.kind in "iu":
        return [int(value) for value in values]
    return [number(value, digits) for value in values.ravel().tolist()]


def bits(may_look: np.ndarray) -> list[str]:
    """A row as letters: 1 may be looked at."""
    return ["".join("1" if one else "0" for one in row) for row in may_look.tolist()]


def workings(found: Workings) -> dict[str, Any]:
    """One row of an attention, step by step."""
    plain = ("name", "head", "heads", "row", "column", "score", "formula", "centre", "normalise")
    lists = ("raw", "scores", "softmax", "weights", "value_norms", "reach")
    scores = zip(numbers(found.scores), found.mask.tolist(), strict=True)
    return {
        **{key: getattr(found, key) for key in plain},
        **{key: numbers(getattr(found, key)) for key in lists},
        "asks": _token(found.asks),
        "keys": [_token(token) for token in found.keys],
        "stages": list(found.stages),
        "scale": found.scale,
        "mask": found.mask.tolist(),
        "masked": [score if seen else None for score, seen in scores],
        "focus": None if found.focus is None else numbers(found.focus),
        "context_norm": number(found.context_norm),
        "vectors": {name: _vector(vector) for name, vector in found.vectors.items()},
    }


def flow(found: Flow) -> dict[str, Any]:
    """One step as a chart."""
    groups = dict.fromkeys(node.group for node in found.nodes)
    return {
        "architecture": found.architecture,
        "step": found.step,
        "reads": found.reads,
        "writes": found.writes,
        "groups": [{"id": group, "label": f"step {found.step + 1}" if group == "step" else group} for group in groups],
        "nodes": [_node(node) for node in found.nodes],
        "edges": [{"from": edge.source, "to": edge.target, "label": edge.label} for edge in found.edges],
        "top": [{"id": one.id, "text": one.text, "probability": number(one.probability)} for one in found.top],
    }


def timeline(found: Timeline) -> dict[str, Any]:
    return {
        "text": found.text,
        "ids": list(found.ids),
        "log_prob": number(found.log_prob),
        "ending": found.ending,
        "steps": [_moment(moment) for moment in found.moments],
    }


def tree(found: Tree) -> dict[str, Any]:
    """A search."""
    hypotheses = [
        {
            "text": one.text,
            "ids": list(one.ids),
            "log_prob": number(one.log_prob),
            "score": number(one.score),
            "finished": one.finished,
            "path": list(one.path),
        }
        for one in found.found
    ]
    twigs = [_twig(twig) for twig in found.twigs]
    return {"beam": found.size, "penalty": found.penalty, "nodes": twigs, "hypotheses": hypotheses}


def gold(found: Known, seen: Sequence[Seen]) -> dict[str, Any]:
    """Known links, and those of each head."""
    heads = [
        {
            "name": one.choice.name,
            "head": one.choice.head,
            "shift": one.choice.shift,
            "aer": number(one.choice.aer or 0.0),
            "links": _links(one.links),
        }
        for one in seen
    ]
    told = {
        "source": _words(found.pair.source),
        "target": _words(found.pair.target),
        "sure": _links(found.gold.sure),
        "possible": _links(found.gold.possible - found.gold.sure),
        "heads": heads,
    }
    return {"second": found.pair.target.text, "gold": told}


def _token(token: Token) -> dict[str, Any]:
    return {"text": token.surface, "special": token.special}


def _vector(vector: np.ndarray) -> dict[str, Any]:
    told = numbers(vector[:MOST], VECTOR)
    return {"size": vector.size, "norm": number(float(np.linalg.norm(vector)), VECTOR), "numbers": told}


def _node(node: Node) -> dict[str, Any]:
    value = np.zeros(0) if node.value is None else node.value
    measured = (np.linalg.norm(value), value.mean(), value.std()) if value.size else (0.0, 0.0, 0.0)
    norm, mean, std = (number(float(one), VECTOR) for one in measured)
    return {
        **{key: getattr(node, key) for key in ("id", "group", "label", "kind", "formula", "attention")},
        "shape": [] if node.value is None else list(value.shape),
        "axes": list(node.axes),
        "norm": norm,
        "mean": mean,
        "std": std,
        "numbers": numbers(value.ravel()[:SOME], VECTOR),
    }


def _moment(moment: Moment) -> dict[str, Any]:
    return {
        **_option(moment.chosen),
        "rank": moment.rank,
        "entropy": number(moment.entropy),
        "candidates": moment.candidates,
        "forced": moment.forced,
        "alternatives": [_option(option) for option in moment.options],
    }


def _option(option: Option) -> dict[str, Any]:
    probability, drawn = number(option.probability), number(option.drawn)
    return {"id": option.id, "text": option.text, "probability": probability, "drawn": drawn}


def _twig(twig: Twig) -> dict[str, Any]:
    plain = {key: getattr(twig, key) for key in ("parent", "step", "id", "text", "state")}
    return {"node": twig.number, **plain, "log_prob": number(twig.log_prob), "score": number(twig.score)}


def _links(links: Links | Iterable[tuple[int, int]]) -> list[list[int]]:
    return [list(link) for link in sorted(links)]


def _words(text: WordText) -> list[dict[str, Any]]:
    return [{"text": text.text[start:end], "start": start, "end": end} for start, end in text.spans]
