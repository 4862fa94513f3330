"""The block that the Transformer, BERT and GPT-2 share: self-attention, cross-attention if asked for, feed-forward.

Each sits in a residual connection with layer normalisation, after the sum as in the papers of 2017 and 2018 ("post") or
before the sub-layer as in GPT-2 ("pre": gradients reach every layer undamped, so it trains without a long warm-up).
"""

from dataclasses import dataclass
from typing import Literal

from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention import Extend, KeysValues, MultiHead
from regard.layers.dropout import Dropout
from regard.layers.feedforward import FeedForward

Placement = Literal["pre", "post"]


@dataclass(frozen=True)
class Shape:
    """The sizes and choices that every block of a stack shares."""

    width: int
    heads: int
    hidden: int
    dropout: float = 0.0
    activation: str = "relu"
    norm: Placement = "pre"
    attention_dropout: float = 0.0
    activation_dropout: float = 0.0
    epsilon: float = 1e-5
    bias: bool = True
    """Of all products and normalisations."""


class Residual(nn.Module):
    """post: norm(x + f(x)); pre: x + f(norm(x)). Dropout on f's result before the sum (Vaswani 2017, section 5.4)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(shape.width, eps=shape.epsilon, bias=shape.bias)
        self.dropout = Dropout(shape.dropout)
        self.pre = shape.norm == "pre"

    def before(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        """What the sub-layer is given."""
        return self._normed(x) if self.pre else x

    def after(self, x: Float[Tensor, "*batch D"], result: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        """x joined with the sub-layer's result."""
        joined = x + self.dropout(result)
        return joined if self.pre else self._normed(joined)

    def _normed(self, x: Tensor) -> Tensor:
        normed: Tensor = self.norm(x)
        return normed


class Block(nn.Module):
    """One layer. `name` ("encoder.0") is the stem under which its attentions are captured: .self and .cross."""

    def __init__(self, shape: Shape, *, name: str, cross: bool = False) -> None:
        super().__init__()
        self.self_attention = _attention(shape, f"{name}.self")
        self.self_residual = Residual(shape)
        if cross:
            self.cross_attention = _attention(shape, f"{name}.cross")
            self.cross_residual = Residual(shape)
        self.feed_forward = FeedForward(
            width=shape.width,
            hidden=shape.hidden,
            activation=shape.activation,
            dropout=shape.activation_dropout,
            bias=shape.bias,
        )
        self.feed_residual = Residual(shape)

    def forward(
        self,
        x: Float[Tensor, "R T D"],
        *,
        mask: Bool[Tensor, "..."] | None = None,
        past: KeysValues | None = None,
        memory: KeysValues | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
    ) -> tuple[Float[Tensor, "R T D"], KeysValues]:
        """Gives the new x, and the keys and values that a later step may pass in again as `past`."""
        result, present = self.self_attention.self_attention(self.self_residual.before(x), mask=mask, past=past)
        x = self.self_residual.after(x, result)
        if memory is not None:
            result = self.cross_attention.cross_attention(self.cross_residual.before(x), memory, mask=memory_mask)
            x = self.cross_residual.after(x, result)
        return self._fed(x), present

    def step(
        self, x: Float[Tensor, "R T D"], *, extend: Extend, mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "R T D"]:
        """The same without cross-attention, where the past is kept elsewhere: x looks at a memory that grows, and is
        never copied to make it longer."""
        result, _ = self.self_attention.growing(self.self_residual.before(x), extend=extend, mask=mask)
        return self._fed(self.self_residual.after(x, result))

    def _fed(self, x: Tensor) -> Tensor:
        return self.feed_residual.after(x, self.feed_forward(self.feed_residual.before(x)))


def _attention(shape: Shape, name: str) -> MultiHead:
    return MultiHead(width=shape.width, heads=shape.heads, name=name, dropout=shape.attention_dropout, bias=shape.bias)
