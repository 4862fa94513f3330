"""Searches by CTranslate2: float32 or int8, a batch on each core. What it cannot do, torch does.

Its beam search scores as ours does (log-probability / length^penalty, the end mark counted), keeps what ours keeps,
and ends when ours ends. It differs at the limit: it has one for a batch, and lets what was cut off there compete with
what has ended.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from regard.decoding import Hypothesis
from regard.engines.conversion import words_of
from regard.engines.opening import NAMES, Aside, Converted, Say, attends
from regard.tasks.engine import Found, batches
from regard.tasks.searching import Asked, Search, most_tokens
from regard.tasks.translator import Translator

BATCH_TOKENS = 1024
"""Of sources that are searched together; with a beam, half as many are faster."""

MANY = 1 << 20
"""More finished hypotheses than a search ever has."""


class CTranslate2Engine:
    """One translator's engine. say: is told, once for each, what torch does instead."""

    reader = "Translator"

    def __init__(self, translator: Translator, converted: Converted, say: Say) -> None:
        self.name, self.converted = NAMES[converted.precision], converted
        self.torch = translator.torch
        self.source, self.target = words_of(translator)
        self.aside, self.attends = Aside(self.name, say), attends(translator.model)
        self._numbers = {name: id for id, name in enumerate(self.target.names)}

    def search(self, asked: Sequence[Asked], how: Search) -> Iterator[Found]:
        """The long ones come first. What comes to its limit is searched again by torch, or cut off there where nothing
        competes."""
        if reason := self._lacks(asked, how):
            self.aside(reason)
            yield from self.torch.search(asked, how)
            return
        again: list[int] = []
        for batch, found in self._searched(asked, how):
            if how.beam == 1 and not how.scores:
                yield batch, [[self._cut(asked[i], *some)] for i, some in zip(batch, found, strict=True)]
                continue
            done = [self._settled(asked[i], some) for i, some in zip(batch, found, strict=True)]
            again += [i for i, well in zip(batch, done, strict=True) if not well]
            kept = [place for place, well in enumerate(done) if well]
            yield [batch[place] for place in kept], [found[place] for place in kept]
        for batch, found in self.torch.search([asked[i] for i in again], how):
            yield [again[i] for i in batch], found

    def _lacks(self, asked: Sequence[Asked], how: Search) -> str:
        """What of a request is beyond it; nothing if it can do all."""
        wanted = {
            "attention": any(one.tap() is not None for one in self.attends),
            "--sample": how.sample,
            "--prefix": any(one.prefix for one in asked),
            f"--patience {how.patience:g}": how.beam > 1 and how.beam * how.patience > MANY,
            "--repetition-penalty": how.repetition_penalty != 1,
            "--no-repeat-ngram": how.no_repeat_ngram > 0,
            f"--beam {how.beam}": 2 * how.beam > len(self.target.names),
        }
        return next((what for what, is_so in wanted.items() if is_so), "")

    def _searched(self, asked: Sequence[Asked], how: Search) -> Iterator[Found]:
        """All batches wait in a queue from which each core takes the next, the longest first."""
        limit = int(self.torch.model.config.limit)
        groups = list(batches(asked, max(BATCH_TOKENS // min(how.rows, 2), limit)))[::-1]
        waiting = [self._begun([asked[i] for i in group], how) for group in groups]
        for group, results in zip(groups, waiting, strict=True):
            yield group, [self._hypotheses(result.result(), how) for result in results]

    def _begun(self, asked: Sequence[Asked], how: Search) -> Any:
        names, model, habits = self.source.names, self.torch.model, self.torch.habits
        return self.converted.open().translate_batch(
            [[names[id] for id in one.source] for one in asked],
            asynchronous=True,
            beam_size=how.beam,
            num_hypotheses=how.nbest,
            patience=_enough(how) / how.beam,
            length_penalty=how.penalty,
            min_decoding_length=0,
            max_decoding_length=max(most_tokens(model, habits, one) for one in asked),
            max_input_length=0,
            suppress_sequences=[[self.target.names[id]] for id in habits.banned] or None,
            return_end_token=True,
            return_scores=how.scores,
        )

    def _hypotheses(self, result: Any, how: Search) -> list[Hypothesis]:
        scores = result.scores or [math.nan] * len(result.hypotheses)
        return [self._hypothesis(*one, how.penalty) for one in zip(result.hypotheses, scores, strict=True)]

    def _hypothesis(self, names: Sequence[str], score: float, penalty: float) -> Hypothesis:
        finished = names[-1:] == [self.target.end]
        tokens = tuple(self._numbers[name] for name in (names[:-1] if finished else names))
        return Hypothesis(tokens, score * len(names) ** penalty, score, finished, ())

    def _settled(self, asked: Asked, found: Sequence[Hypothesis]) -> bool:
        """Whether all have ended, and before the limit of this text."""
        return bool(found) and all(one.finished and len(one.tokens) < self._room(asked) for one in found)

    def _cut(self, asked: Asked, found: Hypothesis) -> Hypothesis:
        """What the likeliest tokens are up to the limit of this text."""
        if self._settled(asked, [found]):
            return found
        return Hypothesis(found.tokens[: self._room(asked)], math.nan, math.nan, self.torch.habits.forced_end, ())

    def _room(self, asked: Asked) -> int:
        """How many tokens may be chosen. (Where the end is forced, it is one less.)"""
        habits = self.torch.habits
        return most_tokens(self.torch.model, habits, asked) - habits.forced_end


def _enough(how: Search) -> int:
    """How many finished hypotheses end a search. (It would round beam × patience; ours goes on to the next.)"""
    return 1 if how.beam == 1 else max(how.nbest, math.ceil(how.beam * how.patience))
