"""Recurrent cells as their papers print them, for one sentence, a step at a time, in numpy: what ours must equal."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from regard.layers import Embedding
from regard.layers.recurrent import LSTM, ChoGRU

Array = np.ndarray


def array(tensor: Tensor) -> Array:
    return tensor.detach().double().numpy()


def blocks(tensor: Tensor, count: int) -> list[Array]:
    """The matrices (or biases) that lie on top of each other in one."""
    return np.split(array(tensor), count)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softmax(x: Array) -> Array:
    return np.exp(x) / np.exp(x).sum()


def embedded(embedding: Embedding, tokens: Array) -> list[Array]:
    """E y of each token; here E is the matrix times the root of its width."""
    E = array(embedding.weight) * embedding.weight.shape[1] ** 0.5
    return [E[token] for token in tokens]


def cho_gru(cell: ChoGRU, x: Array, h: Array) -> Array:
    """Bahdanau 2015, appendix A.1.1."""
    (W_z, W_r, W), (b_z, b_r, b) = blocks(cell.input.weight, 3), blocks(cell.input.bias, 3)
    (U_z, U_r), U = blocks(cell.gates.weight, 2), array(cell.candidate.weight)
    z = sigmoid(W_z @ x + U_z @ h + b_z)
    r = sigmoid(W_r @ x + U_r @ h + b_r)
    proposed = np.tanh(W @ x + U @ (r * h) + b)
    return (1 - z) * h + z * proposed


def lstm(cell: LSTM, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
    """Hochreiter & Schmidhuber 1997 with forget gate; the gates in torch's order."""
    (W_i, W_f, W_g, W_o), (b_i, b_f, b_g, b_o) = blocks(cell.input.weight, 4), blocks(cell.input.bias, 4)
    U_i, U_f, U_g, U_o = blocks(cell.recurrent.weight, 4)
    i, f, o = (sigmoid(W @ x + U @ h + b) for W, U, b in ((W_i, U_i, b_i), (W_f, U_f, b_f), (W_o, U_o, b_o)))
    c = f * c + i * np.tanh(W_g @ x + U_g @ h + b_g)
    return o * np.tanh(c), c


def read_cho(cell: ChoGRU, xs: Sequence[Array], h: Array) -> list[Array]:
    """The states after each step."""
    states = []
    for x in xs:
        h = cho_gru(cell, x, h)
        states.append(h)
    return states


class Lstms:
    """Stacked LSTMs, a step at a time, from zeros or from where others ended."""

    def __init__(self, cells: Sequence[LSTM], states: Sequence[tuple[Array, Array]] | None = None) -> None:
        self.cells = list(cells)
        self.states = list(states or [(np.zeros(cell.width), np.zeros(cell.width)) for cell in self.cells])

    def step(self, x: Array) -> Array:
        for number, cell in enumerate(self.cells):
            self.states[number] = lstm(cell, x, *self.states[number])
            x, _ = self.states[number]
        return x
