"""How translations are looked for: what may be asked, what a model is used to, and the search itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from regard.config import Tree
from regard.data.batches import Sentences, pad
from regard.decoding import (
    Banned,
    Distribution,
    Draw,
    ForcedEnd,
    Hypothesis,
    LogProbs,
    NoRepeat,
    Penalised,
    Request,
    Stepper,
    beam,
    greedy,
    sample,
)
from regard.errors import ConfigError
from regard.seeds import derive
from regard.tasks.pairs import Tokenizers


@dataclass(frozen=True)
class Search:
    """What is asked of a search."""

    beam: int = 5
    """Hypotheses that are kept; 1 takes the likeliest token each time."""
    nbest: int = 1
    """Translations of each text."""
    penalty: float = 1.0
    """0 compares hypotheses by probability, which favours short ones; 1 compares per token."""
    patience: float = 1.0
    """A search ends when so many times `beam` hypotheses are finished; inf: not before nothing better can come."""
    truncate: bool = False
    """A text that is too long is cut."""
    scores: bool = True
    """Scores are wanted, too; without them an engine may be faster."""
    repetition_penalty: float = 1.0
    no_repeat_ngram: int = 0
    """No so many tokens in a row twice; 0: as often as may be."""
    sample: bool = False
    """Tokens are drawn, as the following say, and no hypotheses kept; `nbest` texts are drawn one by one."""
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0
    """What is drawn depends on the seed, the text and its prefix, on nothing else."""

    def __post_init__(self) -> None:
        self.distribution()  # checks itself
        if not 1 <= self.nbest <= max(self.rows, 1) or self.beam < 1 or not 0 <= self.penalty <= 10:
            raise ConfigError(
                "These search settings cannot be used.",
                found=f"beam {self.beam}, n-best {self.nbest}, length penalty {self.penalty}",
                wanted="beam ≥ n-best ≥ 1, length penalty from 0 to 10",
                do="raise --beam, or lower --nbest",
            )
        if not self.patience > 0:
            told = f"--patience {self.patience:g} cannot be used."
            raise ConfigError(told, wanted="more than 0; 1 is usual, inf goes on until nothing better can come")
        if self.no_repeat_ngram < 0:
            told = f"--no-repeat-ngram {self.no_repeat_ngram} cannot be used."
            raise ConfigError(told, wanted="0 (as often as may be) or more; 3 is usual")
        if not self.sample and (drawing := self._drawing()):
            raise ConfigError(f"{' and '.join(drawing)}: only for translations that are drawn.", do="add --sample")

    def distribution(self) -> Distribution:
        """What tokens are drawn from."""
        return Distribution(self.temperature, self.top_k, self.top_p, self.min_p, self.repetition_penalty)

    @property
    def rows(self) -> int:
        """How many hypotheses of a text stand side by side."""
        return self.nbest if self.sample else self.beam

    def _drawing(self) -> list[str]:
        """The options that a search has no place for."""
        given = {
            "--temperature": self.temperature != 1,
            "--top-k": self.top_k is not None,
            "--top-p": self.top_p != 1,
            "--min-p": self.min_p != 0,
            "--seed": self.seed != 0,
        }
        return [flag for flag, used in given.items() if used]


@dataclass(frozen=True)
class Habits:
    """What a model is used to, where nothing else is asked for, and what it never does."""

    beam: int = 5
    penalty: float = 1.0
    limit: int | None = None
    """Most tokens of a translation, the end mark included; None: twice as many as the source has, and 20."""
    banned: tuple[int, ...] = ()
    """Tokens that are never written."""
    forced_end: bool = False
    """A translation that comes to its limit ends there with the end mark, as if it were complete."""
    renormalise: bool = False
    """What is left when something is banned or penalised is made to add up to 1 again."""

    @classmethod
    def of(cls, settings: Tree) -> "Habits":
        """From the settings of a model."""
        return cls(**{**settings, "banned": tuple(settings.get("banned", ()))})

    def search(self, **asked: Any) -> Search:
        """What was asked, and for the rest what the model is used to."""
        searching = {
            "--beam": "beam" in asked,
            "--length-penalty": "penalty" in asked,
            "--patience": asked.get("patience", 1) != 1,
        }
        for flag, used in searching.items():
            if asked.get("sample") and used:
                raise ConfigError(f"--sample and {flag} exclude each other.", do="leave out one of them")
        return Search(**{"beam": self.beam, "penalty": self.penalty, **asked})


USUAL = Habits()


@dataclass(frozen=True)
class Translation:
    """One translation of one text. `score`: log-probability per token (if scores are not wanted it may be NaN);
    `finished`: the end mark was reached. What was given as its beginning is in `text`, not in the figures."""

    text: str
    score: float
    log_prob: float
    finished: bool


NOTHING = Translation("", 0.0, 0.0, True)
"""The translation of an empty text."""


@dataclass(frozen=True)
class Asked:
    """A text as the model reads it, the end mark included, and the tokens that its translation begins with."""

    source: tuple[int, ...]
    prefix: tuple[int, ...] = ()

    def number(self, copy: int) -> int:
        """That of its lots: the same wherever the text stands."""
        return derive(derive(0, "source", *self.source, -1, *self.prefix), "sample", copy)


class Searcher:
    """A model at work on texts, whose translations all begin with equally many given tokens."""

    def __init__(self, model: Any, tokenizers: Tokenizers, habits: Habits, search: Search) -> None:
        self.model, self.tokenizers, self.habits, self.search = model, tokenizers, habits, search

    def __call__(self, asked: Sequence[Asked]) -> list[list[Hypothesis]]:
        """What was found for each text, best first; what was drawn, as it was drawn."""
        return self._drawn(asked) if self.search.sample else self._found(asked)

    def _found(self, asked: Sequence[Asked]) -> list[list[Hypothesis]]:
        request, search = self.request(asked), self.search
        stepper = self.stepper(request)
        if search.beam == 1:
            return [[one] for one in greedy(stepper, request, penalty=search.penalty)]
        size, nbest = search.beam, search.nbest
        return beam(stepper, request, size=size, nbest=nbest, penalty=search.penalty, patience=search.patience)

    def _drawn(self, asked: Sequence[Asked]) -> list[list[Hypothesis]]:
        copies = range(self.search.nbest)
        request = self.request([one for one in asked for _ in copies])
        draw = Draw(
            self.search.distribution(), self.search.seed, [one.number(copy) for one in asked for copy in copies]
        )
        found = sample(self.stepper(request), request, choose=draw)
        return [found[first : first + len(copies)] for first in range(0, len(found), len(copies))]

    def request(self, asked: Sequence[Asked]) -> Request:
        """The texts as one rectangle."""
        source, lengths = pad([one.source for one in asked], self.tokenizers.source.pad)
        target, device = self.tokenizers.target, next(self.model.parameters()).device
        prefix = torch.tensor([(target.start, *one.prefix) for one in asked], device=device)
        limits = torch.tensor([most_tokens(self.model, self.habits, one) for one in asked])
        return Request(Sentences(source.to(device), lengths.to(device)), prefix, target.end, limits)

    def stepper(self, request: Request) -> Stepper:
        """The model, and around it what it may not do, in the order of Hugging Face's generate."""
        search, habits = self.search, self.habits
        stepper: Stepper = self.model
        if search.repetition_penalty != 1 and not search.sample:  # what is drawn is penalised there
            stepper = Penalised(stepper, search.repetition_penalty)
        if search.no_repeat_ngram:
            stepper = NoRepeat(stepper, search.no_repeat_ngram)
        if habits.banned:
            stepper = Banned(stepper, habits.banned)
        if habits.forced_end:
            stepper = ForcedEnd(stepper, request.end, request.limits)
        return LogProbs(stepper) if habits.renormalise else stepper


def most_tokens(model: Any, habits: Habits, asked: Asked) -> int:
    """Of a translation, without its prefix, the end mark included."""
    room = room_for(model, habits, len(asked.prefix))
    return room if habits.limit is not None else min(2 * len(asked.source) + 20, room)


def room_for(model: Any, habits: Habits, prefix: int) -> int:
    """How many tokens may be written after a prefix of so many, the end mark included."""
    limit = int(model.config.limit)
    return (limit if habits.limit is None else min(limit, habits.limit)) - prefix
