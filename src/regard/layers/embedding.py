"""From token ids to vectors, and the same matrix back from vectors to scores over the vocabulary."""

from math import sqrt

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.errors import ConfigError


class Embedding(nn.Module):
    """E[token]·√D (Vaswani 2017, section 3.4). Entries start with variance 1/D, so that what comes out has variance 1
    and, tied to the output, the first logits have variance 1 too."""

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, width))
        self.scale = sqrt(width)
        nn.init.normal_(self.weight, std=width**-0.5)

    def forward(self, tokens: Int[Tensor, "*batch"]) -> Float[Tensor, "*batch D"]:
        return F.embedding(tokens, self.weight) * self.scale


def embeddings(tie: str, width: int, *, source: int, target: int, joint: bool) -> tuple[Embedding, Embedding]:
    """Those of target and source: one matrix for both if tie is "all", which needs one vocabulary."""
    if tie == "all" and not joint:
        raise ConfigError(
            "model.tie=all needs one vocabulary for both languages.",
            found="a vocabulary each (tokenizer.joint=false)",
            do="set model.tie=target, or tokenizer.joint=true",
        )
    if tie == "all" and source != target:
        raise ConfigError(
            'model.tie="all" shares one embedding matrix between source and target, which needs one vocabulary.',
            found=f"{source} source tokens, {target} target tokens",
            do="set model.tie=target, or tokenizer.joint=true",
        )
    shared = Embedding(target, width)
    return shared, shared if tie == "all" else Embedding(source, width)
