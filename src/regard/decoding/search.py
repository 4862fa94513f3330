"""What searches and sampling share: what they are asked and what they answer."""

from dataclasses import dataclass
from typing import Any

from jaxtyping import Int
from torch import Tensor


@dataclass(frozen=True)
class Request:
    """Sentences to be continued: the source, what the target starts with (the start mark at least), where to stop."""

    source: Any
    """For the stepper alone."""
    prefix: Int[Tensor, "B P"]
    end: int
    """The end mark; -1 where there is none."""
    limits: Int[Tensor, "B"]
    """Most tokens to be made for each sentence, the end mark included."""


def normalised(log_prob: float, length: int, penalty: float) -> float:
    """The score that hypotheses of different length are compared by: log-probability / length^penalty."""
    return float(log_prob / length**penalty)


@dataclass(frozen=True)
class Hypothesis:
    """One continuation. `rows[t]` is the row it had when token t was predicted: attention is gathered along them.
    (A prefix of more than the start mark is read in one call before the first step.)"""

    tokens: tuple[int, ...]
    """Without the end mark."""
    log_prob: float
    """Of all tokens made, the end mark included where it was reached."""
    score: float
    finished: bool
    """The end mark was reached."""
    rows: tuple[int, ...]
