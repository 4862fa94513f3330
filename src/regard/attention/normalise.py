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


NORMALISERS: dict[str, Normaliser] = {"softmax": softmax}
