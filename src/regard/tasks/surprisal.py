"""How surprised a language model is by a text: -log2 p of each token, given those before it.

The first token follows the start mark, as in training. Where a text is longer than the model can look back, a window
slides over it: each token is judged with at least `limit - stride` tokens before it in sight.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum, log, log2
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.data.batches import group_by_length, pad
from regard.errors import ConfigError
from regard.tasks.spelling import surface
from regard.text import Piece, Tokenizer
from regard.watching import Watch, unwatched

BATCH_TOKENS, BATCH_SCORES = 4096, 2**22
"""Most tokens that are read together, and most scores over the vocabulary that are computed at once."""


@dataclass(frozen=True)
class Surprise:
    """A token at text[start:end], how many bits it was worth, its rank among all (1: the likeliest), and the token that
    was expected most. The bytes of one character all stand at that character."""

    text: str
    start: int
    end: int
    bits: float
    rank: int
    expected: str


@dataclass(frozen=True)
class Surprisal:
    """A text and its tokens. `guessing`: the bits of each token for one who knows nothing: log2 of the vocabulary."""

    text: str
    tokens: tuple[Surprise, ...]
    guessing: float

    @property
    def bits(self) -> float:
        """Of the whole text."""
        return fsum(token.bits for token in self.tokens)

    @property
    def bits_per_token(self) -> float:
        return self.bits / max(1, len(self.tokens))

    @property
    def bits_per_character(self) -> float:
        return self.bits / max(1, len(self.text))

    @property
    def perplexity(self) -> float:
        """Per token."""
        return float(2**self.bits_per_token)


class Window(NamedTuple):
    """Tokens first to last of a text are predicted, and those from `judged` on are judged."""

    text: int
    first: int
    judged: int
    last: int


class Judged(NamedTuple):
    """Of each token: its bits, its rank, and the id that was expected."""

    bits: Float[Tensor, "N"]
    ranks: Int[Tensor, "N"]
    expected: Int[Tensor, "N"]


def windows(text: int, length: int, limit: int, stride: int) -> Iterator[Window]:
    """Windows that judge each token of a text once.

    >>> [tuple(window)[1:] for window in windows(0, 11, limit=6, stride=4)]
    [(0, 0, 6), (4, 6, 10), (5, 10, 11)]
    """
    done = 0
    while done < length:
        last = min(length, done + stride if done else limit)
        yield Window(text, max(0, last - limit), done, last)
        done = last


def surprisals(
    model: Any, tokenizer: Tokenizer, texts: Sequence[str], *, stride: int | None = None, watch: Watch = unwatched
) -> list[Surprisal]:
    """One for each text. stride: half of what the model can look at, if none is given."""
    limit = int(model.config.limit)
    stride = limit // 2 if stride is None else stride
    if not 1 <= stride <= limit:
        raise ConfigError(f"A stride of {stride} cannot be used.", wanted=f"1 to {limit}, what the model can look at")
    pieces = [tokenizer.pieces(text) for text in texts]
    ids = [[piece.id for piece in row] for row in pieces]
    places = [list(windows(i, len(row), limit, stride)) for i, row in enumerate(ids)]
    found = _judged(model, tokenizer, ids, [window for row in places for window in row], watch)
    judged = [[found[window] for window in row] for row in places]
    return [_told(tokenizer, *row) for row in zip(texts, pieces, judged, strict=True)]


def _told(tokenizer: Tokenizer, text: str, pieces: Sequence[Piece], judged: Sequence[Judged]) -> Surprisal:
    """In words."""
    columns = [torch.cat(column).tolist() for column in zip(*judged, strict=True)] or [[], [], []]
    names = {id: surface(tokenizer, id) for id in set(columns[2])}
    tokens = (
        Surprise(text[piece.start : piece.end], piece.start, piece.end, bits, rank, names[expected])
        for piece, bits, rank, expected in zip(pieces, *columns, strict=True)
    )
    return Surprisal(text, tuple(tokens), log2(len(tokenizer)))


@torch.inference_mode()
def _judged(
    model: Any, tokenizer: Tokenizer, ids: Sequence[Sequence[int]], places: Sequence[Window], watch: Watch
) -> dict[Window, Judged]:
    """Windows of like length are read together."""
    if not places:
        return {}
    device, found = next(model.parameters()).device, {}
    sizes = np.array([[window.last - window.first] for window in places], dtype=np.int64)
    groups = group_by_length(sizes, max(BATCH_TOKENS, int(model.config.limit)), np.arange(len(places)))
    for group in watch(groups, total=len(groups), what="reading"):
        batch = [places[i] for i in group]
        rows = [_inputs(ids[window.text], window, tokenizer.start) for window in batch]
        hidden = model(pad(rows, tokenizer.pad)[0].to(device))
        for states, window in zip(hidden, batch, strict=True):
            wanted = torch.tensor(ids[window.text][window.judged : window.last], device=device)
            asked = states[window.judged - window.first : window.last - window.first]
            found[window] = _measured(model, len(tokenizer), asked, wanted)
    return found


def _inputs(ids: Sequence[int], window: Window, start: int) -> list[int]:
    """What is read to judge a window: before each of its tokens, the one that it follows."""
    before = start if window.first == 0 else ids[window.first - 1]
    return [before, *ids[window.first : window.last - 1]]


def _measured(model: Any, vocabulary: int, states: Float[Tensor, "N D"], wanted: Int[Tensor, "N"]) -> Judged:
    """Part by part: the scores of all places over the vocabulary take far more room than the text."""
    size = max(1, BATCH_SCORES // vocabulary)
    parts = []
    for first in range(0, len(states), size):
        logits, tokens = model.output(states[first : first + size])[:, :vocabulary], wanted[first : first + size]
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        chosen = logits.gather(1, tokens[:, None])
        bits = (logits.logsumexp(-1) - chosen[:, 0]) / log(2)
        parts.append((bits, 1 + (logits > chosen).sum(-1), logits.argmax(-1)))
    return Judged(*(torch.cat(column).cpu() for column in zip(*parts, strict=True)))
