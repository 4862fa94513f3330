"""How well does a query match each key? One function or small module per answer, one table.

A score takes queries (… T K) and keys (… S K) and gives scores (… T S). Scores with weights of their own are modules
with the same call.
"""

from collections.abc import Callable
from math import sqrt
from typing import Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor


@runtime_checkable
class Score(Protocol):
    """What `attend` asks of a score."""

    def __call__(self, query: Float[Tensor, "*batch T Q"], keys: Float[Tensor, "*batch S K"], /) -> Tensor: ...


def dot(query: Float[Tensor, "*batch T K"], keys: Float[Tensor, "*batch S K"]) -> Float[Tensor, "*batch T S"]:
    """score(q, k) = q·k (Luong 2015, eq. 8)."""
    return query @ keys.transpose(-2, -1)


def scaled_dot(query: Float[Tensor, "*batch T K"], keys: Float[Tensor, "*batch S K"]) -> Float[Tensor, "*batch T S"]:
    """score(q, k) = q·k / √K (Vaswani 2017, eq. 1): the sum of K products has variance K; the root takes it back to
    1."""
    return dot(query, keys) / sqrt(query.shape[-1])


SCORES: dict[str, Callable[..., Tensor]] = {"dot": dot, "scaled-dot": scaled_dot}
