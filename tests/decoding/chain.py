"""A stepper without a network: the next word follows from the last two and the place by a table. All its sentences can
be listed."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.decoding import Request
from tests.draws import normal

WORDS = 4
START, END = 0, 2


@dataclass(frozen=True)
class State:
    kind: Tensor
    before: Tensor
    place: int


class Chain:
    """tables[kind, place, word before, last word]: log-probabilities of the next word. A source starts with its kind;
    places come round again. (Without them, orders of the same steps would be equally likely, and no order right.)"""

    def __init__(self, tables: Tensor) -> None:
        self.tables, self.steps = tables, 0

    def start(self, source: Tensor, prefix: Tensor) -> State:
        before = prefix[:, -1] if prefix.shape[1] else torch.zeros_like(source[:, 0])
        return State(source[:, 0], before, prefix.shape[1])

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        self.steps += 1
        place = state.place % self.tables.shape[1]
        return self.tables[state.kind, place, state.before, tokens], State(state.kind, tokens, state.place + 1)

    def after(self, kind: int, so_far: tuple[int, ...]) -> list[float]:
        """The log-probabilities of the next word, without any state."""
        place = (len(so_far) - 1) % self.tables.shape[1]
        row: list[float] = self.tables[kind, place, (0, *so_far)[-2], so_far[-1]].tolist()
        return row

    def reorder(self, state: State, rows: Tensor) -> State:
        return State(state.kind[rows], state.before[rows], state.place)


def chain(seed: int, kinds: int = 3, places: int = 5) -> Chain:
    logits = 1.5 * normal(kinds, places, WORDS, WORDS, WORDS, seed=seed, dtype=torch.float32)
    return Chain(logits.log_softmax(-1))


def asked(*limits: int, prefix: tuple[int, ...] = (START,)) -> Request:
    """Sentences of kinds 0, 1, 2 …, one for each limit."""
    kinds = torch.arange(len(limits))[:, None]
    starts = torch.tensor([prefix] * len(limits))
    return Request(kinds, starts, END, torch.tensor(limits))


@dataclass(frozen=True)
class Found:
    tokens: tuple[int, ...]
    log_prob: float
    score: float
    finished: bool


def everything(chain: Chain, kind: int, limit: int, penalty: float, prefix: tuple[int, ...] = (START,)) -> list[Found]:
    """Every possible answer, best first: the finished ones, then those that the limit cuts off."""
    found = [
        Found(tokens, log_prob, log_prob / (len(tokens) + finished) ** penalty, finished)
        for tokens, log_prob, finished in _continued(chain, kind, prefix, limit)
        if log_prob > -float("inf")
    ]
    return sorted(found, key=lambda one: (not one.finished, -one.score))


def _continued(
    chain: Chain, kind: int, so_far: tuple[int, ...], left: int
) -> Iterator[tuple[tuple[int, ...], float, bool]]:
    for word, log_prob in enumerate(chain.after(kind, so_far)):
        if word == END:
            yield (), log_prob, True
        elif left == 1:
            yield (word,), log_prob, False
        else:
            for rest, more, finished in _continued(chain, kind, (*so_far, word), left - 1):
                yield (word, *rest), log_prob + more, finished
