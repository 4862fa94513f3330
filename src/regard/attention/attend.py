"""The one idea: score the query against the keys → mask → normalise → mix the values.

Two paths, one truth. When nobody taps and the formula is the Transformer's, torch's fused kernel computes it without
ever writing the weights down; otherwise each step is explicit. Tests hold them equal, rows that may look nowhere
included.
"""

from typing import Protocol, runtime_checkable

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from regard.attention.normalise import Normaliser, softmax
from regard.attention.scores import Score, scaled_dot


@runtime_checkable
class Tap(Protocol):
    """Sees "scores", "weights" and "values" as they pass and returns what shall go on: the same tensor, or another."""

    def __call__(self, what: str, tensor: Tensor, /) -> Tensor: ...


def attend(
    query: Float[Tensor, "B H T Q"],
    keys: Float[Tensor, "B H S K"],
    values: Float[Tensor, "B H S W"],
    *,
    score: Score = scaled_dot,
    mask: Bool[Tensor, "..."] | None = None,
    normalise: Normaliser = softmax,
    tap: Tap | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "B H T W"]:
    """context = normalise(mask(score(query, keys))) · values (Vaswani 2017, eq. 1, for any score and normaliser)."""
    if tap is None and score is scaled_dot and normalise is softmax:
        return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask, dropout_p=dropout)
    tap = tap or _pass_on
    scores = tap("scores", score(query, keys))
    weights = tap("weights", normalise(scores, mask))
    return F.dropout(weights, dropout, training=dropout > 0) @ tap("values", values)


def _pass_on(what: str, tensor: Tensor, /) -> Tensor:
    return tensor


def per_hypothesis(tap: Tap, steps: int) -> Tap:
    """Shows (B H n·T S) to the tap as (B·n H T S): one row per hypothesis, as everywhere else."""

    def unfolded(what: str, tensor: Tensor, /) -> Tensor:
        if what == "values":
            return tap(what, tensor)
        sentences, heads, _, keys = tensor.shape
        seen = tensor.reshape(sentences, heads, -1, steps, keys).transpose(1, 2).flatten(0, 1)
        kept = tap(what, seen)
        return kept.reshape(sentences, -1, heads, steps, keys).transpose(1, 2).reshape(tensor.shape)

    return unfolded
