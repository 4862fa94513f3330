"""Who may look where, as a model's attentions were told."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool

from regard.attention import NothingRecordedError, capture
from regard.errors import ConfigError
from regard.inside.reading import read
from regard.inside.scene import script
from regard.insight import Token, TokenRow
from regard.tasks.traces import joined

POOLING, POOLED = "class", TokenRow("", (Token("pooling", 0, 0, special=True),))
"""The row that asks where a whole text is pooled."""


@dataclass(frozen=True, eq=False)
class Mask:
    """`axes`: the rows of tokens that ask and are read. `kinds`: of "padding", "look-ahead" and "window" those that
    hide something."""

    axes: tuple[str, str]
    kinds: tuple[str, ...]
    may_look: Bool[np.ndarray, "T S"]


@dataclass(frozen=True, eq=False)
class Masks:
    """Rows of tokens, and by the name of an attention its mask."""

    rows: Mapping[str, TokenRow]
    masks: Mapping[str, Mask]


def masks(model: Any, text: str, second: str | None = None, *, padding: int = 0, generate: int = 0) -> Masks:
    """The mask of each attention of any loaded model while it reads a text. padding: so many places that are none,
    behind the text (a language model: before it), as in a batch beside a longer one. generate: a language model reads
    what it adds, too."""
    given = script(model, text, second, generate=generate)
    try:
        with capture(model.model, keep=("mask",)) as recording:
            found = read(model, given, padding=padding)
    except NothingRecordedError:
        raise ConfigError("This model has no attention, and so no masks.", do="take one that attends") from None
    rows = {**found.rows, POOLING: POOLED}
    empty = {row: _places(len(tokens), found.padding.get(row, range(0))) for row, tokens in rows.items()}
    held = {}
    for name in recording.names:
        may_look = recording.joined(name, "mask")[0, 0].cpu().numpy()
        axes = joined(name) if "source" in rows else _axes(may_look)
        held[name] = Mask(axes, _kinds(may_look, axes, empty), may_look)
    used = {row for mask in held.values() for row in mask.axes}
    return Masks({row: tokens for row, tokens in rows.items() if row in used}, held)


def _axes(may_look: Bool[np.ndarray, "T S"]) -> tuple[str, str]:
    """A text looks at itself, or is looked at as a whole."""
    return (POOLING if len(may_look) == 1 < may_look.shape[1] else "text"), "text"


def _places(count: int, some: range) -> Bool[np.ndarray, "S"]:
    found = np.zeros(count, dtype=bool)
    found[list(some)] = True
    return found


def _kinds(
    may_look: Bool[np.ndarray, "T S"], axes: tuple[str, str], empty: Mapping[str, Bool[np.ndarray, "_"]]
) -> tuple[str, ...]:
    asks, reads = (empty[row] for row in axes)
    real = may_look[~asks][:, ~reads]
    hides = {
        "padding": bool(reads.any()) and not may_look[~asks][:, reads].any(),
        "look-ahead": axes[0] == axes[1] and len(real) > 1 and bool((real == np.tril(real)).all()),
    }
    hides["window"] = not hides["look-ahead"] and not real.all()
    return tuple(kind for kind, here in hides.items() if here)
