"""The one idea: score the query against the keys → mask → normalise → mix the values.

Two paths, one truth. When nobody taps and the formula is the Transformer's, torch's fused kernel computes it without
ever writing the weights down; otherwise each step is explicit. Tests hold them equal, rows that may look nowhere
included.
"""

from typing import Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from regard.attention.normalise import Normaliser, softmax
from regard.attention.scores import Score, scaled_dot

PER_SENTENCE = ("keys", "values")
"""What passes once for a sentence, however many hypotheses it has."""


@runtime_checkable
class Tap(Protocol):
    """Sees what passes and returns what shall go on, the same tensor or another: "queries" (B H T Q), "keys" (B H S K),
    "scores" (B H T S), "mask" (B 1|H T S), "weights" (B H T S), "values" (B H S W); where weights are multiplied by a
    "focus" (see layers/alignment.py), that too."""

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
    if tap is not None:
        query, keys = tap("queries", query), tap("keys", keys)
        mask = tap("mask", _whole(mask, query, keys))
    tap = tap or _pass_on
    scores = tap("scores", score(query, keys))
    weights = tap("weights", normalise(scores, mask))
    return F.dropout(weights, dropout, training=dropout > 0) @ tap("values", values)


def _pass_on(what: str, tensor: Tensor, /) -> Tensor:
    return tensor


def _whole(mask: Bool[Tensor, "..."] | None, query: Tensor, keys: Tensor) -> Bool[Tensor, "B _ T S"]:
    """The mask with a row for each query of each sentence, whether there is one or not."""
    rows, queries, size = query.shape[0], query.shape[2], keys.shape[2]
    if mask is None:
        mask = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=query.device)
    return mask.expand(rows, mask.shape[1], queries, size)


def per_hypothesis(tap: Tap, steps: int) -> Tap:
    """Shows (B H n·T S) to the tap as (B·n H T S): one row per hypothesis, as everywhere else."""

    def unfolded(what: str, tensor: Tensor, /) -> Tensor:
        if what in PER_SENTENCE:
            return tap(what, tensor)
        sentences, heads, _, keys = tensor.shape
        seen = tensor.reshape(sentences, heads, -1, steps, keys).transpose(1, 2).flatten(0, 1)
        kept = tap(what, seen)
        return kept.reshape(sentences, -1, heads, steps, keys).transpose(1, 2).reshape(tensor.shape)

    return unfolded
