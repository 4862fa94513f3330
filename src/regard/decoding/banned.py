"""Tokens that are never chosen: around a stepper."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding.stepper import Stepper


@dataclass(frozen=True)
class Banned:
    """The same stepper, for which these tokens are impossible. (The others are not made to add up to 1 again, as in
    Hugging Face's beam search.)"""

    stepper: Stepper
    tokens: Sequence[int]

    def start(self, source: Any, prefix: Int[Tensor, "B P"]) -> Any:
        return self.stepper.start(source, prefix)

    def step(self, tokens: Int[Tensor, "R"], state: Any) -> tuple[Float[Tensor, "R V"], Any]:
        scores, state = self.stepper.step(tokens, state)
        return scores.index_fill(1, torch.tensor(self.tokens, device=scores.device), -torch.inf), state

    def reorder(self, state: Any, rows: Int[Tensor, "N"]) -> Any:
        return self.stepper.reorder(state, rows)
