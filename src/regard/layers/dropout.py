"""Dropout (Srivastava 2014) that does not wait for its random numbers."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


def dropout(x: Float[Tensor, "*shape"], probability: float) -> Float[Tensor, "*shape"]:
    """Each entry is 0 with this probability, otherwise divided by what is left, so that the expectation stays.

    On a CPU torch draws one random number per entry, which took a seventh of training time; one draw of 64 bits serves
    four entries here, and makes the probability a multiple of 1/65536.
    """
    if x.device.type != "cpu":
        return F.dropout(x, probability)
    draws = torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    cut = round(probability * 65536) - 32768
    mask = torch.empty(x.shape, dtype=x.dtype)  # numbers, not bools: those would be converted at every use
    torch.ge(draws.view(torch.int16)[: x.numel()], cut, out=mask.view(-1))
    return x * mask.mul_(1 / (1 - probability))


class Dropout(nn.Module):
    """Drops in training, does nothing otherwise."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        return dropout(x, self.probability) if self.training and self.probability else x
