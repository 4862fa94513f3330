"""How a loaded model that writes is led through a text: its stepper, what it is asked, how tokens are chosen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from regard.decoding import Distribution, Draw, LogProbs, Request, Stepper, likeliest
from regard.decoding.steps import Choose
from regard.errors import ConfigError, DataError, LimitError
from regard.tasks.generation import Options
from regard.tasks.generator import Generator
from regard.tasks.searching import Asked, Search, Searcher, room_for
from regard.tasks.spelling import spelt
from regard.tasks.translator import Translator
from regard.tasks.writing import Prompt, Writer
from regard.text import Tokenizer

STEPS = 20
"""Tokens that a language model adds if nothing is said."""
PLAIN = Distribution()


@dataclass(frozen=True)
class How:
    """How tokens are chosen."""

    temperature: float = 0.0
    """0: always the likeliest."""
    top_k: int | None = None
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int = 0
    beam: int | None = None
    """Hypotheses that a search keeps. None: as many as the model is used to, none where tokens are drawn."""
    max_new_tokens: int | None = None
    """Most steps, those that are forced among them; None: 20, or of a translation what the model is used to."""


@dataclass(frozen=True)
class Course:
    """`before`: the tokens of the prompt; `size`, `penalty`, `patience`: of a search, of which there is none with size
    1."""

    stepper: Stepper
    request: Request
    tokenizer: Tokenizer
    before: tuple[int, ...]
    size: int
    penalty: float
    choose: Choose = likeliest
    distribution: Distribution = PLAIN
    patience: float = inf

    @property
    def greedy(self) -> bool:
        """The likeliest token is taken each time, and the first end mark ends the text: there is no search."""
        return self.distribution.temperature == 0

    @property
    def longest(self) -> int:
        """Tokens that are read when the last one is chosen."""
        return int(self.request.prefix.shape[1] + self.request.limits[0]) - 1

    def text(self, ids: Sequence[int]) -> str:
        """What some tokens say behind what was before."""
        return spelt(self.tokenizer, ids, before=self.before)[0] if self.before else self.tokenizer.decode(list(ids))


def course(model: Any, text: str, forced: Sequence[int], how: How) -> Course:
    """For a loaded translator or language model. forced: tokens that are read before the first step."""
    for kind, find in COURSES.items():
        if isinstance(model, kind):
            return find(model, text, tuple(forced), how)
    raise ConfigError(f"{model.name or 'This model'} writes no text.", wanted="a translator or a language model")


def _translation(model: Translator, text: str, forced: tuple[int, ...], how: How) -> Course:
    source = (*model.tokenizers.source.encode(text), model.tokenizers.source.end)
    fits(len(source), model.limit, "The text")
    _known(forced, model.tokenizers.target)
    fits(len(forced) + 1, room_for(model.model, model.habits, 0), "What is forced")
    search, asked = _search(model, how), Asked(source, forced)
    searcher = Searcher(model.model, model.tokenizers, model.habits, search)
    request = searcher.request([asked])
    if how.max_new_tokens is not None:
        request = replace(request, limits=request.limits.clamp(max=max(1, how.max_new_tokens - len(forced))))
    found = Course(
        searcher.stepper(request),
        request,
        model.tokenizers.target,
        (),
        1 if search.sample else search.beam,
        search.penalty,
        patience=search.patience,
    )
    if not search.sample:
        return found if search.beam > 1 else replace(found, distribution=replace(PLAIN, temperature=0.0))
    choose = Draw(search.distribution(), search.seed, [Asked(source).number(0)])
    return replace(found, choose=choose, distribution=search.distribution())


def _search(model: Translator, how: How) -> Search:
    asked: dict[str, Any] = {"repetition_penalty": how.repetition_penalty}
    if how.beam is not None:
        asked["beam"] = how.beam
    if how.temperature > 0:
        drawn = ("temperature", "top_k", "top_p", "min_p", "seed")
        asked |= {"sample": True, **{name: getattr(how, name) for name in drawn}}
    return model.search(**asked)


def _continuation(model: Generator, text: str, forced: tuple[int, ...], how: How) -> Course:
    tokenizer = model.tokenizer
    _known(forced, tokenizer)
    ids = tuple(tokenizer.encode(text) or [tokenizer.start])
    steps = max(1, (how.max_new_tokens or STEPS) - len(forced))
    fits(len(ids) + len(forced), model.limit, "The text")
    drawn = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "seed")
    options = Options(max_new_tokens=steps, **{name: getattr(how, name) for name in drawn})
    writer = Writer(model.model, tokenizer, options)
    (prompt,) = Prompt.several(0, text, ids, 1)
    begun = replace(prompt, ids=(*ids, *forced))
    if how.beam is not None and (how.temperature > 0 or how.repetition_penalty != 1):
        told = "What is drawn or penalised is not searched for."
        raise ConfigError(told, do="leave out beam, or set temperature 0 and repetition_penalty 1")
    stepper: Stepper = writer.stepper if how.beam is None else LogProbs(writer.stepper)
    size, distribution = how.beam or 1, options.distribution() if how.beam is None else PLAIN
    return Course(stepper, writer.request([begun]), tokenizer, ids, size, 1.0, writer.choose([prompt]), distribution)


COURSES: dict[type, Callable[[Any, str, tuple[int, ...], How], Course]] = {
    Translator: _translation,
    Generator: _continuation,
}


def _known(ids: Sequence[int], tokenizer: Tokenizer) -> None:
    if strange := [id for id in ids if not 0 <= id < len(tokenizer)]:
        raise DataError(
            "A forced token is none that the model has.",
            found=str(strange[0]),
            wanted=f"numbers from 0 to {len(tokenizer) - 1}",
        )


def fits(length: int, limit: int, what: str) -> None:
    if length > limit:
        raise LimitError(
            f"{what} is longer than the model can take.",
            found=f"{length} tokens",
            wanted=f"at most {limit}",
            do="give less of it",
        )
