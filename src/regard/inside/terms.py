"""What a score is made of: its formula, and for one query and one key the vectors that stand in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

from torch import Tensor

from regard.attention import SCORES, Additive, Attends, Dot, General, Location, MultiHead, ScaledDot
from regard.errors import ConfigError

Vectors = Mapping[str, Tensor]


@dataclass(frozen=True)
class Terms:
    """`vectors(score, query, key)`: by the names that they have in the formula; the key as the score has prepared
    it."""

    name: str
    formula: str
    vectors: Callable[[Any, Tensor, Tensor], Vectors]
    scaled: bool = False

    def scale(self, width: int) -> float | None:
        """What the score is multiplied by in the end, for queries of a width; None if by nothing."""
        return 1 / sqrt(width) if self.scaled else None


def _plain(score: Any, query: Tensor, key: Tensor) -> Vectors:
    return {"q": query, "k": key}


def _general(score: Any, query: Tensor, key: Tensor) -> Vectors:
    return {"q": query, "Wk": key}


def _additive(score: Any, query: Tensor, key: Tensor) -> Vectors:
    turned = score.query(query)
    return {"q": query, "Wq": turned, "Uk": key, "tanh": (turned + key).tanh(), "va": score.v}


def _location(score: Any, query: Tensor, key: Tensor) -> Vectors:
    return {"q": query, "Wq": score.places(query)}


DOT = Terms("dot", "q·k", _plain)
SCALED = Terms("scaled-dot", "q·k / √K", _plain, scaled=True)
TERMS: dict[type, Terms] = {
    Dot: DOT,
    ScaledDot: SCALED,
    General: Terms("general", "q·W k", _general),
    Additive: Terms("additive", "v·tanh(W q + U k)", _additive),
    Location: Terms("location", "(W q)[place]", _location),
}


def terms_of(attention: Attends) -> Terms:
    """Those of the score that an attention has: heads scale, a pooling has a plain product."""
    if isinstance(attention, MultiHead):
        return SCALED
    score = getattr(attention, "score", None)
    if score is not None and type(score) not in TERMS:
        raise ConfigError(f"What {type(score).__name__} is made of is not written down.", wanted=", ".join(SCORES))
    return DOT if score is None else TERMS[type(score)]
