"""Texts as vectors: the states of their tokens, pooled. Texts of like length are computed together."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float32
from pydantic import Field
from torch import nn
from torch.nn.functional import normalize as unit

from regard.data.batches import group_by_length, pad
from regard.errors import DataError, LimitError
from regard.layers.pooling import First, Max, Mean
from regard.sections import Section
from regard.tasks.texts import Place, numbered
from regard.text import Tokenizer

BATCH_TOKENS = 2048  # on a CPU core, 1024 to 2048 were measured to be fastest
BATCH_COSTS = 64  # so many more tokens take the time that a batch takes by itself; 32 to 63 were measured
AT_ONCE = 1024  # texts that are split at a time: what the tokenizer says of each token takes far more than the token
MARKS = 2  # before and behind a text
POOLINGS = {"cls": First, "mean": Mean, "max": Max}
Vector = Float32[np.ndarray, "D"]


class EmbeddingConfig(Section):
    """How a text becomes a vector."""

    pooling: Literal["cls", "mean", "max"] = Field("mean", description="how the vectors of a text's tokens become one")
    normalize: bool = Field(False, description="to length 1, so that a dot product is a cosine")
    limit: int = Field(0, ge=0, description="most tokens of a text, marks included; 0: as the model")
    prefix: str = Field("", description="stands before every text")


def vectors(
    bert: nn.Module,
    tokenizer: Tokenizer,
    texts: Sequence[str],
    how: EmbeddingConfig,
    *,
    budget: int | None = None,
    truncate: bool = False,
    place: Place = numbered,
) -> Iterator[tuple[int, Vector]]:
    """(number of the text, its vector) as they come, the short ones first. budget: most tokens of a batch; None: what
    suits a CPU. place: what to call a text that is too long."""
    encoded = _encoded(tokenizer, texts, how, None if truncate else place)
    lengths = np.array([len(ids) + MARKS for ids in encoded], dtype=np.int64)
    device = next(bert.parameters()).device
    pool = POOLINGS[how.pooling](0)
    before, behind = [tokenizer.start], [tokenizer.end]
    for group in _groups(lengths, budget) if encoded else ():
        rows = [encoded[i] for i in group]
        tokens, sizes = (part.to(device) for part in pad(rows, tokenizer.pad, before=before, behind=behind))
        with torch.inference_mode():
            pooled = pool(bert(tokens, sizes), sizes).float()
            found = (unit(pooled, dim=-1) if how.normalize else pooled).cpu().numpy()
        yield from zip(group.tolist(), found, strict=True)


def _groups(lengths: np.ndarray, budget: int | None) -> list[np.ndarray]:
    """Texts of like length. Without a budget, a batch also ends where more would be padded than another one costs."""
    if budget is not None:
        return group_by_length(lengths[:, None], budget, np.arange(len(lengths)))
    order = np.argsort(lengths, kind="stable")
    cuts, count, padding, longest = [], 0, 0, 0
    for place, length in enumerate(lengths[order].tolist()):
        padding += count * (length - longest)
        if count and (padding > BATCH_COSTS or (count + 1) * length > BATCH_TOKENS):
            cuts.append(place)
            count = padding = 0
        count, longest = count + 1, length
    return np.split(order, cuts)


def _encoded(tokenizer: Tokenizer, texts: Sequence[str], how: EmbeddingConfig, place: Place | None) -> list[np.ndarray]:
    """The tokens of each text, without marks. What is too long is refused by its place, or cut if there is none."""
    found: list[np.ndarray] = []
    room = max(0, how.limit - MARKS)
    for first in range(0, len(texts), AT_ONCE):
        for ids in tokenizer.encode_all([how.prefix + text for text in texts[first : first + AT_ONCE]]):
            if len(ids) > room and place is not None:
                cut = "cut it with --truncate (truncate=True), or "
                raise too_long(len(ids) + MARKS, how.limit, place(len(found)), cut)
            found.append(np.array(ids[:room], dtype=np.int32))
    return found


def too_long(length: int, limit: int, what: str = "The text", do: str = "") -> LimitError:
    """What is said of a text that the model cannot take."""
    return LimitError(
        f"{what} is longer than the model can take.",
        found=f"{length} tokens",
        wanted=f"at most {limit}, marks included",
        do=f"{do}split it into parts",
    )


def listed(texts: Any) -> Sequence[str]:
    """The same texts; a single one, which would be taken for a list of letters, is refused."""
    if isinstance(texts, str):
        raise DataError("embed takes a list of texts.", found="a single text", do="write [text]")
    return list(texts)
