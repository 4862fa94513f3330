"""Tokens that are given are chosen first: around a way to choose."""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding.steps import Choose, Rows


@dataclass(frozen=True)
class Forced:
    """For each sentence of the request (by its place) tokens that it must begin with, whatever the model thinks of
    them; then `then` chooses. Unlike a prefix, they are steps like any other, with probabilities and alternatives."""

    tokens: Sequence[Sequence[int]]
    then: Choose

    def __call__(self, scores: Float[Tensor, "R V"], rows: Rows) -> Int[Tensor, "R"]:
        chosen = self.then(scores, rows).clone()
        for row, sentence in enumerate(rows.sentences):
            given, place = self.tokens[sentence], len(rows.made[sentence])
            if place < len(given):
                chosen[row] = given[place]
        return chosen
