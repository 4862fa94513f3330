"""How texts are put together to become vectors: whatever the company, and with little padding."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from regard.errors import LimitError
from regard.models.bert import BertConfig, BertEncoder
from regard.tasks import embedding
from regard.tasks.encoder import Encoder
from regard.tasks.texts import OneTokenizer
from regard.text import TokenizerConfig, train_tokenizer
from tests.text.corpus import TEXTS

WORDS = ["the", "cat", "chased", "a", "zebra", ",", "then", "it", "slept", "."]
MANY = [" ".join(WORDS[(start + i) % len(WORDS)] for i in range(start % 61)) for start in range(200)]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    tokenizer = train_tokenizer(TEXTS, TokenizerConfig(kind="wordpiece", size=300, lowercase=True))
    torch.manual_seed(1)
    model = BertEncoder(BertConfig(width=24, heads=3, hidden=40, layers=2, limit=200), vocabulary=len(tokenizer))
    return Encoder(model, OneTokenizer(tokenizer))


def batches(encoder: Encoder, texts: list[str], batch_tokens: int | None = None) -> list[tuple[int, int]]:
    """Tokens of each batch, with the padding and without."""
    found: list[tuple[int, int]] = []

    def note(bert: nn.Module, given: tuple[Tensor, Tensor]) -> None:
        found.append((given[0].numel(), int(given[1].sum())))

    hook = encoder.bert.register_forward_pre_hook(note)
    try:
        encoder.embed(texts, batch_tokens=batch_tokens)
    finally:
        hook.remove()
    return found


def test_a_batch_is_padded_by_less_than_another_batch_costs(encoder: Encoder) -> None:
    few, large = batches(encoder, MANY), batches(encoder, MANY, batch_tokens=embedding.BATCH_TOKENS)
    assert all(padded - real <= embedding.BATCH_COSTS for padded, real in few)
    costs = [sum(padded + embedding.BATCH_COSTS for padded, _ in found) for found in (few, large)]
    assert costs[0] < costs[1]
    assert sum(padded for padded, _ in few) < 1.1 * sum(real for _, real in few)


def test_many_texts_make_batches_of_the_full_size(encoder: Encoder) -> None:
    full = batches(encoder, MANY * 20)
    assert max(padded for padded, _ in full) > 0.9 * embedding.BATCH_TOKENS
    assert all(padded <= embedding.BATCH_TOKENS for padded, _ in full)
    assert len(full) < 1.5 * sum(real for _, real in full) / embedding.BATCH_TOKENS


def test_a_batch_is_never_larger_than_was_asked_for(encoder: Encoder) -> None:
    assert all(padded <= 300 for padded, _ in batches(encoder, MANY, batch_tokens=300))


def test_vectors_are_the_same_however_the_texts_are_split_and_batched(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = encoder.embed(MANY, batch_tokens=1)
    np.testing.assert_allclose(encoder.embed(MANY), wanted, atol=1e-6)
    monkeypatch.setattr(embedding, "AT_ONCE", 7)
    np.testing.assert_allclose(encoder.embed(MANY), wanted, atol=1e-6)
    np.testing.assert_allclose(encoder.embed(MANY[::-1])[::-1], wanted, atol=1e-6)
    with pytest.raises(LimitError, match="Text 17 is longer"):
        encoder.embed([*MANY[:16], "the cat " * 200])


def test_the_limit_of_a_call_stays_within_that_of_the_model(encoder: Encoder) -> None:
    long = ["the cat " * 300]
    whole = encoder.embed(long, truncate=True)
    for limit in (0, 200, 10**6):
        np.testing.assert_array_equal(encoder.embed(long, truncate=True, limit=limit), whole)
    np.testing.assert_allclose(encoder.embed(long, truncate=True, limit=5), encoder.embed(["the cat the"]), atol=1e-6)
    np.testing.assert_allclose(encoder.embed(long, truncate=True, limit=1), encoder.embed([""]), atol=1e-6)
