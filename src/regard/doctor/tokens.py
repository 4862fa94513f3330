"""The data as a model will see it: which tokens, how many, and what of the held-out text it will never have seen."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from regard.data.batches import Order
from regard.doctor.places import Finding
from regard.doctor.problems import Problem, graded, many, percent
from regard.doctor.repeats import Split
from regard.doctor.survey import SHOWN
from regard.insight.words import SCRIPTS_WITHOUT_SPACES
from regard.tasks.pairs import Pair
from regard.tasks.translation import TranslationTask
from regard.text import Tokenizer
from regard.text.train import BYTES
from regard.watching import Watch

ALONE = "".join(f"{chr(first)}-{chr(last)}" for first, last in SCRIPTS_WITHOUT_SPACES)
WORD = re.compile(rf"[{ALONE}]|[^\W{ALONE}]+")
"""A run of letters or digits, or one character where words have no spaces."""
CHUNK = 2000
TOO_MANY_UNKNOWN = 0.05


def figures(task: TranslationTask, seed: int, words: Sequence[int], watch: Watch) -> dict[str, Any]:
    """What the tokens are like, as JSON. words: how many the training data has on either side."""
    kept = task.train_pairs.lengths()
    order = Order(kept, task.config.batch.budget, seed, weights=task.train_pairs.weights)
    lengths = _lengths(task)
    tokens = lengths.sum(axis=0, dtype=np.int64).tolist()
    return {
        "vocabulary": list(dict.fromkeys(map(len, (task.tokenizers.source, task.tokenizers.target)))),
        "tokens": tokens,
        "tokens_per_word": [round(count / max(1, own), 2) for count, own in zip(tokens, words, strict=True)],
        "longest": int(lengths.max()) + 1,
        "updates_an_epoch": order.updates_per_epoch,
        "padding": round(_padding(kept, order), 4),
        "held_out": _held_out(task, watch),
    }


def too_long(task: TranslationTask, train: Split, *, most: int, stops: bool) -> Iterator[Finding]:
    """Training pairs of more tokens than a model can take. stops: training would refuse them."""
    longest = _lengths(task).max(axis=1).astype(np.int64) + 1  # with the end mark
    over = np.flatnonzero(longest > most)
    if len(over):
        share = len(over) / len(longest)
        what = (
            f"train: {many(len(over), 'pair')} ({percent(share)}) of more than {most:,} tokens (the longest: "
            f"{longest.max():,}), {'at which training would stop' if stops else 'which will be left out'}"
        )
        advice = (
            "split them, raise model.limit and batch.tokens" + ", or leave them out with data.too_long=skip" * stops
        )
        severity = "error" if stops else graded(share, warning=0.01)
        places = [train.place(row) for row in over[:SHOWN].tolist()]
        yield Finding(Problem("too-long", severity, "train", what, advice, len(over), share), places)


def unknown(figures: dict[str, Any]) -> Iterator[Problem]:
    """Held-out text that the vocabulary has no tokens for."""
    for split, sides in figures["held_out"].items():
        for side, found in sides.items():
            if found["unknown"] > TOO_MANY_UNKNOWN:
                what = f"{split}: {percent(found['unknown'])} of the {side} tokens are unknown or spelt in bytes"
                advice = "raise tokenizer.size, take another tokenizer.kind, or train on text like this"
                count = round(found["unknown"] * found["tokens"])
                yield Problem("unknown-tokens", "warning", split, what, advice, count, found["unknown"])


def _lengths(task: TranslationTask) -> np.ndarray:
    """Tokens of each training pair on either side, without start and end, those too long for the model included."""
    return np.concatenate([store.lengths() for store in task.train_pairs.stores])


def _padding(lengths: np.ndarray, order: Order) -> float:
    """The share of an epoch's places that hold no token."""
    real = padded = 0
    for step in range(order.updates_per_epoch):
        group = lengths[order[step]].astype(np.int64)
        real, padded = real + int(group.sum()), padded + len(group) * int(group.max(axis=0).sum())
    return 1 - real / padded


def _held_out(task: TranslationTask, watch: Watch) -> dict[str, dict[str, Any]]:
    """For each split and side: how many tokens, the share of them that is unknown or bytes, and the share of the words
    that are nowhere in the training data."""
    texts = {
        (split, side): getattr(text, side) for split, text in task.texts.items() for side in ("sources", "targets")
    }
    words = {key: Counter(_words(lines)) for key, lines in texts.items()}
    unseen = [set().union(*(words[key] for key in words if key[1] == side)) for side in ("sources", "targets")]
    for corpus in task.config.data.corpora if words else ():
        pairs = watch(task.config.data.reader(corpus.paths), total=0, what="looking for words")
        for chunk in _chunks(pairs):
            for left, lines in zip(unseen, zip(*chunk, strict=True), strict=True):
                left.difference_update(_words(lines))
    found: dict[str, dict[str, Any]] = {}
    for (split, side), lines in texts.items():
        source = side == "sources"
        tokenizer = task.tokenizers.source if source else task.tokenizers.target
        tokens, strange = _counted(tokenizer, lines)
        counts, left = words[split, side], unseen[0 if source else 1]
        found.setdefault(split, {})["source" if source else "target"] = {
            "tokens": tokens,
            "unknown": round(strange / max(1, tokens), 4),
            "unseen_words": round(sum(counts[word] for word in left) / max(1, counts.total()), 4),
        }
    return found


def _words(lines: Iterable[str]) -> list[str]:
    return WORD.findall("\n".join(lines).casefold())


def _chunks(pairs: Iterator[Pair]) -> Iterator[list[Pair]]:
    while chunk := list(islice(pairs, CHUNK)):
        yield chunk


def _counted(tokenizer: Tokenizer, lines: Sequence[str]) -> tuple[int, int]:
    """How many tokens there are, and how many are unknown or single bytes."""
    ids = Counter(id for encoded in tokenizer.encode_all(lines) for id in encoded)
    strange = {tokenizer.unknown, *map(tokenizer.backend.token_to_id, BYTES)}
    return ids.total(), sum(ids[id] for id in strange if id is not None)
