"""Where a model looked, as an answer: readable numbers, or bytes that are as small as they can be."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from safetensors.numpy import save

from regard.errors import ConfigError, LimitError
from regard.insight import Trace

READABLE, MOST = 1 << 21, 1 << 26
"""Most numbers of an answer that is JSON, and of one that is not."""
DIGITS = 6
SCALES = {"uint8": (np.uint8, 255.0), "float16": (np.float16, 1.0)}
"""The type of a number, and what stands for a weight of 1."""


def selected(trace: Trace, how: Mapping[str, Any]) -> Trace:
    """What was asked for of a trace: by words, and one kind of attention, layer or head."""
    trace = trace.by_words() if how["words"] else trace
    head = how["head"]
    weights = {name: trace.weights_of(name) for name in trace.select(how["name"], how["layer"])}
    if head is not None:
        weights = {name: heads[head : head + 1] for name, heads in weights.items()}
        if missing := [name for name, heads in weights.items() if not len(heads)]:
            raise ConfigError(f"{missing[0]} has no head {head}.", wanted="a head that is there, counted from 0")
    return Trace(trace.rows, weights, {name: trace.axes[name] for name in weights}, trace.meta)


def readable(trace: Trace) -> bytes:
    """As JSON: rows of tokens, and for each attention which of them it joins, and its weights (head, asks, reads)."""
    _check(trace, READABLE, "ask for one layer or head, or for format uint8")
    weights = {name: np.round(heads.astype(float), DIGITS).tolist() for name, heads in trace.weights.items()}
    return json.dumps({**_head(trace), "weights": weights}, ensure_ascii=False).encode()


def binary(trace: Trace, format: str) -> bytes:
    """The same as a safetensors file: a tensor (head, asks, reads) for each attention; rows, axes and what stands for a
    weight of 1 are JSON in its metadata."""
    _check(trace, MOST, "ask for one layer or head")
    kind, one = SCALES[format]
    tensors = {name: _scaled(heads, one).astype(kind) for name, heads in trace.weights.items()}
    head = {**_head(trace), "one": one}
    return save(tensors, {key: json.dumps(value, ensure_ascii=False) for key, value in head.items()})


def _scaled(weights: np.ndarray, one: float) -> np.ndarray:
    return np.round(weights * one) if one > 1 else weights


def _head(trace: Trace) -> dict[str, Any]:
    rows = {
        name: {"text": row.text, "language": row.language, "tokens": [_token(asdict(token)) for token in row.tokens]}
        for name, row in trace.rows.items()
    }
    return {"rows": rows, "axes": {name: list(axes) for name, axes in trace.axes.items()}, "meta": dict(trace.meta)}


def _token(token: dict[str, Any]) -> dict[str, Any]:
    return {"text": token["surface"], "start": token["start"], "end": token["end"], "special": token["special"]}


def _check(trace: Trace, most: int, do: str) -> None:
    count = sum(heads.size for heads in trace.weights.values())
    if count > most:
        raise LimitError(
            "This is too much for one answer.", found=f"{count:,} weights", wanted=f"at most {most:,}", do=do
        )
