"""What is wrong with a training, read off its records: metrics.jsonl in, diagnoses out, also of a run that is over.

Nothing is said before the warm-up and a quarter of the updates are over: until then a good run looks like a bad one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from statistics import fmean, variance
from typing import Any

from regard.training.signs import SIGNS

Records = Sequence[dict[str, Any]]
EARLY = 0.25
"""The part of the updates in which nothing is said."""
WINDOW = 10
"""Training losses that a mean is taken of: batches of short and of long sentences differ."""
KNOWING, LEARNED = 0.98, 0.8
"""Parts of the unigram entropy. Below, a model knows more than how frequent each token is; has learned a good deal."""
RISING, FALLING = 1.001, 0.99
"""A validation loss that is this part of the one before, or of the best one before."""
RESTLESS = 1.25
"""Training loss for validation loss, which is that of averaged weights: they differ if updates go to and fro."""
WORSE, NATS = 1.02, 0.01
"""A validation loss is worse than the best one by this part of it, and by so much: near zero, it trembles."""
IN_A_ROW, SENTENCES = 3, 10
"""A sign must be seen in so many validations in a row, in so many different sentences at least."""


@dataclass(frozen=True)
class Diagnosis:
    """One problem: what it is, the numbers that show it, what can be done."""

    what: str
    evidence: str
    advice: str


@dataclass(frozen=True)
class History:
    """The records up to a validation. `entropy`: what one loses who knows only how frequent each token is."""

    trained: Records
    validated: Records
    entropy: float | None
    updates: int
    warmup: int

    @property
    def now(self) -> int:
        return int(self.validated[-1]["update"])

    @property
    def losses(self) -> list[float]:
        """Of all validations."""
        return [record["loss"] for record in self.validated]

    @property
    def peak(self) -> float:
        """The highest learning rate so far."""
        return max((record["learning_rate"] for record in self.trained), default=0.0)

    @property
    def training(self) -> float:
        """The mean of the last training losses."""
        return fmean(record["loss"] for record in self.trained[-WINDOW:])

    def symptoms(self, *, after: float) -> list[dict[str, Any]]:
        """Of the validations past the warm-up and this part of the updates."""
        late = [record for record in self.validated if record["update"] >= max(self.warmup, after * self.updates)]
        found = [record["symptoms"] for record in late if "symptoms" in record]
        return [symptoms for symptoms in found if symptoms["sentences"] >= SENTENCES]


def diagnose(records: Records, *, updates: int, warmup: int) -> list[Diagnosis]:
    """What the last validation, in the light of all that came before, says is wrong."""
    start, trained, validated = ([r for r in records if r["kind"] == k] for k in ("start", "train", "validation"))
    entropy = start[0]["unigram_entropy"] if start else None
    if not trained or not validated or validated[-1]["update"] < max(warmup, EARLY * updates):
        return []
    history = History(trained, validated, entropy, updates, warmup)
    if _knows_nothing(history):  # whatever else is wrong follows from that
        return list(_learning_rate(history))
    return [*_rising(history), *_signs(history)]


def _knows_nothing(history: History) -> bool:
    """No better than one who knows only how frequent each token is."""
    return history.entropy is not None and min(history.losses[-1], history.training) >= KNOWING * history.entropy


def _learning_rate(history: History) -> Iterator[Diagnosis]:
    *before, loss = history.losses
    if not before:
        return
    known = f"validation loss {loss:.3f}; knowing only how frequent each token is would give {history.entropy:.3f}"
    pace = (before[-1] - loss) / (history.now - history.validated[-2]["update"])
    left = history.updates - history.now
    rising = any(later > RISING * earlier for earlier, later in zip(before, history.losses[1:], strict=True))
    calm = not rising and history.training < RESTLESS * loss
    if calm and loss - pace * left >= KNOWING * (history.entropy or 0):
        yield Diagnosis(
            "learning rate too low",
            f"{known}; at its pace it would still be {loss - pace * left:.3f} at the end",
            f"raise training.learning_rate, {history.peak:.2g} so far, or train longer",
        )
    elif not calm and loss > FALLING * min(before):
        yield _too_high(history, f"{known}; it was {min(before):.3f} before and does not fall")


def _rising(history: History) -> Iterator[Diagnosis]:
    """Both losses rise: the learning rate. Only the validation loss does: overfitting."""
    best = min(history.validated, key=lambda record: float(record["loss"]))
    if any(loss <= max(WORSE * best["loss"], best["loss"] + NATS) for loss in history.losses[-2:]):
        return
    after = [record["loss"] for record in history.trained if record["update"] > best["update"]]
    before = [record["loss"] for record in history.trained if record["update"] <= best["update"]][-len(after) :]
    if min(len(before), len(after)) < 2:
        return
    change = fmean(after) - fmean(before)
    if abs(change) < sqrt(variance(before) / len(before) + variance(after) / len(after)):  # its standard error
        return
    course = f"from {fmean(before):.3f} to {fmean(after):.3f}"
    risen = f"validation loss {history.losses[-1]:.3f}, at update {best['update']:,} it was {best['loss']:.3f}"
    if change < 0 and history.training < LEARNED * (history.entropy or inf):
        yield Diagnosis(
            "overfitting",
            f"{risen}; the training loss fell {course}",
            "see that validation and training data are alike; then train on more text, or raise model.dropout",
        )
    elif change > 0:
        yield _too_high(history, f"{risen}; the training loss rose too, {course}")


def _too_high(history: History, evidence: str) -> Diagnosis:
    advice = f"lower training.learning_rate, {history.peak:.2g} so far, or lengthen training.warmup"
    return Diagnosis("learning rate too high", evidence, advice)


def _signs(history: History) -> Iterator[Diagnosis]:
    for sign in SIGNS:
        recent = history.symptoms(after=sign.after)[-IN_A_ROW:]
        enough = len(recent) == IN_A_ROW or (recent and history.now == history.updates)
        if enough and all(map(sign.shown, recent)):
            yield Diagnosis(sign.what, sign.evidence.format(**recent[-1]), sign.advice)
