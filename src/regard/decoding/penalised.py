"""A repetition penalty for searches, which take none: around a stepper."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding.distribution import repetition_penalty, tokens_in
from regard.decoding.stepper import Stepper


@dataclass(frozen=True)
class State:
    """The stepper's own, and the tokens that the text of each row has."""

    inner: Any
    texts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Penalised:
    """A stepper whose log-probabilities hold the penalty (not made to add up to 1 again, as in Hugging Face's beam
    search). `prompts` as in `Draw`."""

    stepper: Stepper
    penalty: float
    prompts: Sequence[Sequence[int]] | None = None

    def start(self, source: Any, prefix: Int[Tensor, "B P"]) -> State:
        texts = prefix.tolist() if self.prompts is None else self.prompts
        return State(self.stepper.start(source, prefix), tuple(map(tuple, texts)))

    def step(self, tokens: Int[Tensor, "R"], state: State) -> tuple[Float[Tensor, "R V"], State]:
        scores, inner = self.stepper.step(tokens, state.inner)
        texts = tuple((*text, token) for text, token in zip(state.texts, tokens.tolist(), strict=True))
        return repetition_penalty(scores, tokens_in(texts, like=scores), self.penalty), State(inner, texts)

    def reorder(self, state: State, rows: Int[Tensor, "N"]) -> State:
        return State(self.stepper.reorder(state.inner, rows), tuple(state.texts[row] for row in rows.tolist()))
