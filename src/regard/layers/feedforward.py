"""The position-wise network between attentions: FFN(x) = f(x W1 + b1) W2 + b2 (Vaswani 2017, section 3.3)."""

from collections.abc import Callable
from functools import partial

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.dropout import Dropout

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu_,  # in place: what it is given is used nowhere else
    "gelu": F.gelu,
    "gelu-tanh": partial(F.gelu, approximate="tanh"),
    "swish": F.silu,
}


class FeedForward(nn.Module):
    def __init__(
        self, *, width: int, hidden: int, activation: str = "relu", dropout: float = 0.0, bias: bool = True
    ) -> None:
        super().__init__()
        self.expand = nn.Linear(width, hidden, bias=bias)
        self.contract = nn.Linear(hidden, width, bias=bias)
        self.activation = ACTIVATIONS[activation]
        self.dropout = Dropout(dropout)
        for layer in (self.expand, self.contract):
            nn.init.xavier_uniform_(layer.weight)
            if bias:
                nn.init.zeros_(layer.bias)

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        rows = x.flatten(0, -2)  # the product of three-dimensional x would be a view: changed in place, it is copied
        hidden = self.activation(self.expand(rows))
        contracted: Tensor = self.contract(self.dropout(hidden))
        return contracted.view_as(x)
