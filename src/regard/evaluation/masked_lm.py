"""How well hidden words and next sentences are guessed, and what one could guess without a model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from regard.data.batches import group_by_length
from regard.tasks.masked_lm import MaskedBatch, MaskedLMTask, MaskedText

DRAWN = 0
"""Held-out text is hidden in one way, always the same, whatever the seed of the run."""
BATCH_TOKENS = 4096


@dataclass(frozen=True)
class Guesses:
    """Sums over some text."""

    loss: float = 0.0
    words: int = 0
    right: int = 0
    texts: int = 0
    followed: int = 0

    def __add__(self, other: "Guesses") -> "Guesses":
        mine, theirs = vars(self), vars(other)
        return Guesses(**{name: mine[name] + theirs[name] for name in mine})


def validate(task: MaskedLMTask, model: nn.Module, *, sentences: int) -> dict[str, Any]:
    """Loss and accuracy on hidden words of the first passages, and on next sentences; "score" is minus the loss."""
    if "val" not in task.texts:
        return {}
    return figures(task, model, task.texts["val"], most=sentences)


def evaluate(verbs: Any, task: MaskedLMTask) -> dict[str, dict[str, Any]]:
    """The same for a finished model on the whole validation and test text, beside what one can guess without it."""
    found = {}
    for split, text in task.texts.items():
        if split != "train":
            scored = figures(task, verbs.model, text)
            plain = {"unigram_entropy": task.unigram_entropy()}
            if task.config.masking.next_sentence:
                plain["next_sentence_by_overlap"] = overlap_accuracy(task, text)
            told = ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in plain.items())
            found[split] = {**scored, **plain, "headline": f"{scored['headline']} (without a model: {told})"}
    return found


@torch.inference_mode()
def figures(task: MaskedLMTask, model: nn.Module, text: MaskedText, most: int = 10**9) -> dict[str, Any]:
    """Of the first passages of a text."""
    model.eval()
    total = Guesses()
    for batch in _batches(text, most):
        total += _guessed(model, batch.to(next(model.parameters()).device))
    loss, accuracy = total.loss / total.words, total.right / total.words
    headline = f"hidden words: loss {loss:.3f}, {accuracy:.1%} right"
    found = {"score": -loss, "loss": loss, "perplexity": float(np.exp(loss)), "accuracy": accuracy}
    if task.config.masking.next_sentence:
        found["next_sentence"] = total.followed / total.texts
        headline += f"; next sentence {found['next_sentence']:.1%} right"
    return {**found, "headline": headline, "words": total.words, "texts": total.texts}


def overlap_accuracy(task: MaskedLMTask, text: MaskedText) -> float:
    """How often one is right who says that the second sentence follows if it shares enough words with the first; what
    is enough is learned on the training text."""
    shares, elsewhere = _overlaps(task.texts["train"], 2000)
    cuts = np.unique(shares)
    best = max(cuts.tolist(), key=lambda cut: float(((shares < cut) == elsewhere).mean()))
    shares, elsewhere = _overlaps(text, len(text.passages))
    return float(((shares < best) == elsewhere).mean())


def _overlaps(text: MaskedText, most: int) -> tuple[np.ndarray, np.ndarray]:
    """What share of the words of the second sentence is in the first, and whether it comes from elsewhere."""
    shares, elsewhere = [], []
    for row in range(min(most, len(text.passages))):
        example = text.passages.example(row, text.tokenizer.start, text.tokenizer.end, np.random.default_rng(row))
        a, b = (set(example.ids[example.segments == side].tolist()) for side in (0, 1))
        marks = {text.tokenizer.start, text.tokenizer.end}
        shares.append(len((a & b) - marks) / max(1, len(b - marks)))
        elsewhere.append(example.elsewhere)
    return np.array(shares), np.array(elsewhere)


def _batches(text: MaskedText, most: int) -> "list[MaskedBatch]":
    rows = np.arange(min(most, len(text.passages)))
    groups = group_by_length(text.passages.sizes[rows, None], BATCH_TOKENS, rows)
    return [text.batch(group, DRAWN, 0) for group in groups]


def _guessed(model: Any, batch: MaskedBatch) -> Guesses:
    hidden = model.bert(batch.tokens, batch.lengths, batch.segments)
    scores = model.output(model.guesses(hidden.flatten(0, 1)[batch.places])).float()
    losses = nn.functional.cross_entropy(scores, batch.wanted, reduction="sum")
    followed = (model.next_sentence(hidden).argmax(-1) == batch.elsewhere).sum()
    right = (scores.argmax(-1) == batch.wanted).sum()
    return Guesses(float(losses), len(batch.wanted), int(right), len(batch.elsewhere), int(followed))
