"""A trace in plain words: one sentence under each view."""

import numpy as np

from regard.errors import ConfigError
from regard.insight.tokens import TokenRow
from regard.insight.trace import Head, Trace

ALONE = {"class": "the class", "said": "the answer"}
"""Rows of one token, which asks where a model pools what it has read."""


def sentence(trace: Trace, name: str, head: Head, word: int | str, *, most: int = 3) -> str:
    """Where one token looks: '*bank* gives 0.61 to *river*, 0.20 to *the*'.

    `word` is its label (the first that matches) or its place; no head means the mean of all.
    """
    weights = trace.weights_of(name, "mean" if head is None else head)
    asks, reads = trace.rows_of(name)
    if trace.axes[name][0] in ALONE and word not in (0, *asks.labels):
        raise _nobody_else(name, word, asks, ALONE[trace.axes[name][0]])
    place = _place(asks, word)
    order = np.argsort(-weights[place], kind="stable")[:most]
    shares = [f"{weights[place, i]:.2f} to *{reads.labels[i]}*" for i in order if weights[place, i] >= 0.005]
    return f"*{asks.labels[place]}* gives {', '.join(shares) or 'nothing to anyone'}"


def _place(row: TokenRow, word: int | str) -> int:
    if isinstance(word, str) and word in row.labels:
        return row.labels.index(word)
    if isinstance(word, int) and 0 <= word < len(row):
        return word
    raise ConfigError(
        f"There is no {word!r} among the tokens that ask.",
        found=" ".join(row.labels),
        wanted=f"one of these, or a place from 0 to {len(row) - 1}",
        do="a word of several pieces is one token with --words (by_words())",
    )


def _nobody_else(name: str, word: int | str, asks: TokenRow, who: str) -> ConfigError:
    return ConfigError(
        f"{word!r} does not look at anything in {name}: only {who} does.",
        wanted=f"{who}, {asks.labels[0]!r}",
        do=f"leave --word out: the picture shows what {who} looks at",
    )
