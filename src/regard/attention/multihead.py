"""Several attentions side by side, each in its own projection (Vaswani 2017, section 3.2.2)."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.attend import attend, per_hypothesis
from regard.attention.capture import Attends


class KeysValues(NamedTuple):
    """What is looked at, projected and split into heads; computed once, it serves every later query."""

    keys: Float[Tensor, "B H S K"]
    values: Float[Tensor, "B H S K"]

    def of(self, rows: Int[Tensor, "N"]) -> "KeysValues":
        """Row i is what was row rows[i]. (`[rows]` takes five times as long on a CPU.)"""
        return KeysValues(self.keys.index_select(0, rows), self.values.index_select(0, rows))


Extend = Callable[[KeysValues], KeysValues]
"""Puts keys and values behind those that are kept, and gives all of them."""


class MultiHead(Attends):
    """MultiHead(Q, K, V) = Concat(head_1 … head_H) W^O, head_h = Attention(Q W_h^Q, K W_h^K, V W_h^V).

    The three projections lie in one matrix, in the order query, keys, values, so that self-attention is one product.
    """

    def __init__(self, *, width: int, heads: int, name: str, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__(name)
        self.heads, self.dropout = heads, dropout
        self.project = nn.Linear(width, 3 * width, bias=bias)
        self.output = nn.Linear(width, width, bias=bias)
        for part in self.project.weight.chunk(3):
            nn.init.xavier_uniform_(part)
        nn.init.xavier_uniform_(self.output.weight)
        if bias:
            nn.init.zeros_(self.project.bias)
            nn.init.zeros_(self.output.bias)

    def self_attention(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: Bool[Tensor, "..."] | None,
        past: KeysValues | None = None,
    ) -> tuple[Float[Tensor, "B T D"], KeysValues]:
        """x looks at itself and, before itself, at the past; also gives the keys and values that the next step may
        reuse."""
        return self.growing(x, extend=partial(_behind, past), mask=mask)

    def growing(
        self, x: Float[Tensor, "B T D"], *, extend: Extend, mask: Bool[Tensor, "..."] | None
    ) -> tuple[Float[Tensor, "B T D"], KeysValues]:
        """The same where the past is kept elsewhere: `extend` is given the keys and values of x, and gives all there
        are."""
        query, keys, values = (self._split(part) for part in self.project(x).chunk(3, dim=-1))
        seen = extend(KeysValues(keys, values))
        context = attend(query, seen.keys, seen.values, mask=mask, tap=self.tap(), dropout=self._dropout())
        return self.output(self._join(context)), seen

    def remember(self, memory: Float[Tensor, "B S D"]) -> KeysValues:
        """The keys and values of a memory, computed once per sentence."""
        width = memory.shape[-1]
        keys, values = (self._split(part) for part in self._projected(memory, slice(width, None)).chunk(2, dim=-1))
        return KeysValues(keys, values)

    def cross_attention(
        self, x: Float[Tensor, "R T D"], memory: KeysValues, *, mask: Bool[Tensor, "B ..."] | None
    ) -> Float[Tensor, "R T D"]:
        """x looks at a memory of B sentences. R = B, or, in beam search, R = B·n: the n hypotheses of a sentence stand
        side by side as queries of one memory, which therefore is never copied."""
        rows, steps, width = x.shape
        sentences = memory.keys.shape[0]
        folded = x.reshape(sentences, -1, width)
        query = self._split(self._projected(folded, slice(width)))
        tap = self.tap()
        if tap is not None and rows != sentences:
            tap = per_hypothesis(tap, steps)
        context = attend(query, memory.keys, memory.values, mask=mask, tap=tap, dropout=self._dropout())
        result: Tensor = self.output(self._join(context))
        return result.reshape(rows, steps, width)

    def reach(self, values: Float[Tensor, "B H S K"]) -> Float[Tensor, "B H S"]:
        """‖v W_h^O‖: how long a vector each word would add to the sum of the heads, if a head gave it all its weight
        (Kobayashi 2020, "Attention is Not Only a Weight", section 3.2)."""
        heads = self.output.weight.view(len(self.output.weight), self.heads, -1)
        lengths: Tensor = torch.einsum("dhk,bhsk->bhsd", heads, values).norm(dim=-1)
        return lengths

    def _projected(self, x: Tensor, rows: slice) -> Tensor:
        """x in some rows of the three projections."""
        bias = None if self.project.bias is None else self.project.bias[rows]
        return nn.functional.linear(x, self.project.weight[rows], bias)

    def _dropout(self) -> float:
        return self.dropout if self.training else 0.0

    def _split(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B H T K"]:
        rows, steps, _ = x.shape
        return x.view(rows, steps, self.heads, -1).transpose(1, 2)

    def _join(self, x: Float[Tensor, "B H T K"]) -> Float[Tensor, "B T D"]:
        return x.transpose(1, 2).flatten(2)


def _behind(past: KeysValues | None, new: KeysValues) -> KeysValues:
    if past is None:
        return new
    return KeysValues(torch.cat((past.keys, new.keys), dim=2), torch.cat((past.values, new.values), dim=2))
