"""Recurrent layers: what was read so far is kept in a state, and each new word changes it.

A cell does in `project` what needs no state, for all steps in one product, and in `step` what does. Its state is a
tuple of tensors (R D), the first of which is what others see; it keeps its precision under autocast. Padding needs no
mask: it stands behind each sentence, so that it cannot touch the sentence's states, and the last state is taken where
the sentence ends.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from regard.layers.dropout import Dropout

State = tuple[Tensor, ...]


@runtime_checkable
class Cell(Protocol):
    """One recurrent layer, in one direction."""

    width: int
    parts: int
    """Tensors in a state."""

    def project(self, x: Float[Tensor, "*batch E"]) -> Float[Tensor, "*batch G"]: ...

    def step(self, projected: Float[Tensor, "R G"], state: State) -> State: ...


class GRU(nn.Module):
    """The gated recurrent unit as torch and cuDNN compute it: the reset gate acts behind the recurrent product.

    r = σ(W_r x + U_r h)    z = σ(W_z x + U_z h)    n = tanh(W_n x + r ∘ (U_n h + b))    h' = (1 − z) ∘ n + z ∘ h
    """

    parts = 1

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.input = _blocks(inputs, width, 3)
        self.recurrent = _recurrent(width, 3, bias=True)

    def project(self, x: Float[Tensor, "*batch E"]) -> Float[Tensor, "*batch G"]:
        projected: Tensor = self.input(x)
        return projected

    def step(self, projected: Float[Tensor, "R G"], state: State) -> State:
        (h,) = state
        sizes = (2 * self.width, self.width)
        gates, candidate = projected.split_with_sizes(sizes, dim=-1)
        from_state, memory = self.recurrent(h).split_with_sizes(sizes, dim=-1)
        r, z = torch.sigmoid(gates + from_state).chunk(2, dim=-1)
        n = torch.tanh(torch.addcmul(candidate, r, memory))
        return (torch.lerp(n.to(h), h, z.to(h)),)


class ChoGRU(nn.Module):
    """The gated recurrent unit as it was published (Cho 2014; here in the letters of Bahdanau 2015, appendix A.1.1):
    the reset gate acts before the recurrent product.

        z = σ(W_z x + U_z h)    r = σ(W_r x + U_r h)    h̃ = tanh(W x + U [r ∘ h])    h' = (1 − z) ∘ h + z ∘ h̃

    (Cho's own z is 1 − z here.)
    """

    parts = 1

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.input = _blocks(inputs, width, 3)
        self.gates = _recurrent(width, 2)
        self.candidate = _recurrent(width, 1)

    def project(self, x: Float[Tensor, "*batch E"]) -> Float[Tensor, "*batch G"]:
        projected: Tensor = self.input(x)
        return projected

    def step(self, projected: Float[Tensor, "R G"], state: State) -> State:
        (h,) = state
        gates, candidate = projected.split_with_sizes((2 * self.width, self.width), dim=-1)
        z, r = torch.sigmoid(gates + self.gates(h)).chunk(2, dim=-1)
        proposed = torch.tanh(candidate + self.candidate(r * h))
        return (torch.lerp(h, proposed.to(h), z.to(h)),)


class LSTM(nn.Module):
    """Long short-term memory (Hochreiter & Schmidhuber 1997, with the forget gate of Gers 2000), as torch computes it.

    i, f, o = σ(W x + U h)    g = tanh(W_g x + U_g h)    c' = f ∘ c + i ∘ g    h' = o ∘ tanh(c')
    """

    parts = 2

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.input = _blocks(inputs, width, 4)
        self.recurrent = _recurrent(width, 4)
        with torch.no_grad():  # to begin with, what is in memory stays (Jozefowicz 2015)
            self.input.bias[width : 2 * width] = 1.0

    def project(self, x: Float[Tensor, "*batch E"]) -> Float[Tensor, "*batch G"]:
        projected: Tensor = self.input(x)
        return projected

    def step(self, projected: Float[Tensor, "R G"], state: State) -> State:
        h, c = state
        i, f, g, o = (projected + self.recurrent(h)).chunk(4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


CELLS = {"gru": GRU, "gru-cho": ChoGRU, "lstm": LSTM}


def run(cell: Cell, x: Float[Tensor, "B T E"], state: State | None = None) -> list[State]:
    """The states after each step, from the given one or from zeros."""
    if state is None:
        state = (x.new_zeros(x.shape[0], cell.width),) * cell.parts
    states = []
    for projected in cell.project(x.transpose(0, 1)).unbind(0):
        state = cell.step(projected, state)
        states.append(state)
    return states


def backwards(x: Shaped[Tensor, "B S *rest"], lengths: Int[Tensor, "B"]) -> Shaped[Tensor, "B S *rest"]:
    """Each row from its last real place to its first; padding stays behind. Done twice, it is undone."""
    places = torch.arange(x.shape[1], device=x.device)
    mirrored = torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)
    rows = torch.arange(x.shape[0], device=x.device)[:, None] * x.shape[1] + mirrored
    return x.flatten(0, 1).index_select(0, rows.flatten()).view_as(x)  # x[…, mirrored] is five times slower backward


class Encoder(nn.Module):
    """Recurrent layers over a whole sentence, in one direction or two; each direction has its share of the width."""

    def __init__(
        self, cell: str, *, inputs: int, width: int, layers: int = 1, directions: int = 1, dropout: float = 0.0
    ) -> None:
        super().__init__()
        sizes = [inputs, *[width] * (layers - 1)]
        make, share = CELLS[cell], width // directions
        self.layers = nn.ModuleList(nn.ModuleList(make(size, share) for _ in range(directions)) for size in sizes)
        self.dropout = Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "B S E"], lengths: Int[Tensor, "B"]
    ) -> tuple[Float[Tensor, "B S D"], list[State]]:
        """What the top layer says at each word, and each layer's last state."""
        finals = []
        layers: Iterable[Any] = self.layers
        for number, directions in enumerate(layers):
            x = self.dropout(x) if number else x
            read = [_read(cell, x, lengths, back=bool(back)) for back, cell in enumerate(directions)]
            x = torch.cat([outputs for outputs, _ in read], dim=-1)
            finals.append(tuple(torch.cat(part, dim=-1) for part in zip(*(last for _, last in read), strict=True)))
        return x, finals


class Decoder(nn.Module):
    """Recurrent layers that go on from given states, any number of steps at a time."""

    def __init__(self, cell: str, *, inputs: int, width: int, layers: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        sizes = [inputs, *[width] * (layers - 1)]
        self.layers = nn.ModuleList(CELLS[cell](size, width) for size in sizes)
        self.dropout = Dropout(dropout)

    def forward(self, x: Float[Tensor, "R T E"], states: Sequence[State]) -> tuple[Float[Tensor, "R T D"], list[State]]:
        """What the top layer says at each step, and each layer's state after the last."""
        lasts = []
        for number, (cell, state) in enumerate(zip(self.layers, states, strict=True)):
            made = run(cell, self.dropout(x) if number else x, state)  # type: ignore[arg-type]
            x = torch.stack([visible for visible, *_ in made], dim=1)
            lasts.append(made[-1])
        return x, lasts


def _read(cell: Cell, x: Tensor, lengths: Tensor, *, back: bool) -> tuple[Tensor, State]:
    """One direction of one layer: what it says at each word, and its state after the last one it reads."""
    states = run(cell, backwards(x, lengths) if back else x)
    parts = [torch.stack(part, dim=1) for part in zip(*states, strict=True)]
    last = tuple(part[torch.arange(len(x), device=x.device), lengths - 1] for part in parts)
    return backwards(parts[0], lengths) if back else parts[0], last


def _blocks(inputs: int, width: int, count: int, *, bias: bool = True) -> nn.Linear:
    """Several matrices (inputs → width) on top of each other, each started on its own."""
    linear = nn.Linear(inputs, count * width, bias=bias)
    for block in linear.weight.chunk(count):
        nn.init.xavier_uniform_(block)
    if bias:
        nn.init.zeros_(linear.bias)
    return linear


def _recurrent(width: int, count: int, *, bias: bool = False) -> nn.Linear:
    """The same from state to state: orthogonal to begin with, so that states neither fade nor explode (Saxe 2014)."""
    linear = _blocks(width, width, count, bias=bias)
    for block in linear.weight.chunk(count):
        nn.init.orthogonal_(block)
    return linear
