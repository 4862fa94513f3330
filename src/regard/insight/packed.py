"""A trace as bytes that are as small as they can be: what a server sends to a page, and what a saved page holds.

It is a safetensors file: a tensor (head, asks, reads) for each attention; rows, axes and what stands for a weight of 1
are JSON in its metadata.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from regard.insight.tokens import TokenRow
from regard.insight.trace import Trace

SCALES = {"uint8": (np.uint8, 255.0), "float16": (np.float16, 1.0)}
"""The type of a number, and what stands for a weight of 1."""
DTYPES = {"uint8": "U8", "float16": "F16"}


def pack(trace: Trace, format: str, whole: Trace | None = None) -> bytes:
    """whole: the trace that this one is a part of; its attentions are named, so that more can be asked for."""
    kind, one = SCALES[format]
    tensors = {name: _scaled(heads, one).astype(kind) for name, heads in trace.weights.items()}
    told = {**head(trace), "one": one, "all": attentions(whole or trace)}
    return _file(tensors, {key: json.dumps(value, ensure_ascii=False) for key, value in told.items()})


def head(trace: Trace) -> dict[str, Any]:
    """All of a trace but its weights, for JSON."""
    return {
        "rows": rows_of(trace.rows),
        "axes": {name: list(axes) for name, axes in trace.axes.items()},
        "meta": dict(trace.meta),
    }


def rows_of(rows: Mapping[str, TokenRow]) -> dict[str, Any]:
    """Tokens and their places, for JSON."""
    return {name: _row(row) for name, row in rows.items()}


def attentions(trace: Trace) -> Mapping[str, Any]:
    """What there is to be asked for: by name, the rows that it joins and its shape."""
    return {name: {"axes": list(trace.axes[name]), "shape": list(trace.weights[name].shape)} for name in trace.names}


def _file(tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> bytes:
    """As safetensors writes it, but always the same bytes for the same trace (it keeps metadata in any order)."""
    header: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, array in tensors.items():
        begin, end = end, end + array.nbytes
        header[name] = {"dtype": DTYPES[array.dtype.name], "shape": list(array.shape), "data_offsets": [begin, end]}
    told = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    told += b" " * (-len(told) % 8)
    return b"".join((len(told).to_bytes(8, "little"), told, *(array.tobytes() for array in tensors.values())))


def _row(row: TokenRow) -> dict[str, Any]:
    """words: where each word begins, as a place among the tokens."""
    return {
        "text": row.text,
        "language": row.language,
        "tokens": [_token(asdict(token)) for token in row.tokens],
        "words": [group[0] for group in row.words()],
    }


def _token(token: dict[str, Any]) -> dict[str, Any]:
    return {"text": token["surface"], "start": token["start"], "end": token["end"], "special": token["special"]}


def _scaled(weights: np.ndarray, one: float) -> np.ndarray:
    return np.round(weights * one) if one > 1 else weights
