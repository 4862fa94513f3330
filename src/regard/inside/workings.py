"""One row of one attention, step by step: query → score → scale → mask → softmax → × values, in the model's numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.attention import MultiHead, softmax
from regard.errors import ConfigError
from regard.inside.scene import Row, Scene, attention_of, scene
from regard.inside.terms import Terms, terms_of
from regard.insight import Token

KEEP = ("queries", "keys", "scores", "mask", "focus", "values")
Numbers = Float[np.ndarray, "S"]


@dataclass(frozen=True, eq=False)
class Workings:
    """Of the S keys that the row could look at, in their order."""

    name: str
    head: int
    heads: int
    row: int
    column: int
    """The cell whose vectors are told."""
    asks: Token
    keys: tuple[Token, ...]
    score: str
    formula: str
    raw: Numbers
    """What the formula gives before it is scaled."""
    scale: float | None
    """None: nothing is scaled."""
    scores: Numbers
    mask: Bool[np.ndarray, "S"]
    softmax: Numbers
    """Of the scores that the mask lets through."""
    focus: Numbers | None
    """What each weight is multiplied by (Luong's local-p), or nothing."""
    centre: float | None
    """The middle of the window, where there is one."""
    normalise: str
    weights: Numbers
    value_norms: Numbers
    reach: Numbers
    """‖v W^O‖: how long a vector a weight of 1 would add; ‖v‖ where there is no W^O."""
    context_norm: float
    vectors: Mapping[str, Float[np.ndarray, "_"]]
    """Of the cell, by the names of the formula; "v": its value, "context": Σ weight · value over the row."""

    @property
    def stages(self) -> tuple[str, ...]:
        """What is done, in this order."""
        scaled = ("scaled",) if self.scale is not None else ()
        focused = ("focused",) if self.focus is not None else ()
        hard = ("hard",) if self.normalise == "hard" else ()
        return ("raw", *scaled, "masked", "softmax", *focused, *hard, "weights", "context")


@torch.inference_mode()
def workings(
    model: Any,
    text: str,
    second: str | None = None,
    *,
    name: str,
    head: int = 0,
    row: int = 0,
    column: int | None = None,
    generate: int = 0,
) -> Workings:
    """How any loaded model came to the weights of one row. name: the whole name of an attention, as `attention(…)` has
    it; row, column: as its rows count tokens. Without a column, the vectors are those of the key that gets most."""
    seen = scene(model, text, second, name=name, generate=generate, keep=KEEP)
    _check(seen, name, head, row)
    return _worked(seen, seen.row(name, row), terms_of(attention_of(model, name)), head, row, column)


def _worked(seen: Scene, found: Row, terms: Terms, head: int, row: int, column: int | None) -> Workings:
    name = found.attention.name
    weights, scores = found.of("weights")[head], found.of("scores")[head]
    column = int(weights.argmax()) if column is None else column
    if not 0 <= column < len(weights):
        raise ConfigError(f"Row {row} of {name} has no column {column}.", wanted=f"0 to {len(weights) - 1}")
    query, key = found.of("queries")[head], found.whole("keys")[head, column]
    values = found.whole("values")
    scale = terms.scale(len(query))
    asks, reads = seen.trace.rows_of(name)
    mask = _shared(found, "mask", head)
    context = weights @ values[head]
    told = {**terms.vectors(getattr(found.attention, "score", None), query, key), "v": values[head, column]}
    return Workings(
        name=name,
        head=head,
        heads=len(values),
        row=row,
        column=column,
        asks=asks.tokens[row],
        keys=reads.tokens[: len(weights)],
        score=terms.name,
        formula=terms.formula,
        raw=_array(scores.double() if scale is None else scores.double() / scale),
        scale=scale,
        scores=_array(scores),
        mask=mask.cpu().numpy(),
        softmax=_array(softmax(scores[None], mask)[0]),
        focus=_array(_shared(found, "focus", head)) if found.has("focus") else None,
        centre=_centre(seen, query, row, len(weights)),
        normalise=str(getattr(found.attention, "normalise", "soft")),
        weights=_array(weights),
        value_norms=_array(values[head].norm(dim=-1)),
        reach=_array(reach_of(found.attention, values[None])[0, head]),
        context_norm=float(context.norm()),
        vectors={term: _array(vector) for term, vector in {**told, "context": context}.items()},
    )


def reach_of(attention: Any, values: Float[Tensor, "B H S K"]) -> Float[Tensor, "B H S"]:
    """How long a vector each value would add if it got all weight: see `MultiHead.reach`."""
    return attention.reach(values) if isinstance(attention, MultiHead) else values.norm(dim=-1)


def _shared(found: Row, what: str, head: int) -> Tensor:
    """Of a head, where all may have the same."""
    rows = found.of(what)
    return rows[min(head, len(rows) - 1)]


def _centre(seen: Scene, query: Tensor, row: int, size: int) -> float | None:
    """The middle of a window: predicted from the query, or the step itself (Luong 2015, section 3.2)."""
    network = seen.model.model
    window = getattr(network.config, "window", "global")
    if window == "global":
        return None
    if window == "local-m":
        return float(row)
    return float(network.position(query[None, None], torch.tensor([size], device=query.device)))


def _check(seen: Scene, name: str, head: int, row: int) -> None:
    heads = len(seen.trace.weights_of(name))
    rows = len(seen.trace.rows_of(name)[0])
    for what, value, count in (("head", head, heads), ("row", row, rows)):
        if not 0 <= value < count:
            raise ConfigError(f"{name} has no {what} {value}.", found=f"{count}", wanted=f"0 to {count - 1}")


def _array(tensor: Tensor) -> np.ndarray:
    kept = tensor if tensor.dtype == torch.float64 else tensor.float()
    return kept.cpu().numpy()
