"""Many states, one vector: what is kept of a text when it must be one."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Attends, attend, dot, padding_mask


class First(nn.Module):
    """The state of the first token: where that is [CLS], the one that looks at all others."""

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Float[Tensor, "B S D"], lengths: Int[Tensor, "B"]) -> Float[Tensor, "B D"]:
        return states[:, 0]


class Last(nn.Module):
    """The state at the last token: what a recurrent network still knows when it has read everything."""

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Float[Tensor, "B S D"], lengths: Int[Tensor, "B"]) -> Float[Tensor, "B D"]:
        return states[torch.arange(len(states), device=states.device), lengths - 1]


class Mean(nn.Module):
    """The mean of all states: every word counts the same."""

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Float[Tensor, "B S D"], lengths: Int[Tensor, "B"]) -> Float[Tensor, "B D"]:
        mask = padding_mask(lengths, states.shape[1])[:, 0, 0, :, None]
        return (states * mask).sum(1) / lengths[:, None]


class Max(nn.Module):
    """The largest value of each feature, wherever it stands."""

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Float[Tensor, "B S D"], lengths: Int[Tensor, "B"]) -> Float[Tensor, "B D"]:
        mask = padding_mask(lengths, states.shape[1])[:, 0, 0, :, None]
        return states.masked_fill(~mask, -torch.inf).amax(1)


class Attention(Attends):
    """A mean in which words count by what the task makes of them (Yang 2016, "Hierarchical Attention Networks", eq. 5
    to 7): u = tanh(W h + b), the weights are softmax(q·u), the query q is learned. Captured as "pooling"."""

    def __init__(self, width: int) -> None:
        super().__init__("pooling")
        self.keys = nn.Linear(width, width)
        self.query = nn.Parameter(torch.empty(width))
        nn.init.xavier_uniform_(self.keys.weight)
        nn.init.zeros_(self.keys.bias)
        nn.init.normal_(self.query, std=width**-0.5)

    def forward(self, states: Float[Tensor, "B S D"], lengths: Int[Tensor, "B"]) -> Float[Tensor, "B D"]:
        keys = torch.tanh(self.keys(states))[:, None]
        query = self.query.expand(len(states), 1, 1, -1)
        mask = padding_mask(lengths, states.shape[1])
        pooled = attend(query, keys, states[:, None], score=dot, mask=mask, tap=self.tap())
        return pooled[:, 0, 0]


POOLINGS: dict[str, type[nn.Module]] = {
    "first": First,
    "last": Last,
    "mean": Mean,
    "max": Max,
    "attention": Attention,
}
"""Each is made with the width of the states."""
