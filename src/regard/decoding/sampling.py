"""A token drawn by lot, one after another.

The lot of a sentence at a step is a function of the seed, the sentence's number and the step (docs/decisions/0001):
the same seed gives the same text, whatever else is in the batch and whoever has left it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding.distribution import Distribution
from regard.decoding.search import Hypothesis, Request
from regard.decoding.stepper import Stepper
from regard.decoding.steps import Choose, Rows, Stop, collect, never, walk
from regard.seeds import derive


@dataclass(frozen=True)
class Draw:
    """Chooses by lot. `numbers` says which lots each sentence of the request gets, its place by default: a text that
    keeps its number keeps its draws in another batch. `prompts` are the tokens that its text starts with, for the
    repetition penalty; by default the request's prefix, which is wrong where that is padded or not all of the text."""

    distribution: Distribution
    seed: int
    numbers: Sequence[int] | None = None
    prompts: Sequence[Sequence[int]] | None = None

    def __call__(self, scores: Float[Tensor, "R V"], rows: Rows) -> Int[Tensor, "R"]:
        penalised = self.distribution.repetition_penalty != 1
        scores = self.distribution(scores, self._texts(rows) if penalised else ())
        return drawn(scores, torch.tensor(self._lots(rows), dtype=torch.float64, device=scores.device))

    def _texts(self, rows: Rows) -> list[list[int]]:
        prompts = rows.prefix if self.prompts is None else self.prompts
        return [[*prompts[sentence], *rows.made[sentence]] for sentence in rows.sentences]

    def _lots(self, rows: Rows) -> list[float]:
        numbers = range(len(rows.made)) if self.numbers is None else self.numbers
        return [lot(self.seed, numbers[sentence], len(rows.made[sentence])) for sentence in rows.sentences]


def lot(seed: int, number: int, step: int) -> float:
    """Evenly from 0 up to (not including) 1."""
    return (derive(seed, "sampling", number, step) >> 10) / 2**53


def drawn(scores: Float[Tensor, "R V"], lots: Float[Tensor, "R"]) -> Int[Tensor, "R"]:
    """The token on whose share of the line from 0 to 1 the lot falls; never one whose share is nothing."""
    ends = scores.softmax(-1).cumsum(-1, dtype=torch.float64)
    return torch.searchsorted(ends, lots[:, None] * ends[:, -1:], right=True)[:, 0]


@torch.inference_mode()
def sample(stepper: Stepper, request: Request, *, choose: Choose, stop: Stop = never) -> list[Hypothesis]:
    """One hypothesis per sentence; `choose` is a `Draw` as a rule. Log-probabilities are the model's own, before
    anything was done to its distribution; a hypothesis that `stop` ended counts as not finished."""
    return collect(walk(stepper, request, choose, stop), len(request.prefix))
