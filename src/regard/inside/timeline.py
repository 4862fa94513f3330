"""A text as it was written: what was chosen at each step, how sure that was, what else could have been."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import Any

from regard.decoding import Choice, Forced, Step, beam, steps
from regard.decoding.steps import Ending
from regard.inside.courses import Course, How, course
from regard.tasks.spelling import surface


@dataclass(frozen=True)
class Option:
    """A token that could be chosen. `probability`: the model's own; `drawn`: after temperature, top-k, top-p and so on,
    0 if they cut it away."""

    id: int
    text: str
    probability: float
    drawn: float


@dataclass(frozen=True)
class Moment:
    """One step. Probability, rank (1: the likeliest) and entropy (in nats) are the model's own. (A translator that
    searches with a repetition penalty: with the penalty.)"""

    chosen: Option
    rank: int
    entropy: float
    candidates: int
    """How many tokens were left to draw from."""
    forced: bool
    options: tuple[Option, ...]
    """The model's likeliest, best first."""


@dataclass(frozen=True)
class Timeline:
    """`ids`: without the end mark, which is the last moment where it was chosen. `log_prob`: of all moments."""

    text: str
    ids: tuple[int, ...]
    log_prob: float
    ending: Ending
    moments: tuple[Moment, ...]


def timeline(model: Any, text: str, *, forced: Sequence[int] = (), top: int = 10, **how: Any) -> Timeline:
    """How a loaded translator translates a text, or a language model continues it; options as in `How`.

    forced: tokens that it begins with, whatever the model thinks of them. To see what another word at step t would have
    led to, force what was chosen before it, and that word. Where there is a search, the moments are those of what it
    found."""
    asked = How(**how)
    begun = course(model, text, forced, asked)
    path = tuple(forced)
    if begun.size > 1:
        stepper, request = begun.stepper, begun.request
        (best,) = beam(stepper, request, size=begun.size, penalty=begun.penalty, patience=begun.patience)[0]
        path += (*best.tokens, *([begun.request.end] if best.finished else []))
    led = course(model, text, (), asked)
    led = replace(led, request=replace(led.request, limits=led.request.limits.clamp(min=len(path))))
    if begun.size > 1:  # it ends where the search ended
        led = replace(led, request=replace(led.request, limits=led.request.limits.clamp(max=len(path))))
    found = list(_moments(led, path, len(forced), top))
    ids = tuple(moment.chosen.id for moment, _, _ in found)
    ending = found[-1][2] or "limit"
    kept = ids[:-1] if ending == "end" else ids
    return Timeline(
        led.text(kept), kept, sum(log_prob for _, log_prob, _ in found), ending, tuple(m for m, _, _ in found)
    )


def _moments(led: Course, path: Sequence[int], forced: int, top: int) -> Iterator[tuple[Moment, float, Ending | None]]:
    """Each moment, its log-probability, and why the text ends with it."""
    made: list[int] = []
    for step in steps(led.stepper, led.request, choose=Forced([path], led.choose)):
        (choice,) = step.choices(top)
        yield _moment(led, step, choice, made, forced), choice.log_prob, choice.ending
        made.append(choice.token)


def _moment(led: Course, step: Step, choice: Choice, made: Sequence[int], forced: int) -> Moment:
    drawn = led.distribution(step.scores, [[*led.before, *made]]).softmax(-1)[0]

    def option(id: int, log_prob: float) -> Option:
        return Option(id, surface(led.tokenizer, id), exp(log_prob), float(drawn[id]))

    return Moment(
        chosen=option(choice.token, choice.log_prob),
        rank=choice.rank,
        entropy=float(step.entropies()[0]),
        candidates=int((drawn > 0).sum()),
        forced=len(made) < forced,
        options=tuple(option(*one) for one in choice.alternatives),
    )
