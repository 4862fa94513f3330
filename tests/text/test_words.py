"""Whole words: what one is, and which are known."""

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.text import Tokenizer
from regard.text.tokenizer import SPECIALS
from regard.text.words import word_tokenizer, words_of


def known(texts: list[str], *, size: int = 1000, min_count: int = 1, lowercase: bool = True) -> list[str]:
    return words_of(word_tokenizer(texts, size=size, min_count=min_count, lowercase=lowercase))[len(SPECIALS) :]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The cat, the dog!", ["the", "cat", "the", "dog"]),
        ("don't (well-known) naïve_bayes", ["don't", "well-known", "naïve_bayes"]),
        ("-dash- 'quoted' state’s", ["dash", "quoted", "state’s"]),
        ("3.5 km in 1998", ["3", "5", "km", "in", "1998"]),
        ("她在河岸 walks", ["她", "在", "河", "岸", "walks"]),
        ("Ελλάδα Москва ÉTÉ", ["ελλάδα", "москва", "été"]),
        ("</s> <unk>", ["s", "unk"]),
        ("... — ☃ 1+1", ["1", "1"]),
    ],
)
def test_a_word_is_this(text: str, words: list[str]) -> None:
    tokenizer = word_tokenizer([text], size=1000, min_count=1, lowercase=True)
    assert [words_of(tokenizer)[id] for id in tokenizer.encode(text)] == words


@given(texts=st.lists(st.text("aAbBc .,", max_size=30), max_size=8), least=st.integers(1, 4), most=st.integers(0, 5))
@settings(deadline=None)
def test_the_vocabulary_is_the_commonest_words_by_count_then_letters(texts: list[str], least: int, most: int) -> None:
    counts = Counter(word for text in texts for word in re.findall("[a-z]+", text.lower()))
    ranked = sorted((word for word in counts if counts[word] >= least), key=lambda word: (-counts[word], word))
    assert known(texts, size=len(SPECIALS) + most, min_count=least) == ranked[:most]


def test_capitals_can_be_told_apart() -> None:
    assert known(["Turkey turkey Turkey"], lowercase=False) == ["Turkey", "turkey"]


def test_what_is_rare_is_unknown_and_a_saved_vocabulary_is_the_same(tmp_path: Path) -> None:
    tokenizer = word_tokenizer(["a b a b c"], size=100, min_count=2, lowercase=True)
    tokenizer.save(tmp_path / "tokenizer.json")
    again = Tokenizer.load(tmp_path / "tokenizer.json")
    assert tokenizer.encode("A c, b?") == again.encode("A c, b?") == [4, tokenizer.unknown, 5]
