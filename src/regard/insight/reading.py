"""A trace in plain words: one sentence under each view."""

import numpy as np

from regard.errors import ConfigError
from regard.insight.tokens import TokenRow
from regard.insight.trace import Head, Trace


def sentence(trace: Trace, name: str, head: Head, word: int | str, *, most: int = 3) -> str:
    """Where one token looks: '*bank* gives 0.61 to *river*, 0.20 to *the*'.

    `word` is its label (the first that matches) or its place; no head means the mean of all.
    """
    weights = trace.weights_of(name, "mean" if head is None else head)
    asks, reads = trace.rows_of(name)
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
        do="a word of several pieces is one token after by_words()",
    )
