"""Where a model looked, as an answer: readable numbers, or bytes that are as small as they can be."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from regard.errors import ConfigError, LimitError
from regard.insight import Trace
from regard.insight.html import page
from regard.insight.packed import head, pack

READABLE, MOST = 1 << 21, 1 << 26
"""Most numbers of an answer that is JSON, and of one that is not."""
DIGITS = 6


def told(whole: Trace, how: Mapping[str, Any]) -> bytes:
    """What was asked for of a trace, as it is sent: JSON; bytes for a page or another program (see insight/packed.py);
    or a page of its own."""
    trace, format = _within(_selected(whole, how), how["most"]), how["format"]
    if format == "json":
        return json.dumps(readable(trace), ensure_ascii=False).encode()
    _check(trace, MOST, "ask for one layer or head")
    return page(trace).encode() if format == "html" else pack(trace, format, whole)


def readable(trace: Trace, do: str = "ask for one layer or head, or for format uint8") -> dict[str, Any]:
    """For JSON: rows of tokens, and for each attention which of them it joins, and its weights (head, asks, reads).
    do: what helps where that is too much."""
    _check(trace, READABLE, do)
    weights = {name: np.round(heads.astype(float), DIGITS).tolist() for name, heads in trace.weights.items()}
    return {**head(trace), "weights": weights}


def _selected(trace: Trace, how: Mapping[str, Any]) -> Trace:
    """What was asked for of a trace: by words, and one kind of attention, layer or head."""
    trace = trace.by_words() if how["words"] else trace
    chosen = how["head"]
    weights = {name: trace.weights_of(name) for name in trace.select(how["name"], how["layer"])}
    if chosen is not None:
        weights = {name: heads[chosen : chosen + 1] for name, heads in weights.items()}
        if missing := [name for name, heads in weights.items() if not len(heads)]:
            most = len(trace.weights[missing[0]]) - 1
            raise ConfigError(f"{missing[0]} has no head {chosen}.", wanted=f"0 to {most}")
    return Trace(trace.rows, weights, {name: trace.axes[name] for name in weights}, trace.meta)


def _within(trace: Trace, most: int | None) -> Trace:
    """All of a trace, or, if that is more than is wanted, the last attention to something else, or the last of all."""
    if most is None or sum(heads.size for heads in trace.weights.values()) <= most:
        return trace
    name = max(trace.names, key=lambda name: trace.axes[name][0] != trace.axes[name][1])
    last = [one for one in trace.names if trace.axes[one] == trace.axes[name]][-1]
    return Trace(trace.rows, {last: trace.weights[last]}, {last: trace.axes[last]}, trace.meta)


def _check(trace: Trace, most: int, do: str) -> None:
    count = sum(heads.size for heads in trace.weights.values())
    if count > most:
        raise LimitError(
            "This is too much for one answer.", found=f"{count:,} weights", wanted=f"at most {most:,}", do=do
        )
