"""The loss of every model that predicts words: output layer and cross-entropy in one go."""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

LOGITS, ROWS = 1 << 20, 128
"""So many logits are made at a time, of ROWS predictions at least: they then stay in the processor's cache."""


def _product_dtype(weight: Tensor) -> torch.dtype:
    """What products are computed in: the weights' own type, or half of it under autocast."""
    kind = weight.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weight.dtype


class _LinearCrossEntropy(torch.autograd.Function):
    """The logits (a row per predicted word, a column per word of the vocabulary) would be the largest tensor of
    training by far, and be read and written six times. So they are made a few rows at a time, turned into their
    gradient in place, and multiplied into the gradients of what they came from, at once."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor | None, wanted: Tensor, smoothing: float, learning: bool
    ) -> Tensor:
        needed = learning and any(ctx.needs_input_grad)  # which is also true of parameters under no_grad
        to_hidden = torch.empty_like(hidden) if needed else None
        to_weight = torch.zeros_like(weight) if needed else None
        to_bias = torch.zeros_like(bias) if needed and bias is not None else None
        kind, device = _product_dtype(weight), hidden.device
        total = torch.zeros((), dtype=torch.float64 if device.type == "cpu" else torch.float32, device=device)
        matrix, shift = weight.to(kind), None if bias is None else bias.to(kind)
        size = max(ROWS, LOGITS // len(weight))
        for first in range(0, len(hidden), size):
            rows, words = hidden[first : first + size].to(kind), wanted[first : first + size, None]
            wide = torch.promote_types(kind, torch.float32)
            log_probs = F.log_softmax(F.linear(rows, matrix, shift), dim=1, dtype=wide)
            total -= (1 - smoothing) * log_probs.gather(1, words).sum()
            if smoothing:
                total -= smoothing * log_probs.mean(1).sum()
            if to_hidden is None or to_weight is None:
                continue
            gradient = log_probs.exp_().sub_(smoothing / log_probs.shape[1])
            gradient.scatter_add_(1, words, torch.full_like(words, smoothing - 1, dtype=gradient.dtype))
            if to_bias is not None:
                to_bias += gradient.sum(0)
            gradient = gradient.to(kind)
            to_hidden[first : first + size] = gradient @ matrix
            if kind == to_weight.dtype:
                to_weight.addmm_(gradient.T, rows)
            else:
                to_weight += gradient.T @ rows
        ctx.save_for_backward(to_hidden, to_weight, to_bias)
        return total.to(hidden.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        scaled = (None if gradient is None else gradient * grad for gradient in ctx.saved_tensors)
        return (*scaled, None, None, None)


def summed_cross_entropy(
    hidden: Float[Tensor, "N D"], output: nn.Linear, wanted: Int[Tensor, "N"], smoothing: float = 0.0
) -> Float[Tensor, ""]:
    """Σ −log softmax(output(hidden))[wanted], the target mixed with the uniform distribution (Szegedy 2016, section 7).
    Equal to torch's cross_entropy(reduction="sum", label_smoothing=smoothing) by test, gradients too."""
    learning = torch.is_grad_enabled()
    loss: Tensor = _LinearCrossEntropy.apply(hidden, output.weight, output.bias, wanted, smoothing, learning)  # type: ignore[no-untyped-call]
    return loss
