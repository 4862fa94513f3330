"""Signs that a model has gone wrong, judged by the symptoms that a validation records (evaluation/symptoms.py)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Symptoms = dict[str, Any]
SHARE = 0.2
"""Of the outputs, wrong in one way. Models that learned well had 0.2 once after a quarter, else 0.12 at most."""
GAIN = 0.05
"""Nats a token that the right source is worth. Models that learned well: 0.8 and more after a quarter."""
DIFFUSE = 0.97
"""Of the entropy of even attention. Untrained: 0.8 to 0.99; models that learned well: below 0.8 after a half."""
SHORTEST, LONGEST = 0.7, 1.3
"""Output tokens for each token of the reference."""
OTHERWISE = "train longer, or with another training.learning_rate"


@dataclass(frozen=True)
class Sign:
    """`evidence` is filled with the symptoms; `after`: the part of the updates before which the sign means nothing."""

    what: str
    shown: Callable[[Symptoms], bool]
    evidence: str
    advice: str
    after: float = 0.25


SIGNS = (
    Sign(
        "output copies the source",
        lambda seen: (seen["copied"] or 0) > SHARE,
        "{copied:.0%} of the outputs are their source, unchanged, where the reference is not",
        "take out training lines whose target is their source; see that both sides are what they should be",
    ),
    Sign(
        "output loops",
        lambda seen: seen["looped"] > SHARE,
        "{looped:.0%} of the outputs repeat themselves four times or more, where the reference does not",
        f"take out training targets that repeat themselves; if there are none, {OTHERWISE}",
    ),
    Sign(
        "output is constant",
        lambda seen: seen["constant"] > SHARE,
        "{constant:.0%} of the different sources get one and the same output, and a wrong one",
        f"look for a target that stands beside many sources; if there is none, {OTHERWISE}",
    ),
    Sign(
        "source ignored",
        lambda seen: seen["loss_other_source"] - seen["loss_own_source"] < GAIN,
        "loss {loss_own_source:.3f} with the right source, {loss_other_source:.3f} with that of another sentence",
        "see that the two sides of the training data belong together, line by line",
    ),
    Sign(
        "attention diffuse",
        lambda seen: (seen["attention_entropy"] or 0) > DIFFUSE,
        "every head spreads its attention over the whole source: entropy {attention_entropy:.3f} or more, of 1",
        f"see that the two sides of the training data belong together; if they do, {OTHERWISE}",
        after=0.5,
    ),
    Sign(
        "length ratio off",
        lambda seen: not SHORTEST <= seen["length_ratio"] <= LONGEST,
        "the outputs have {length_ratio:.2f} times as many tokens as the references",
        f"see that training targets and validation references are cut alike; if they are, {OTHERWISE}",
    ),
)
