"""The data as a model will see it: which tokens, how many, and what of the held-out text it will never have seen."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from regard.data.batches import Order
from regard.doctor.places import Finding
from regard.doctor.problems import Problem, graded, many, percent
from regard.doctor.repeats import Split
from regard.doctor.survey import SHOWN
from regard.insight.words import SCRIPTS_WITHOUT_SPACES
from regard.text import Tokenizer
from regard.text.train import BYTES
from regard.watching import Watch

ALONE = "".join(f"{chr(first)}-{chr(last)}" for first, last in SCRIPTS_WITHOUT_SPACES)
WORD = re.compile(rf"[{ALONE}]|[^\W{ALONE}]+")
"""A run of letters or digits, or one character where words have no spaces."""
CHUNK = 2000
TOO_MANY_UNKNOWN = 0.05


@dataclass(frozen=True)
class Tokenised:
    """What training has made of the data. sides: what is told apart in the figures, with a tokenizer and the number of
    words in the training data for each; lengths: the tokens of each training row on each side, without marks, of which
    there are `marks`; kept: the same of the rows that are trained on, with marks, and `weights`, how often they come;
    held_out: the texts of each split and side; training: those of each training row, read anew."""

    sides: tuple[str, ...]
    tokenizers: tuple[Tokenizer, ...]
    words: tuple[int, ...]
    lengths: np.ndarray
    marks: int
    kept: np.ndarray
    weights: Sequence[tuple[int, float]]
    held_out: Mapping[str, Sequence[Sequence[str]]]
    training: Callable[[], Iterator[Sequence[str]]]


@dataclass(frozen=True)
class Limit:
    """How many tokens a row may have, what it is called, what becomes of longer ones, and what to do about that. stops:
    training would refuse them."""

    most: int
    noun: str
    then: str
    advice: str
    stops: bool


def figures(text: Tokenised, budget: int, seed: int, watch: Watch) -> dict[str, Any]:
    """What the tokens are like, as JSON. budget: tokens of a batch."""
    order = Order(text.kept, budget, seed, weights=text.weights)
    tokens = text.lengths.sum(axis=0, dtype=np.int64).tolist()
    return {
        "vocabulary": list(dict.fromkeys(map(len, text.tokenizers))),
        "tokens": tokens,
        "tokens_per_word": [round(count / max(1, own), 2) for count, own in zip(tokens, text.words, strict=True)],
        "longest": int(text.lengths.max()) + text.marks,
        "updates_an_epoch": order.updates_per_epoch,
        "padding": round(_padding(text.kept, order), 4),
        "held_out": _held_out(text, watch),
    }


def too_long(split: Split, sizes: np.ndarray, limit: Limit) -> Iterator[Finding]:
    """Rows of more tokens than a model can take. sizes: those of each row, marks included."""
    over = np.flatnonzero(sizes > limit.most)
    if len(over):
        share = len(over) / len(sizes)
        what = (
            f"{split.name}: {many(len(over), limit.noun)} ({percent(share)}) of more than {limit.most:,} tokens "
            f"(the longest: {sizes.max():,}), {limit.then}"
        )
        severity = "error" if limit.stops else graded(share, warning=0.01)
        places = [split.place(row) for row in over[:SHOWN].tolist()]
        yield Finding(Problem("too-long", severity, split.name, what, limit.advice, len(over), share), places)


def unknown(figures: dict[str, Any]) -> Iterator[Problem]:
    """Held-out text that the vocabulary has no tokens for."""
    for split, sides in figures["held_out"].items():
        for side, found in sides.items():
            if found["unknown"] > TOO_MANY_UNKNOWN:
                what = f"{split}: {percent(found['unknown'])} of the {side} tokens are unknown or spelt in bytes"
                advice = "raise tokenizer.size, take another tokenizer.kind, or train on text like this"
                count = round(found["unknown"] * found["tokens"])
                yield Problem("unknown-tokens", "warning", split, what, advice, count, found["unknown"])


def _padding(lengths: np.ndarray, order: Order) -> float:
    """The share of an epoch's places that hold no token."""
    real = padded = 0
    for step in range(order.updates_per_epoch):
        group = lengths[order[step]].astype(np.int64)
        real, padded = real + int(group.sum()), padded + len(group) * int(group.max(axis=0).sum())
    return 1 - real / padded


def _held_out(text: Tokenised, watch: Watch) -> dict[str, dict[str, Any]]:
    """For each split and side: how many tokens, the share of them that is unknown or bytes, and the share of the words
    that are nowhere in the training data."""
    words = {split: [Counter(_words(lines)) for lines in sides] for split, sides in text.held_out.items()}
    unseen = [set().union(*(counts[side] for counts in words.values())) for side in range(len(text.sides))]
    rows = watch(text.training(), total=0, what="looking for words") if words else iter(())
    for chunk in _chunks(rows):
        for left, lines in zip(unseen, zip(*chunk, strict=True), strict=True):
            left.difference_update(_words(lines))
    found: dict[str, dict[str, Any]] = {split: {} for split in words}
    for split, sides in text.held_out.items():
        for side, name in enumerate(text.sides):
            tokens, strange = _counted(text.tokenizers[side], sides[side])
            counts = words[split][side]
            found[split][name] = {
                "tokens": tokens,
                "unknown": round(strange / max(1, tokens), 4),
                "unseen_words": round(sum(counts[word] for word in unseen[side]) / max(1, counts.total()), 4),
            }
    return found


def _words(lines: Iterable[str]) -> list[str]:
    return WORD.findall("\n".join(lines).casefold())


def _chunks(rows: Iterator[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    while chunk := list(islice(rows, CHUNK)):
        yield chunk


def _counted(tokenizer: Tokenizer, lines: Sequence[str]) -> tuple[int, int]:
    """How many tokens there are, and how many are unknown or single bytes."""
    ids = Counter(id for encoded in tokenizer.encode_all(lines) for id in encoded)
    strange = {tokenizer.unknown, *map(tokenizer.backend.token_to_id, BYTES)}
    return ids.total(), sum(ids[id] for id in strange if id is not None)
