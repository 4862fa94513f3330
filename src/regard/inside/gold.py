"""Links that are known beside links that are seen: for sentences of the built-in corpus, whose grammar drew them."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from regard.data import corpora
from regard.data.corpora import Pair
from regard.data.corpora.links import possible
from regard.errors import ConfigError
from regard.evaluation.alignment import Gold, score_alignments
from regard.tasks.alignment import EVERY, Choice
from regard.tasks.links import SYMMETRISATIONS, Links
from regard.tasks.translator import Translator
from regard.tasks.word_texts import WordPair
from regard.tasks.word_weights import word_weights


@dataclass(frozen=True)
class Known:
    """A pair whose links are known: (source word, target word), counted from 0."""

    pair: WordPair
    gold: Gold

    def swapped(self) -> "Known":
        return Known(self.pair.swapped(), self.gold.swapped())


@dataclass(frozen=True)
class Seen:
    """What a head links, as `regard align` reads it; `choice.aer`: its error rate on this pair."""

    choice: Choice
    links: Links


def known(text: str, second: str | None = None) -> Known | None:
    """The gold links of a sentence of the corpus (its validation, test and challenge sets) and its translation, in
    either direction; None if it is not there, or translated otherwise. second: its translation in the corpus, if none
    is given."""
    found = _corpus().get(text)
    return found if found is not None and second in (None, found.pair.target.text) else None


def linked(model: Any, found: Known, *, symmetrise: str = "grow-diag") -> list[Seen]:
    """What each head of a translator links in such a pair, and the mean of each layer's, at the step that predicts a
    word and at the one that reads it: the lowest error rate first."""
    if not isinstance(model, Translator):
        raise ConfigError("Only a translator links words.", found=type(model).__name__)
    ((_, weights),) = word_weights(model, [found.pair])
    seen = []
    for choice in EVERY.choices(weights.heads):
        links = SYMMETRISATIONS[symmetrise](*choice.readings(weights))
        seen.append(Seen(replace(choice, aer=score_alignments([links], [found.gold]).aer), links))
    return sorted(seen, key=lambda one: one.choice.aer or 0.0)


@cache
def _corpus() -> dict[str, Known]:
    """By the sentence, of either language. (What is trained on comes after these in the corpus, and is not made.)"""
    pairs = {pair.source: _known(pair) for pair in held()}
    return {one.pair.source.text: one for one in map(Known.swapped, pairs.values())} | pairs


@cache
def held() -> tuple[Pair, ...]:
    """The pairs whose links are known."""
    found = corpora.build(train=0)
    contrasts = [contrast for some in found.challenges.values() for contrast in some]
    sides = [side for contrast in contrasts for side in (contrast.first, contrast.second)]
    return (*found.validation, *found.test, *sides)


def _known(pair: Pair) -> Known:
    words = WordPair.of_words(pair.source_words, pair.target_words)
    return Known(words, Gold.of(pair.alignment, possible(pair)))
