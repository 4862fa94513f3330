"""What is hidden: how much, how, and never a mark."""

import numpy as np
import pytest

from regard.tasks.masking import Masker
from regard.text import Tokenizer, TokenizerConfig, train_tokenizer
from tests.text.corpus import ENGLISH, TEXTS


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train_tokenizer(TEXTS, TokenizerConfig(kind="wordpiece", size=90))


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_how_many_are_chosen_and_what_becomes_of_them(tokenizer: Tokenizer) -> None:
    masker = Masker.of(tokenizer, rate=0.15, whole_words=False)
    ids = np.array(tokenizer.encode(" ".join(ENGLISH * 4)))
    hidden, places = masker(ids, np.ones(len(ids), dtype=bool), draw())
    assert len(places) == round(0.15 * len(ids))
    assert len(set(places.tolist())) == len(places)
    untouched = np.setdiff1d(np.arange(len(ids)), places)
    assert np.array_equal(hidden[untouched], ids[untouched])
    masked, same = np.mean(hidden[places] == masker.mask), np.mean(hidden[places] == ids[places])
    assert masked == pytest.approx(0.8, abs=0.05)
    assert same == pytest.approx(0.1, abs=0.05)
    assert not set(hidden[places].tolist()) & {tokenizer.pad, tokenizer.start, tokenizer.end, tokenizer.unknown}


def test_marks_are_never_chosen_and_something_always_is(tokenizer: Tokenizer) -> None:
    masker = Masker.of(tokenizer, rate=0.15, whole_words=False)
    ids = np.array([tokenizer.start, 50, tokenizer.end])
    for seed in range(20):
        _, places = masker(ids, np.array([False, True, False]), draw(seed))
        assert places.tolist() == [1]


def test_whole_words_are_hidden_as_a_whole(tokenizer: Tokenizer) -> None:
    masker = Masker.of(tokenizer, rate=0.3, whole_words=True)
    ids = np.array(tokenizer.encode(" ".join(ENGLISH[:30])))
    assert masker.continues[ids].any()
    for seed in range(20):
        _, places = masker(ids, np.ones(len(ids), dtype=bool), draw(seed))
        chosen = set(places.tolist())
        for place in range(1, len(ids)):
            if masker.continues[ids[place]]:
                assert (place in chosen) == (place - 1 in chosen)
        assert 0.2 < len(chosen) / len(ids) <= 0.31


def test_the_same_draw_hides_the_same(tokenizer: Tokenizer) -> None:
    masker = Masker.of(tokenizer, rate=0.15, whole_words=True)
    ids = np.array(tokenizer.encode(ENGLISH[0]))
    may = np.ones(len(ids), dtype=bool)
    one, again = masker(ids, may, draw(3)), masker(ids, may, draw(3))
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
