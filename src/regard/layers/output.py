"""From the state of a decoder to the next word."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.layers.embedding import Embedding


def output_layer(embedding: Embedding, *, tied: bool, width: int = 0, bias: bool = False) -> nn.Linear:
    """From states of that width (the embedding's, if none is given) to scores over the vocabulary: with the embedding's
    own matrix (Press & Wolf 2017), or with another. bias: with a score for each word, which begins at 0."""
    vocabulary, own = embedding.weight.shape
    width = width or own
    if tied and width != own:
        raise ConfigError(
            "The output cannot share the matrix of the embedding: they are not equally wide.",
            found=f"{width} for the output, {own} for the embedding",
            do="make them equal (0 does), or set model.tie=none",
        )
    output = nn.Linear(width, vocabulary, bias=False)
    if bias:
        output.bias = nn.Parameter(torch.zeros(vocabulary))
    if tied:
        output.weight = embedding.weight
    else:
        nn.init.normal_(output.weight, std=width**-0.5)
    return output


def log_probabilities(output: nn.Linear, hidden: Float[Tensor, "R D"]) -> Float[Tensor, "R V"]:
    """log p(next word), never less precise than float32."""
    logits = output(hidden)
    return F.log_softmax(logits, dim=-1, dtype=torch.promote_types(logits.dtype, torch.float32))
