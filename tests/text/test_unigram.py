"""The unigram vocabulary: exact sums over spellings, and pieces that are worth their place."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.text import unigram
from regard.text.unigram import Lattice, train_unigram

from .corpus import TEXTS

STEMS = ["▁walk", "▁play", "▁wonder", "▁laugh", "▁jump", "▁climb", "▁start", "▁cook", "▁rain", "▁listen"]
ENDINGS = ["", "ing", "ed", "er", "ers", "ings"]
INFLECTED = Counter({stem + ending: 3 + len(stem) for stem, ending in product(STEMS, ENDINGS)})
WORDS = Counter(f"▁{word}" for text in TEXTS for word in text.split())


def spellings(word: str, index: dict[str, int]) -> list[list[int]]:
    """All of them, one by one."""
    if not word:
        return [[]]
    starts = [end for end in range(1, len(word) + 1) if word[:end] in index]
    return [[index[word[:end]], *rest] for end in starts for rest in spellings(word[end:], index)]


@given(
    words=st.lists(st.text("abc", min_size=1, max_size=6), min_size=1, max_size=5, unique=True),
    longer=st.lists(st.text("abc", min_size=2, max_size=4), max_size=8, unique=True),
    seed=st.integers(0, 99),
)
@settings(max_examples=100, deadline=None)
def test_the_lattice_sums_over_every_spelling(words: list[str], longer: list[str], seed: int) -> None:
    index = {piece: id for id, piece in enumerate(["a", "b", "c", *longer])}
    random = np.random.default_rng(seed)
    scores, frequency = np.log(random.dirichlet(np.ones(len(index)))), random.uniform(1, 9, len(words))
    totals, expected = [], np.zeros(len(index))
    for word, count in zip(words, frequency, strict=True):
        ways = spellings(word, index)
        likelihoods = [math.exp(sum(scores[id] for id in way)) for way in ways]
        totals.append(math.log(sum(likelihoods)))
        for way, likelihood in zip(ways, likelihoods, strict=True):
            np.add.at(expected, way, count * likelihood / sum(likelihoods))
    lattice = Lattice.build(words, index)
    np.testing.assert_allclose(lattice.log_totals(scores), totals, rtol=1e-9)
    np.testing.assert_allclose(lattice.expected_counts(scores, frequency), expected, rtol=1e-9, atol=1e-12)


def test_a_detour_does_not_use_the_piece_itself() -> None:
    index = {"a": 0, "b": 1, "ab": 2, "aba": 3}
    detours = Lattice.build(["ab", "aba"], index, whole=False).log_totals(np.log([0.1, 0.2, 0.3, 0.4]))
    np.testing.assert_allclose(np.exp(detours), [0.1 * 0.2, 0.1 * 0.2 * 0.1 + 0.3 * 0.1])


def test_a_round_of_em_makes_the_words_likelier() -> None:
    pieces = sorted({word[start:end] for word in INFLECTED for start, end in unigram._spans(word)})
    lattice = Lattice.build(list(INFLECTED), {piece: id for id, piece in enumerate(pieces)})
    frequency, everything = np.array(list(INFLECTED.values()), dtype=np.float64), np.arange(len(pieces))
    expected, likelihoods = np.ones(len(pieces)), []
    for _ in range(5):
        scores = unigram._log_shares(expected, everything)
        likelihoods.append(frequency @ lattice.log_totals(scores))
        expected = lattice.expected_counts(scores, frequency)
    assert likelihoods == sorted(likelihoods)
    assert likelihoods[-1] > likelihoods[0] + 1


def fitted_likelihood(words: Counter[str], pieces: list[str]) -> float:
    """Of the words, with the best probabilities for these pieces."""
    lattice = Lattice.build(list(words), {piece: id for id, piece in enumerate(pieces)})
    frequency, expected = np.array(list(words.values()), dtype=np.float64), np.ones(len(pieces))
    for _ in range(20):
        scores = unigram._log_shares(expected, np.arange(len(pieces)))
        expected = lattice.expected_counts(scores, frequency)
    return float(frequency @ lattice.log_totals(scores))


@pytest.mark.parametrize("words", [INFLECTED, WORDS], ids=["inflected", "text"])
@pytest.mark.parametrize("more", [10, 20, 40])
def test_the_pieces_explain_the_text_better_than_the_commonest_substrings(words: Counter[str], more: int) -> None:
    characters = sorted(set("".join(words)))
    chosen = [piece for piece, _ in train_unigram(words, len(characters) + more)]
    commonest = [*characters, *unigram._frequent_substrings(words, more)]
    assert len(chosen) == len(commonest)
    assert fitted_likelihood(words, chosen) > fitted_likelihood(words, commonest)


def test_an_ending_of_many_words_is_found() -> None:
    nonsense = ["".join(letters) for letters in product("bdfk", "aou", "lmnr", "ptz")]
    words = Counter({f"▁{stem}{ending}": 1 for stem in nonsense for ending in ("", "ing", "ed")})
    assert {"ing", "ed"} <= {piece for piece, _ in train_unigram(words, 100)}


@pytest.mark.parametrize("size", [60, 61, 100, 150])
def test_the_vocabulary_has_the_size_and_every_character(size: int) -> None:
    pieces = train_unigram(WORDS, size)
    assert len(pieces) == len(dict(pieces)) == size
    assert set("".join(WORDS)) <= set(dict(pieces))


def test_characters_stay_even_if_they_are_more_than_asked() -> None:
    assert sorted(piece for piece, _ in train_unigram(WORDS, 3)) == sorted(set("".join(WORDS)))


def test_scores_are_log_probabilities_and_come_in_order() -> None:
    pieces = train_unigram(WORDS, 100)
    assert sum(math.exp(score) for _, score in pieces) == pytest.approx(1, abs=1e-4)
    assert pieces == sorted(pieces, key=lambda entry: (-entry[1], entry[0]))
    assert all(math.isfinite(score) for _, score in pieces)


def test_the_order_in_which_words_were_counted_does_not_matter() -> None:
    assert train_unigram(WORDS, 100) == train_unigram(Counter(dict(reversed(WORDS.items()))), 100)


def test_few_words_give_few_pieces() -> None:
    assert train_unigram(Counter(["▁"]), 50) == [("▁", 0.0)]
    assert train_unigram(Counter(), 50) == []
    assert [piece for piece, _ in train_unigram(Counter({"▁a": 2}), 50)] == ["▁a", "a", "▁"]


def test_a_word_without_end_costs_no_time() -> None:
    pieces = train_unigram(Counter({"abcdefg" * 20_000: 1, "▁a": 3}), 20)
    assert len(pieces) == 20
    assert max(len(piece) for piece, _ in pieces) <= unigram.LONGEST_PIECE


def test_of_very_many_words_the_commonest_are_learned_and_all_characters_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unigram, "MOST_CHARACTERS", 9)
    pieces = dict(train_unigram(Counter({"▁cat": 9, "▁dog": 8, "▁yak": 2}), 50))
    assert {"▁cat", "▁dog", "y", "k"} <= set(pieces)
    assert "▁yak" not in pieces
