"""torch.nn.GRU and LSTM with the weights of ours, over packed sentences: what ours must equal."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.layers import Decoder, Encoder

KINDS = {"gru": nn.GRU, "lstm": nn.LSTM}

State = tuple[Tensor, ...]


def recurrent(kind: str, ours: Encoder | Decoder, inputs: int, dtype: torch.dtype) -> nn.RNNBase:
    """Ours has one bias where torch has b_ih + b_hh; only in a GRU's candidate do the two differ."""
    layers: list[Any] = [layer if isinstance(layer, nn.ModuleList) else [layer] for layer in ours.layers]
    theirs = KINDS[kind](
        inputs, layers[0][0].width, len(layers), bidirectional=len(layers[0]) == 2, batch_first=True, dtype=dtype
    )
    with torch.no_grad():
        for mine, suffix in cells(ours):
            getattr(theirs, f"weight_ih{suffix}").copy_(mine.input.weight)
            getattr(theirs, f"weight_hh{suffix}").copy_(mine.recurrent.weight)
            getattr(theirs, f"bias_ih{suffix}").copy_(mine.input.bias)
            bias = mine.recurrent.bias
            getattr(theirs, f"bias_hh{suffix}").copy_(torch.zeros_like(mine.input.bias) if bias is None else bias)
    return theirs


def cells(ours: Encoder | Decoder) -> Iterator[tuple[Any, str]]:
    """Each of our cells, and how torch ends the names of its weights."""
    for number, layer in enumerate(ours.layers):
        for back, cell in enumerate(layer if isinstance(layer, nn.ModuleList) else [layer]):
            yield cell, f"_l{number}{'_reverse' * back}"


def read(theirs: nn.RNNBase, x: Tensor, lengths: Tensor) -> tuple[Tensor, list[State]]:
    """What the top layer says, zeros in the padding; each layer's last state, its directions side by side."""
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    said, last = theirs(packed)
    parts = last if isinstance(last, tuple) else (last,)
    sides = 2 if theirs.bidirectional else 1
    joined = [part.unflatten(0, (-1, sides)).transpose(1, 2).flatten(2) for part in parts]
    padded, _ = pad_packed_sequence(said, batch_first=True, total_length=x.shape[1])
    return padded, list(zip(*joined, strict=True))


def go_on(theirs: nn.RNNBase, x: Tensor, states: list[State]) -> tuple[Tensor, list[State]]:
    """The same from given states, every sentence to its end."""
    given = tuple(torch.stack(part) for part in zip(*states, strict=True))
    said, last = theirs(x, given if len(given) > 1 else given[0])
    parts = last if isinstance(last, tuple) else (last,)
    return said, list(zip(*parts, strict=True))
