"""Who may look where. A mask is bool, True = may look, and broadcasts to (B, H, T, S). Masks are made here only."""

import torch
from jaxtyping import Bool, Int, Real
from torch import Tensor


def padding_mask(lengths: Int[Tensor, "B"], size: int) -> Bool[Tensor, "B 1 1 size"]:
    """Everybody may look at the real tokens of their sentence, nobody at its padding."""
    positions = torch.arange(size, device=lengths.device)
    return (positions < lengths[:, None])[:, None, None, :]


def look_ahead_mask(
    queries: int, keys: int | None = None, *, device: torch.device | str | None = None
) -> Bool[Tensor, "1 1 T S"]:
    """Query t may look at itself and at what came before. With more keys than queries, the queries are the last
    ones."""
    keys = queries if keys is None else keys
    return relation_mask(torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries))


def window_mask(centres: Real[Tensor, "B T"], size: int, *, radius: int) -> Bool[Tensor, "B 1 T size"]:
    """Query t may look at most `radius` places to either side of its centre (Luong 2015, local attention)."""
    positions = torch.arange(size, device=centres.device)
    return ((positions - centres[..., None]).abs() <= radius)[:, None]


def relation_mask(may_look: Bool[Tensor, "*batch T S"]) -> Bool[Tensor, "B 1 T S"]:
    """Any relation "i may look at j", one for all sentences (T S) or one for each (B T S)."""
    batched = may_look if may_look.dim() == 3 else may_look[None]
    return batched[:, None]


def both(first: Tensor | None, second: Tensor | None) -> Tensor | None:
    """May look only where both masks allow it; None allows everything."""
    if first is None or second is None:
        return second if first is None else first
    return first & second
