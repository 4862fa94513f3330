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
from regard.text import Tokenizer

BATCH_TOKENS = 2048  # on a CPU core, 1024 to 2048 were measured to be fastest
POOLINGS = {"cls": First, "mean": Mean, "max": Max}
Vector = Float32[np.ndarray, "D"]


class EmbeddingConfig(Section):
    """How a text becomes a vector."""

    pooling: Literal["cls", "mean", "max"] = "mean"
    normalize: bool = Field(False, description="to length 1, so that a dot product is a cosine")
    limit: int = Field(0, ge=0, description="most tokens of a text, marks included; 0: as the model")
    prefix: str = Field("", description="stands before every text")


def vectors(
    bert: nn.Module, tokenizer: Tokenizer, texts: Sequence[str], how: EmbeddingConfig, *, budget: int, truncate: bool
) -> Iterator[tuple[int, Vector]]:
    """(number of the text, its vector) as they come, the short ones first. budget: most tokens of a batch."""
    encoded = _encoded(tokenizer, texts, how, truncate=truncate)
    lengths = np.array([len(ids) for ids in encoded], dtype=np.int64).reshape(-1, 1)
    device = next(bert.parameters()).device
    pool = POOLINGS[how.pooling](0)
    for group in group_by_length(lengths, budget, np.arange(len(encoded))) if encoded else ():
        tokens, sizes = (part.to(device) for part in pad([encoded[i] for i in group], tokenizer.pad))
        with torch.inference_mode():
            pooled = pool(bert(tokens, sizes), sizes).float()
            rows = (unit(pooled, dim=-1) if how.normalize else pooled).cpu().numpy()
        yield from zip(group.tolist(), rows, strict=True)


def _encoded(tokenizer: Tokenizer, texts: Sequence[str], how: EmbeddingConfig, *, truncate: bool) -> list[list[int]]:
    """Each text between its marks; an empty one is the marks alone."""
    found = tokenizer.encode_all([how.prefix + text for text in texts])
    room = how.limit - 2
    for number, ids in enumerate(found):
        if len(ids) > room and not truncate:
            raise too_long(len(ids) + 2, how.limit, f"Text {number + 1}", "cut it with --truncate (truncate=True), or ")
    return [[tokenizer.start, *ids[:room], tokenizer.end] for ids in found]


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
