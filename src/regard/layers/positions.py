"""Where a word stands: attention itself cannot tell, so positions are added to the embeddings."""

from collections.abc import Callable
from functools import partial
from math import log

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn


def sinusoids(length: int, width: int) -> Float[Tensor, "length width"]:
    """PE(pos, 2i) = sin(pos / 10000^(2i/D)), PE(pos, 2i+1) = cos of the same (Vaswani 2017, section 3.5)."""
    places = torch.arange(length, dtype=torch.float64)[:, None]
    rates = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-log(10_000.0) / width))
    table = torch.zeros(length, width, dtype=torch.float64)
    table[:, 0::2] = torch.sin(places * rates)
    table[:, 1::2] = torch.cos(places * rates)[:, : width // 2]
    return table.float()


def in_halves(length: int, width: int) -> Float[Tensor, "length width"]:
    """The same waves with all sines before all cosines, as Marian has them (Junczys-Dowmunt 2018)."""
    waves = sinusoids(length, width)
    return torch.cat((waves[:, 0::2], waves[:, 1::2]), dim=1)


class Sinusoidal(nn.Module):
    """Fixed waves: nothing to learn, defined for every position."""

    table: Tensor

    def __init__(self, limit: int, width: int, waves: Callable[[int, int], Tensor] = sinusoids) -> None:
        super().__init__()
        self.register_buffer("table", waves(limit, width), persistent=False)

    def forward(self, first: int, length: int) -> Float[Tensor, "length D"]:
        return self.table[first : first + length]


class Learned(nn.Module):
    """A vector learned for each position (BERT, GPT-2)."""

    def __init__(self, limit: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(limit, width))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, first: int, length: int) -> Float[Tensor, "length D"]:
        return self.weight[first : first + length]

    def at(self, places: Int[Tensor, "*batch"]) -> Float[Tensor, "*batch D"]:
        """Where each row counts for itself."""
        return F.embedding(places, self.weight)


class Absent(nn.Module):
    """No positions: the sentence becomes a bag of words. Here to show why positions are needed."""

    zero: Tensor

    def __init__(self, limit: int, width: int) -> None:
        super().__init__()
        self.register_buffer("zero", torch.zeros(1, width), persistent=False)

    def forward(self, first: int, length: int) -> Float[Tensor, "one D"]:
        return self.zero


POSITIONS: dict[str, Callable[[int, int], nn.Module]] = {
    "sinusoidal": Sinusoidal,
    "halves": partial(Sinusoidal, waves=in_halves),
    "learned": Learned,
    "none": Absent,
}
