"""What kind of look a head has, as numbers from 0 to 1: at its own place, at the word before, at the first one, evenly.

With w[t, s] the weights of a head, T rows and S columns:

place     p(t) = t + S − T where a text looks at itself; the nearest to t (S−1) / (T−1) where one looks at another. Rows
          whose place is the first column have no choice, or no word before it, and are left out of all means.
sees      n(t) = p(t) + 1 where no row looks behind its place (look-ahead), otherwise S.
diagonal  the mean of w[t, p(t)]; previous: of w[t, p(t) − 1]; next: of w[t, p(t) + 1], where there is one;
          first: of w[t, 0].
sink      the largest mean of a column; sink_at: which.
entropy   the mean of −Σ w ln w / ln n(t); 0: one place, 1: all alike.
uniform   the mean of 1 − ½ Σ |w − 1/n(t)| / (1 − 1/n(t)), sums over what it sees; 1: all alike.

For entropy and uniform, rows that do not sum to 1 (a window's) are scaled first. What asks with a single row (a
pooling) stands nowhere: diagonal, previous and next are 0, and its row counts.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from regard.insight.trace import Trace, Weights

TINY = float(np.finfo(np.float32).tiny)


@dataclass(frozen=True, eq=False)
class Tags:
    """A number for each head."""

    diagonal: Float[np.ndarray, "H"]
    previous: Float[np.ndarray, "H"]
    next: Float[np.ndarray, "H"]
    first: Float[np.ndarray, "H"]
    sink: Float[np.ndarray, "H"]
    sink_at: Int[np.ndarray, "H"]
    entropy: Float[np.ndarray, "H"]
    uniform: Float[np.ndarray, "H"]


def tags(trace: Trace) -> dict[str, Tags]:
    """Those of each attention of a trace."""
    return {name: tags_of(trace.weights[name], itself=_itself(trace, name)) for name in trace.names}


def tags_of(weights: Weights, *, itself: bool) -> Tags:
    """Those of the heads of one attention. itself: a text looks at itself."""
    _, T, S = weights.shape
    placed = T > 1 or itself
    places = _places(weights, itself=itself) if placed else np.zeros(T, dtype=int)
    counted = places > 0 if placed else np.ones(T, dtype=bool)
    columns = weights[:, counted].mean(axis=1) if counted.any() else np.zeros((len(weights), S), dtype=np.float32)
    behind = counted & (places + 1 < S)
    entropy, uniform = _spread(weights, _sees(weights, places) if placed else np.full(T, S), counted)
    return Tags(
        diagonal=_at(weights, places, counted & placed),
        previous=_at(weights, places - 1, counted & placed),
        next=_at(weights, places + 1, behind & placed),
        first=_at(weights, np.zeros(T, dtype=int), counted),
        sink=columns.max(axis=1),
        sink_at=columns.argmax(axis=1),
        entropy=entropy,
        uniform=uniform,
    )


def _itself(trace: Trace, name: str) -> bool:
    """Also what is chosen looks at the text that it is to stand in."""
    asks, reads = trace.axes[name]
    return asks == reads or (asks, reads) == ("prediction", "text")


def _places(weights: Weights, *, itself: bool) -> Int[np.ndarray, "T"]:
    _, T, S = weights.shape
    if itself:
        return np.asarray(np.arange(T) + S - T)
    return np.asarray(np.rint(np.arange(T) * (S - 1) / max(T - 1, 1)), dtype=int)


def _sees(weights: Weights, places: Int[np.ndarray, "T"]) -> Int[np.ndarray, "T"]:
    """How many places each row can look at."""
    S = weights.shape[2]
    later = np.arange(S) > places[:, None]
    ahead = later.any() and not weights[:, later].any()
    return places + 1 if ahead else np.full(len(places), S)


def _at(weights: Weights, columns: Int[np.ndarray, "T"], rows: Bool[np.ndarray, "T"]) -> Float[np.ndarray, "H"]:
    """The mean over some rows of the weight in their column."""
    if not rows.any():
        return np.zeros(len(weights))
    return np.asarray(weights[:, np.flatnonzero(rows), columns[rows]].mean(axis=1, dtype=float))


def _spread(
    weights: Weights, sees: Int[np.ndarray, "T"], counted: Bool[np.ndarray, "T"]
) -> tuple[Float[np.ndarray, "H"], Float[np.ndarray, "H"]]:
    """Entropy and evenness, each as a part of the most that is possible."""
    rows = counted & (sees > 1)
    if not rows.any():
        return np.zeros(len(weights)), np.zeros(len(weights))
    shares, count = weights[:, rows].astype(float), sees[rows]
    shares = shares / np.maximum(shares.sum(axis=2, keepdims=True), TINY)
    visible = np.arange(weights.shape[2]) < count[:, None]
    entropy = -(shares * np.log(np.maximum(shares, TINY))).sum(axis=2) / np.log(count)
    away = np.where(visible, np.abs(shares - 1 / count[:, None]), 0.0).sum(axis=2) / 2
    uniform = 1 - away / (1 - 1 / count)
    return entropy.mean(axis=1).clip(0, 1), uniform.mean(axis=1).clip(0, 1)
