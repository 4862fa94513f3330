"""A stepper without a network: the next word follows from the last two by a table. All its sentences can be listed."""

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


class Chain:
    """tables[kind, word before, last word]: log-probabilities of the next word; a source starts with its kind."""

    def __init__(self, tables: Tensor) -> None:
        self.tables, self.steps = tables, 0

    def start(self, source: Tensor, lengths: Tensor, prefix: Tensor) -> State:
        return State(source[:, 0], prefix[:, -1] if prefix.shape[1] else torch.zeros_like(source[:, 0]))

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        self.steps += 1
        return self.tables[state.kind, state.before, tokens], State(state.kind, tokens)

    def reorder(self, state: State, rows: Tensor) -> State:
        return State(state.kind[rows], state.before[rows])


def chain(seed: int, kinds: int = 3, words: int = WORDS) -> Chain:
    logits = 1.5 * normal(kinds, words, words, words, seed=seed, dtype=torch.float32)
    return Chain(logits.log_softmax(-1))


def asked(*limits: int, prefix: tuple[int, ...] = (START,)) -> Request:
    """Sentences of kinds 0, 1, 2 …, one for each limit."""
    kinds = torch.arange(len(limits))[:, None]
    starts = torch.tensor([prefix] * len(limits))
    return Request(kinds, torch.ones(len(limits), dtype=torch.long), starts, END, torch.tensor(limits))


@dataclass(frozen=True)
class Found:
    tokens: tuple[int, ...]
    log_prob: float
    score: float
    finished: bool


def everything(chain: Chain, kind: int, limit: int, penalty: float, prefix: tuple[int, ...] = (START,)) -> list[Found]:
    """Every possible answer, best first: the finished ones, then those that the limit cuts off."""
    table = chain.tables[kind].tolist()
    found = [
        Found(tokens, log_prob, log_prob / (len(tokens) + finished) ** penalty, finished)
        for tokens, log_prob, finished in _continued(table, prefix, limit)
        if log_prob > -float("inf")
    ]
    return sorted(found, key=lambda one: (not one.finished, -one.score))


def _continued(
    table: list[list[list[float]]], so_far: tuple[int, ...], left: int
) -> Iterator[tuple[tuple[int, ...], float, bool]]:
    before, last = (0, *so_far)[-2:]
    for word, log_prob in enumerate(table[before][last]):
        if word == END:
            yield (), log_prob, True
        elif left == 1:
            yield (word,), log_prob, False
        else:
            for rest, more, finished in _continued(table, (*so_far, word), left - 1):
                yield (word, *rest), log_prob + more, finished
