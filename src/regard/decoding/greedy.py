"""The likeliest word, one after another."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding.distribution import best
from regard.decoding.search import Hypothesis, Request
from regard.decoding.stepper import Stepper
from regard.decoding.steps import Rows, Step, collect, walk


def likeliest(scores: Float[Tensor, "R V"], rows: Rows) -> Int[Tensor, "R"]:
    """The best token of each row, whoever stands in it."""
    return best(scores)


@torch.inference_mode()
def greedy(stepper: Stepper, request: Request, *, penalty: float = 1.0) -> list[Hypothesis]:
    """One hypothesis per sentence. A sentence that has ended leaves the batch, so that the others go faster."""
    found = walk(stepper, request, likeliest)
    return collect(found, len(request.prefix), measure=Step.chosen, penalty=penalty)
