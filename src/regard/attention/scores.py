"""How well does a query match each key? One function or small module per answer, one table.

A score takes queries (… T Q) and keys (… S K) and gives scores (… T S). What it does to the keys alone is done once per
sentence, by `prepare`; the call then takes the prepared keys.
"""

from math import sqrt
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn


@runtime_checkable
class Score(Protocol):
    """What `attend` asks of a score."""

    def __call__(self, query: Float[Tensor, "*batch T Q"], keys: Float[Tensor, "*batch S K"], /) -> Tensor: ...


def dot(query: Float[Tensor, "*batch T K"], keys: Float[Tensor, "*batch S K"]) -> Float[Tensor, "*batch T S"]:
    """score(q, k) = q·k (Luong 2015, section 3.1)."""
    return query @ keys.transpose(-2, -1)


def scaled_dot(query: Float[Tensor, "*batch T K"], keys: Float[Tensor, "*batch S K"]) -> Float[Tensor, "*batch T S"]:
    """score(q, k) = q·k / √K (Vaswani 2017, eq. 1): the sum of K products has variance K; the root takes it back to
    1."""
    return dot(query, keys) / sqrt(query.shape[-1])


class Dot(nn.Module):
    """score(q, k) = q·k (Luong 2015, section 3.1, "dot"); queries and keys must be of one width."""

    def __init__(self, *, query: int, key: int, limit: int = 0) -> None:
        super().__init__()
        if query != key:
            raise ValueError(f"a dot product needs queries and keys of one width, not {query} and {key}")

    def prepare(self, keys: Float[Tensor, "*batch S K"]) -> Float[Tensor, "*batch S K"]:
        return keys

    def forward(self, query: Float[Tensor, "*batch T K"], keys: Float[Tensor, "*batch S K"]) -> Tensor:
        return dot(query, keys)


class ScaledDot(Dot):
    """score(q, k) = q·k / √K (Vaswani 2017, eq. 1)."""

    def forward(self, query: Float[Tensor, "*batch T K"], keys: Float[Tensor, "*batch S K"]) -> Tensor:
        return scaled_dot(query, keys)


class General(nn.Module):
    """score(q, k) = q·W k (Luong 2015, section 3.1, "general")."""

    def __init__(self, *, query: int, key: int, limit: int = 0) -> None:
        super().__init__()
        self.matrix = nn.Linear(key, query, bias=False)
        nn.init.xavier_uniform_(self.matrix.weight)

    def prepare(self, keys: Float[Tensor, "*batch S K"]) -> Float[Tensor, "*batch S Q"]:
        """W k."""
        prepared: Tensor = self.matrix(keys)
        return prepared

    def forward(self, query: Float[Tensor, "*batch T Q"], keys: Float[Tensor, "*batch S Q"]) -> Tensor:
        return dot(query, keys)


class Additive(nn.Module):
    """score(q, k) = v·tanh(W q + U k) (Bahdanau 2015, appendix A.1.2).

    Luong's "concat", v·tanh(W [q; k]) (2015, section 3.1), is the same function: its W is W and U side by side.
    """

    def __init__(self, *, query: int, key: int, width: int = 0, limit: int = 0) -> None:
        super().__init__()
        width = width or query
        self.query = nn.Linear(query, width, bias=False)
        self.keys = nn.Linear(key, width, bias=False)
        self.v = nn.Parameter(torch.empty(width))
        nn.init.xavier_uniform_(self.query.weight)
        nn.init.xavier_uniform_(self.keys.weight)
        nn.init.normal_(self.v, std=width**-0.5)

    def prepare(self, keys: Float[Tensor, "*batch S K"]) -> Float[Tensor, "*batch S A"]:
        """U k."""
        prepared: Tensor = self.keys(keys)
        return prepared

    def forward(self, query: Float[Tensor, "*batch T Q"], keys: Float[Tensor, "*batch S A"]) -> Tensor:
        hidden: Tensor = self.query(query)[..., :, None, :] + keys[..., None, :, :]
        return hidden.tanh_() @ self.v  # in place: nothing in the model is as large


class Location(nn.Module):
    """score(q, k at place s) = (W q)[s] (Luong 2015, eq. 8, "location"): the keys are not looked at, only counted."""

    def __init__(self, *, query: int, key: int, limit: int) -> None:
        super().__init__()
        self.places = nn.Linear(query, limit, bias=False)
        nn.init.xavier_uniform_(self.places.weight)

    def prepare(self, keys: Float[Tensor, "*batch S K"]) -> Float[Tensor, "*batch S K"]:
        return keys

    def forward(self, query: Float[Tensor, "*batch T Q"], keys: Float[Tensor, "*batch S K"]) -> Tensor:
        places: Tensor = self.places(query)
        return places[..., : keys.shape[-2]]


SCORES = {
    "dot": Dot,
    "scaled-dot": ScaledDot,
    "general": General,
    "concat": Additive,
    "additive": Additive,
    "location": Location,
}
"""Each is made with the widths of queries and keys and the longest sentence: SCORES[name](query=, key=, limit=)."""
