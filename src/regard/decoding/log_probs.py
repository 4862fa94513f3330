"""What searches add up are log-probabilities: around a stepper that gives logits."""

from dataclasses import dataclass
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding.stepper import Stepper


@dataclass(frozen=True)
class LogProbs:
    """The same stepper, its scores made to add up to 1 as probabilities."""

    stepper: Stepper

    def start(self, source: Any, prefix: Int[Tensor, "B P"]) -> Any:
        return self.stepper.start(source, prefix)

    def step(self, tokens: Int[Tensor, "R"], state: Any) -> tuple[Float[Tensor, "R V"], Any]:
        scores, state = self.stepper.step(tokens, state)
        return scores.log_softmax(-1), state

    def reorder(self, state: Any, rows: Int[Tensor, "N"]) -> Any:
        return self.stepper.reorder(state, rows)
