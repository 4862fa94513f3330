"""Texts that outgrow what a model can look at: the window slides.

When a window is full, its older half is forgotten and the rest is read again, as if the text began there. So each token
is read about twice, however long the text gets. (To forget a single token, all others would have to be read again too:
what was made of them holds their positions, and what they saw.)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from regard.decoding.stepper import Stepper

Tokens = tuple[int, ...]


def forgotten(read: int, limit: int) -> int:
    """How many tokens of a text are out of sight when so many were read.

    >>> [forgotten(read, 6) for read in (6, 7, 9, 10, 12, 13)]
    [0, 3, 3, 6, 6, 9]
    """
    half = limit // 2
    return -(-max(0, read - limit) // half) * half


@dataclass(frozen=True)
class State:
    """The stepper's own; for each row the tokens that it sees, and how many it has read."""

    inner: Any
    windows: tuple[Tokens, ...]
    read: tuple[int, ...]


@dataclass(frozen=True)
class Sliding:
    """A stepper without a limit, around one that looks at `limit` tokens at most and whose source says how much padding
    stands before each prompt. A row slides when its own text is too long, whatever else is in the batch. What several
    rows have in common is read once."""

    stepper: Stepper
    limit: int

    def start(self, source: Int[Tensor, "B"] | None, prefix: Int[Tensor, "B P"]) -> State:
        padding = [0] * len(prefix) if source is None else source.tolist()
        texts = [tuple(row[some:]) for row, some in zip(prefix.tolist(), padding, strict=True)]
        windows = tuple(text[forgotten(len(text), self.limit) :] for text in texts)
        return State(self._read(windows, prefix.device), windows, tuple(map(len, texts)))

    def step(self, tokens: Int[Tensor, "R"], state: State) -> tuple[Tensor, State]:
        inner, windows = state.inner, state.windows
        if any(len(window) >= self.limit for window in windows):
            windows = tuple(self._slid(*row) for row in zip(windows, state.read, strict=True))
            inner = self._read(windows, tokens.device)
        scores, inner = self.stepper.step(tokens, inner)
        windows = tuple((*window, token) for window, token in zip(windows, tokens.tolist(), strict=True))
        return scores, State(inner, windows, tuple(read + 1 for read in state.read))

    def reorder(self, state: State, rows: Int[Tensor, "N"]) -> State:
        chosen = rows.tolist()
        windows, read = tuple(state.windows[row] for row in chosen), tuple(state.read[row] for row in chosen)
        return State(self.stepper.reorder(state.inner, rows), windows, read)

    def _slid(self, window: Tokens, read: int) -> Tokens:
        """What is in sight when one more token is read, without it."""
        return window[len(window) + forgotten(read + 1, self.limit) - read :]

    def _read(self, windows: Sequence[Tokens], device: torch.device) -> Any:
        """The state after these, read as texts of their own: equal ones once."""
        different = list(dict.fromkeys(windows))
        longest = max(map(len, different), default=0)
        padding = [longest - len(window) for window in different]
        rows = [[0] * some + list(window) for window, some in zip(different, padding, strict=True)]
        prefix = torch.tensor(rows, dtype=torch.long, device=device).reshape(len(different), longest)
        inner = self.stepper.start(torch.tensor(padding, dtype=torch.long, device=device), prefix)
        if len(different) == len(windows):
            return inner
        places = {window: row for row, window in enumerate(different)}
        return self.stepper.reorder(inner, torch.tensor([places[window] for window in windows], device=device))
