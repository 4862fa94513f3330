"""Sentences that a page begins with: something to look at before anybody has typed anything."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regard.errors import RegardError
from regard.insight import TokenRow
from regard.training import probes

MOST = 4
SENTENCES = {
    "en": (
        "The hunter had to cross the river, and later he came to the bank.",
        "The farmer had to borrow money, and later he came to the bank.",
        "The lion that chased the zebra was tired.",
    ),
    "de": ("Der Löwe, der das Zebra jagte, war müde.", "Der Mann saß auf der Bank am Ufer des Flusses."),
    "fr": ("Le lion qui chassait le zèbre était fatigué.",),
    "zh": ("追赶斑马的狮子累了。", "猎人过了河，后来他到了河岸。"),
}
BEGINNINGS = ("The river bank was", "Once upon a time there was")
"""For models that go on with a text."""


def examples(model: Any, place: str) -> tuple[str, ...]:
    """For a model: sentences of its language, then those that it was watched on while it learned."""
    found = [*_known(model), *_watched(place)]
    return tuple(dict.fromkeys(text for text in found if text))[:MOST]


def _known(model: Any) -> tuple[str, ...]:
    if hasattr(model, "generate"):
        return BEGINNINGS
    langs = getattr(model, "langs", None)
    language = langs[0] if langs else getattr(model, "language", "") or "en"
    return SENTENCES.get(language, ())


def _watched(place: str) -> Iterator[str]:
    if not Path(place).is_dir() or not probes.updates(place):
        return
    try:
        for trace in reversed(probes.read(place)):
            row: TokenRow | None = trace.rows.get("source", trace.rows.get("text"))
            if row is not None:
                yield row.text
    except RegardError:  # a picture that cannot be read is no reason not to serve
        return
