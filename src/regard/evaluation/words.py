"""How well word vectors tell near words from noise, and how far their cosines go with what people say."""

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import nn

from regard.data.batches import group_by_length
from regard.data.lines import Line, lines_of, with_text
from regard.errors import DataError
from regard.evaluation.similarity import spearman
from regard.seeds import derive
from regard.tasks.skip_grams import WordBatch
from regard.tasks.words import WordsTask, WordText

DRAWN = 0
"""Pairs and noise of held-out text are drawn in one way, always the same, whatever the seed of the run."""
WANTED = "word word score"


@runtime_checkable
class Compares(Protocol):
    """Knows words, and says how alike two of them are."""

    def __contains__(self, word: object) -> bool: ...
    def similarity(self, a: str, b: str) -> float: ...


def validate(task: WordsTask, model: nn.Module, *, sentences: int) -> dict[str, Any]:
    """Loss of the pairs in the first stretches of the validation text; "score" is minus the loss."""
    if "val" not in task.texts:
        return {}
    return figures(task, model, task.texts["val"], most=sentences)


def evaluate(verbs: Any, task: WordsTask) -> dict[str, dict[str, Any]]:
    """The same for a finished model on the whole validation and test text, beside what one can say without it."""
    found = {}
    for split, text in task.texts.items():
        if split != "train":
            scored, plain = figures(task, verbs.model, text), task.unigram_entropy()
            told = f"{scored['headline']} (knowing only how frequent words are: loss {plain:.3f})"
            found[split] = {**scored, "unigram_entropy": plain, "headline": told}
    return found


@torch.inference_mode()
def figures(task: WordsTask, model: nn.Module, text: WordText, most: int = 10**9) -> dict[str, Any]:
    """Of the pairs in the first stretches of a text. Accuracy: how often a word near another scores above noise."""
    model.eval()
    loss, right, pairs = 0.0, 0.0, 0
    for batch in _batches(task, text, most):
        batch = batch.to(next(model.parameters()).device)
        loss += float(task.losses(model, batch)["pairs"])
        right += _above_noise(model, batch)
        pairs += len(batch.places)
    if not pairs:
        raise DataError(
            "The held-out text has no two known words near each other.", do="give more text, or set words.subsample=0"
        )
    loss, accuracy = loss / pairs, right / pairs
    headline = f"pairs: loss {loss:.3f}, above noise {accuracy:.1%}"
    return {"score": -loss, "loss": loss, "accuracy": accuracy, "headline": headline, "pairs": pairs}


def word_similarity(verbs: Compares, path: str) -> dict[str, Any]:
    """The rank correlation of cosines with the scores that people gave to pairs of words: a file with lines
    "word word score". A pair with an unknown word is left out, and counted."""
    rows = [
        row
        for line in with_text(path, lines_of(path), wanted=f"{WANTED} on each line")
        if (row := _row(line)) is not None
    ]
    known = [(verbs.similarity(a, b), score) for a, b, score in rows if a in verbs and b in verbs]
    if len(known) < 2:
        raise DataError(
            f"The vectors know too few words of {path}.", found=f"{len(known)} of {len(rows)} pairs", wanted="2 or more"
        )
    correlation = spearman(*np.array(known).T)
    headline = f"Spearman {correlation:.3f}, {len(known)} of {len(rows)} pairs known"
    return {"spearman": correlation, "known": len(known), "pairs": len(rows), "headline": headline}


def _batches(task: WordsTask, text: WordText, most: int) -> Iterator[WordBatch]:
    rows = np.arange(min(most, len(text)))
    lengths = text.column.lengths()[rows, None]
    for number, group in enumerate(group_by_length(lengths, task.config.batch.budget, rows)):
        batch = task.skip_grams.batch(text.rows(group), np.random.default_rng(derive(DRAWN, "words", number)))
        if batch is not None:
            yield batch


def _above_noise(model: nn.Module, batch: WordBatch) -> float:
    """Pairs whose score is above that of noise: each counts by the share of the noise that it is above; of what it
    equals, half."""
    near, noise = model(batch.centres, batch.among), model(batch.centres, batch.noise)
    centres = batch.places // batch.among.shape[1]
    scores = near.flatten()[batch.places]
    above = (scores[:, None] - noise.flatten(0, 1)[centres]).sign()
    return float((0.5 + 0.5 * above).mean(-1).sum())


def _row(line: Line) -> tuple[str, str, float] | None:
    """Two words and their score; None for an empty line."""
    try:
        words = line.decoded().split()
        return _pair(words) if words else None
    except DataError as fault:
        raise line.blamed(fault) from None


def _pair(words: list[str]) -> tuple[str, str, float]:
    try:
        first, second, score = words
        return first, second, float(score)
    except ValueError:
        raise DataError("not a pair of words", found=repr(" ".join(words)[:80]), wanted=WANTED) from None
