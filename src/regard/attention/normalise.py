"""From scores to weights. The only masked softmax of the package."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

Normaliser = Callable[[Tensor, Tensor | None], Tensor]


def softmax(
    scores: Float[Tensor, "*batch T S"], mask: Bool[Tensor, "..."] | None = None
) -> Float[Tensor, "*batch T S"]:
    """Weights that are positive and sum to 1 over what may be seen; a row that may look nowhere gets zeros, not NaN."""
    if mask is None:
        return scores.softmax(-1)
    weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1)
    return weights.masked_fill(~mask, 0.0)


def hard(scores: Float[Tensor, "*batch T S"], mask: Bool[Tensor, "..."] | None = None) -> Float[Tensor, "*batch T S"]:
    """All weight on the best place, the first one among equals; a row that may look nowhere gets zeros.

    Not for training: the place of a maximum does not move when the scores move a little, so its derivative is zero
    wherever it exists, and nothing is learned through it. A model learns with softmax, and looks hard afterwards.
    """
    seen = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
    weights = torch.zeros_like(scores).scatter_(-1, seen.argmax(-1, keepdim=True), 1.0)
    return weights if mask is None else weights.masked_fill(~mask, 0.0)


NORMALISERS: dict[str, Normaliser] = {"soft": softmax, "hard": hard}
