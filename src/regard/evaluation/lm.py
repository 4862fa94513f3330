"""How well a language model foretells text: loss and perplexity per token, bits per character and per byte.

The model sees a window of the text. It moves on by `stride` tokens at a time, and only what is new in it is scored, so
that each token is predicted from at least limit - stride tokens before it, where there are that many. A smaller stride
gives better figures, and takes longer.
"""

from collections.abc import Iterator
from math import exp, log
from typing import Any

import numpy as np
import torch
from torch import nn

from regard.errors import ConfigError
from regard.layers.cross_entropy import summed_cross_entropy
from regard.tasks.lm import LMTask
from regard.tasks.running_text import HeldOut

BATCH_TOKENS = 4096


def validate(task: LMTask, model: nn.Module, *, sentences: int) -> dict[str, Any]:
    """Of the whole validation text in windows side by side, which is fast; "score" is minus the loss."""
    if "val" not in task.texts:
        return {}
    limited: Any = model
    return figures(model, task.texts["val"], stride=limited.config.limit)


def evaluate(verbs: Any, task: LMTask) -> dict[str, dict[str, Any]]:
    """Of a finished model on the validation and test text, in windows that overlap by half; beside what one could say
    without it."""
    plain = task.unigram_entropy()
    found = {}
    for split, text in task.texts.items():
        scored = figures(verbs.model, text)
        told = f"{scored['headline']} (knowing only how frequent tokens are: loss {plain:.4f})"
        found[split] = {**scored, "unigram_entropy": plain, "headline": told}
    return found


def figures(model: nn.Module, text: HeldOut, stride: int | None = None) -> dict[str, Any]:
    """Of a text. Marks between documents count as tokens, not as characters. stride: half of what the model can look
    at, if it is not given."""
    limited: Any = model
    stride = limited.config.limit // 2 if stride is None else stride
    total, tokens = total_loss(model, text.ids, stride), len(text.ids) - 1
    loss = total / tokens
    perplexity = exp(min(loss, 700.0))
    bits = {"bits_per_character": total / log(2) / text.characters, "bits_per_byte": total / log(2) / text.bytes}
    headline = (
        f"loss {loss:.4f} a token, perplexity {perplexity:.2f}, "
        f"{bits['bits_per_character']:.3f} bits a character, {bits['bits_per_byte']:.3f} a byte"
    )
    if text.unknown:
        headline += f"; {text.unknown:,} of {tokens:,} tokens stand for what the tokenizer does not know"
    counted = {"tokens": tokens, "characters": text.characters, "bytes": text.bytes, "unknown": text.unknown}
    known = {"score": -loss, "loss": loss, "perplexity": perplexity, **bits, **counted, "stride": stride}
    return {**known, "headline": headline}


@torch.inference_mode()
def total_loss(model: nn.Module, ids: np.ndarray, stride: int) -> float:
    """Σ -log p of all tokens but the first, each given those before it in its window."""
    predicts: Any = model.eval()
    limit, device = predicts.config.limit, next(model.parameters()).device
    if not 1 <= stride <= limit:
        raise ConfigError(f"A window cannot move on by {stride} tokens.", wanted=f"1 to {limit}, which it holds")
    total = 0.0
    for rows, new in _windows(ids, limit, stride):
        tokens = torch.from_numpy(rows).to(device)
        hidden = predicts(tokens[:, :-1])[:, -new:]
        total += float(summed_cross_entropy(hidden.flatten(0, 1), predicts.output, tokens[:, -new:].flatten()))
    return total


def _windows(ids: np.ndarray, limit: int, stride: int) -> Iterator[tuple[np.ndarray, int]]:
    """Rows of tokens, and how many at the end of each are new: all that are predicted in the first window, then
    `stride` in each of those that follow, then what is left."""
    first = min(limit, len(ids) - 1)
    yield ids[None, : first + 1], first
    left = len(ids) - 1 - first
    ends = first + stride * np.arange(1, left // stride + 1)
    together = max(1, BATCH_TOKENS // limit)
    for begin in range(0, len(ends), together):
        group = ends[begin : begin + together]
        yield ids[group[:, None] + np.arange(-limit, 1)], stride
    if rest := left % stride:
        yield ids[None, -limit - 1 :], rest
