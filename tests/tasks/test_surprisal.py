"""How surprised a model is: transformers' log-probabilities in bits, each token once, whatever the window."""

from math import exp, log, log2
from typing import Any

import pytest
import torch

from regard.errors import ConfigError
from regard.tasks.generator import Generator
from regard.tasks.surprisal import Surprisal, windows
from tests.tasks.generators import LIMIT, logits, pair
from tests.threads import one_thread

__all__ = ["one_thread"]

TEXT = "The cat 🦁 saw 那只斑马,\nthen slept."
TEXTS = [TEXT, "", "a", "The dog heard a bird, then slept. " * 9, "那只狮子"]


@pytest.fixture(scope="module")
def both() -> tuple[Any, Generator]:
    return pair(1)


def expected(theirs: Any, generator: Generator, text: str, limit: int, stride: int) -> list[tuple[float, int, int]]:
    """Bits, rank and likeliest token, place by place: the model reads what is in its window anew for each."""
    ids = generator.tokenizer.encode(text)
    read = [generator.tokenizer.start, *ids]
    found, last = [], min(limit, len(ids))
    for place, id in enumerate(ids):
        if place >= last:
            last = min(last + stride, len(ids))
        scores = logits(theirs, read[max(0, last - limit) : place + 1])
        bits = -scores.log_softmax(-1)[id] / log(2)
        found.append((float(bits), 1 + int((scores > scores[id]).sum()), int(scores.argmax())))
    return found


def assert_same(found: Surprisal, wanted: list[tuple[float, int, int]], generator: Generator) -> None:
    assert [token.bits for token in found.tokens] == pytest.approx([bits for bits, _, _ in wanted], abs=1e-8)
    assert [token.rank for token in found.tokens] == [rank for _, rank, _ in wanted]
    ids = generator.tokenizer.encode(found.text)
    likeliest = [token.rank == 1 for token in found.tokens]
    assert likeliest == [id == best for id, (_, _, best) in zip(ids, wanted, strict=True)]


def test_bits_and_ranks_are_those_of_transformers(both: tuple[Any, Generator]) -> None:
    theirs, generator = both
    for text, found in zip(TEXTS, generator.surprisal(TEXTS), strict=True):
        assert found.text == text
        assert_same(found, expected(theirs, generator, text, LIMIT, LIMIT // 2), generator)
    assert len(generator.surprisal(TEXTS[3]).tokens) > 2 * LIMIT


def test_the_sum_is_the_loss_of_transformers(both: tuple[Any, Generator]) -> None:
    theirs, generator = both
    ids = torch.tensor([[generator.tokenizer.start, *generator.tokenizer.encode(TEXT)]])
    with torch.inference_mode():
        loss = float(theirs(ids, labels=ids).loss)  # always in single precision
    found = generator.surprisal(TEXT)
    assert found.bits_per_token == pytest.approx(loss / log(2), abs=1e-5)
    assert found.perplexity == pytest.approx(exp(loss), rel=1e-5)
    assert found.bits == pytest.approx(loss / log(2) * (ids.shape[1] - 1), abs=1e-4)
    assert found.bits_per_character == pytest.approx(found.bits / len(TEXT))
    assert found.guessing == log2(len(generator.tokenizer))


@pytest.mark.parametrize("stride", [1, 7, LIMIT - 1, LIMIT])
def test_a_window_slides_over_a_long_text(both: tuple[Any, Generator], stride: int) -> None:
    theirs, generator = both
    text = TEXTS[3][:150]
    found = generator.surprisal(text, stride=stride)
    assert len(found.tokens) > LIMIT + 5
    assert_same(found, expected(theirs, generator, text, LIMIT, stride), generator)


@pytest.mark.parametrize(("limit", "stride"), [(6, 4), (6, 6), (6, 1), (2, 1), (5, 3)])
def test_windows_judge_each_token_once_with_enough_before_it(limit: int, stride: int) -> None:
    for length in range(30):
        found = list(windows(3, length, limit, stride))
        judged = [place for window in found for place in range(window.judged, window.last)]
        assert judged == list(range(length))
        for window in found:
            assert window.text == 3
            assert window.last - window.first == min(limit, window.last)
            assert window.judged - window.first >= min(limit - stride, window.judged)


def test_pieces_have_their_places_and_the_bytes_of_a_character_share_one(both: tuple[Any, Generator]) -> None:
    _, generator = both
    found = generator.surprisal(TEXT)
    assert all(token.text == TEXT[token.start : token.end] for token in found.tokens)
    lion = [token for token in found.tokens if token.text == "🦁"]
    assert len(lion) == 4
    assert {token.start for token in lion} == {TEXT.index("🦁")}
    covered = {place for token in found.tokens for place in range(token.start, token.end)}
    assert covered == set(range(len(TEXT)))


def test_rows_that_no_token_has_are_no_surprise() -> None:
    """The model has more rows than its tokenizer has tokens: they are as if they were not there."""
    theirs, generator = pair(2, rows=30)
    known = len(generator.tokenizer)
    found = generator.surprisal("The cat")
    for place, token in enumerate(found.tokens):
        ids = [generator.tokenizer.start, *generator.tokenizer.encode("The cat")]
        scores = logits(theirs, ids[: place + 1])[:known]
        assert token.bits == pytest.approx(float(-scores.log_softmax(-1)[ids[place + 1]] / log(2)), abs=1e-8)
        assert 1 <= token.rank <= known


def test_an_empty_text_has_no_tokens_and_wrong_strides_are_told(both: tuple[Any, Generator]) -> None:
    _, generator = both
    nothing = generator.surprisal("")
    assert (nothing.tokens, nothing.bits, nothing.bits_per_token) == ((), 0, 0)
    assert generator.surprisal([]) == []
    for stride in (0, LIMIT + 1):
        with pytest.raises(ConfigError, match=rf"stride of {stride} cannot be used.\n  wanted: 1 to {LIMIT}"):
            generator.surprisal("a", stride=stride)
