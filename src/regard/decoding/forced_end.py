"""A text that comes to its limit ends there: around a stepper."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding.stepper import Stepper


@dataclass(frozen=True)
class State:
    """The stepper's own, and how many tokens each row may still get."""

    inner: Any
    left: Int[Tensor, "R"]


@dataclass(frozen=True)
class ForcedEnd:
    """A stepper for which the last token that a limit allows is the end mark, at no cost: what is cut off then counts
    as ended. `limits` are those of the request, a number for each sentence."""

    stepper: Stepper
    end: int
    limits: Int[Tensor, "B"]

    def start(self, source: Any, prefix: Int[Tensor, "B P"]) -> State:
        return State(self.stepper.start(source, prefix), self.limits.to(prefix.device))

    def step(self, tokens: Int[Tensor, "R"], state: State) -> tuple[Float[Tensor, "R V"], State]:
        scores, inner = self.stepper.step(tokens, state.inner)
        last = state.left == 1
        if bool(last.any()):
            only = torch.full_like(scores[:1], -torch.inf)
            only[:, self.end] = 0
            scores = torch.where(last[:, None], only, scores)
        return scores, State(inner, state.left - 1)

    def reorder(self, state: State, rows: Int[Tensor, "N"]) -> State:
        return State(self.stepper.reorder(state.inner, rows), state.left[rows])
