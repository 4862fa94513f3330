"""A beam search as a tree: every continuation that it weighed, whom it continues, and what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch

from regard.decoding import Layer, layers
from regard.decoding.search import normalised
from regard.inside.courses import Course, How, course
from regard.tasks.spelling import surface

SIZE = 5


@dataclass(frozen=True)
class Twig:
    """One token behind another. `parent`: the number of that one; None: the start. `score`: what hypotheses are
    compared by. `row`: the row of the search that it continues."""

    number: int
    parent: int | None
    step: int
    id: int
    text: str
    log_prob: float
    score: float
    state: Literal["kept", "finished", "dropped"]
    row: int


@dataclass(frozen=True)
class Found:
    """A hypothesis: its tokens without the end mark, those that were forced among them, and its twigs."""

    text: str
    ids: tuple[int, ...]
    log_prob: float
    score: float
    finished: bool
    path: tuple[int, ...]


@dataclass(frozen=True)
class Tree:
    """`found`: what was finished, and what the limit cut off if nothing was; the first is the answer of the search."""

    size: int
    penalty: float
    twigs: tuple[Twig, ...]
    found: tuple[Found, ...]

    def rows(self, number: int) -> tuple[int, ...]:
        """The row that a hypothesis had at each step: attention is gathered along them."""
        return tuple(self.twigs[twig].row for twig in self.found[number].path)


def beams(model: Any, text: str, *, forced: Sequence[int] = (), **how: Any) -> Tree:
    """How a loaded translator or language model searches; `beam` (5 if nothing is said) and `max_new_tokens` as in
    `How`. forced: tokens that all hypotheses begin with; they have no twigs."""
    return searched(course(model, text, forced, sought(how)), forced)


def sought(how: Mapping[str, Any]) -> How:
    """How a search is asked for: with five hypotheses, if nothing is said."""
    asked = How(**how)
    return replace(asked, beam=SIZE) if asked.beam is None else asked


@torch.inference_mode()
def searched(led: Course, forced: Sequence[int]) -> Tree:
    """The tree of a search."""
    growing = _Growing(led, tuple(forced))
    penalty = 0.0 if led.greedy else led.penalty  # by its probability alone, nothing that goes on is better than an end
    for layer in layers(led.stepper, led.request, size=led.size, penalty=penalty, patience=led.patience):
        growing.add(layer)
    return Tree(led.size, led.penalty, tuple(growing.twigs), tuple(growing.found()))


@dataclass
class _Growing:
    """`live`: the twigs that stand in the rows of the next step."""

    led: Course
    forced: tuple[int, ...]
    twigs: list[Twig] = field(default_factory=list)
    live: list[int | None] = field(default_factory=lambda: [None])
    steps: int = 0
    names: dict[int, str] = field(default_factory=dict)

    def add(self, layer: Layer) -> None:
        """The continuations of one step; what is impossible is none."""
        kept = layer.kept[0].tolist()
        numbers: dict[int, int] = {}
        columns = (layer.log_probs[0], layer.tokens[0], layer.rows[0], layer.ended[0])
        for place, one in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            log_prob, token, row, ended = one
            if log_prob == -torch.inf:
                continue
            numbers[place] = len(self.twigs)
            finished = ended and place < self.led.size
            state: Any = "finished" if finished else "kept" if place in kept and not ended else "dropped"
            self.twigs.append(self._twig(token, row, log_prob, state))
        self.live = [numbers.get(place) for place in kept]
        self.steps += 1

    def found(self) -> list[Found]:
        """The finished ones, best first; if there are none, those that still grew."""
        ended = [twig for twig in self.twigs if twig.state == "finished"]
        last = [self.twigs[number] for number in self.live if number is not None and self._grows(number)]
        return [self._hypothesis(twig) for twig in sorted(ended, key=lambda twig: -twig.score)] or [
            self._hypothesis(twig) for twig in last
        ]

    def _grows(self, number: int) -> bool:
        return self.twigs[number].state == "kept"

    def _twig(self, token: int, row: int, log_prob: float, state: Any) -> Twig:
        score = normalised(log_prob, self.steps + 1, self.led.penalty)
        if token not in self.names:
            self.names[token] = surface(self.led.tokenizer, token)
        name = self.names[token]
        return Twig(len(self.twigs), self.live[row], self.steps, token, name, log_prob, score, state, row)

    def _hypothesis(self, last: Twig) -> Found:
        path = [last]
        while (parent := path[-1].parent) is not None:
            path.append(self.twigs[parent])
        made = [twig.id for twig in reversed(path)]
        finished = last.state == "finished"
        ids = (*self.forced, *(made[:-1] if finished else made))
        numbers = tuple(twig.number for twig in reversed(path))
        return Found(self.led.text(ids), ids, last.log_prob, last.score, finished, numbers)
