"""No n tokens in a row twice (Paulus 2017, section 2.5): around a stepper."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding.stepper import Stepper


@dataclass(frozen=True)
class State:
    """The stepper's own, and the tokens that the text of each row has."""

    inner: Any
    texts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class NoRepeat:
    """A stepper for which a token is impossible where it would end a run of `size` tokens that the text has already.
    The prefix, with its start mark, is part of the text, as in Hugging Face's generate."""

    stepper: Stepper
    size: int

    def start(self, source: Any, prefix: Int[Tensor, "B P"]) -> State:
        return State(self.stepper.start(source, prefix), tuple(map(tuple, prefix.tolist())))

    def step(self, tokens: Int[Tensor, "R"], state: State) -> tuple[Float[Tensor, "R V"], State]:
        scores, inner = self.stepper.step(tokens, state.inner)
        texts = tuple((*text, token) for text, token in zip(state.texts, tokens.tolist(), strict=True))
        places = [(row, token) for row, text in enumerate(texts) for token in repeating(text, self.size)]
        if places:
            scores = scores.index_put(
                tuple(torch.tensor(places, device=scores.device).T), scores.new_tensor(-torch.inf)
            )
        return scores, State(inner, texts)

    def reorder(self, state: State, rows: Int[Tensor, "N"]) -> State:
        return State(self.stepper.reorder(state.inner, rows), tuple(state.texts[row] for row in rows.tolist()))


def repeating(text: Sequence[int], size: int) -> set[int]:
    """The tokens after which the last `size` tokens would have been there before.

    >>> sorted(repeating((5, 6, 7, 5, 6, 8, 5, 6), 3))
    [7, 8]
    """
    first = len(text) - size + 1
    if first < 0:
        return set()
    begun = text[first:]
    return {text[at + size - 1] for at in range(first) if text[at : at + size - 1] == begun}
