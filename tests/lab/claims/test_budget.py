from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from regard.lab.claims.budget import NOTHING, SECOND, cosines, fall, sentences, turned, unlike


def test_what_is_the_same_in_both_directions_has_no_asymmetry() -> None:
    symmetric = [np.array([[0.5, 0.3], [0.3, 0.9]]), np.ones((3, 3))]
    assert unlike(symmetric, turned(symmetric)) == 0.0


def test_what_goes_one_way_only_is_all_asymmetry() -> None:
    one_way = [np.triu(np.ones((4, 4)))]
    assert unlike(one_way, turned(one_way)) == 1.0


def test_what_a_word_gives_itself_does_not_count() -> None:
    uneven = [np.array([[9.0, 0.6], [0.2, 9.0]])]
    assert unlike(uneven, turned(uneven)) == pytest.approx(0.4 / 0.8)


def test_weights_in_the_same_direction_can_be_unlike_too() -> None:
    before, after = [np.array([[0.0, 0.6], [0.2, 0.0]])], [np.array([[0.5, 0.2], [0.2, 0.0]])]
    assert unlike(before, before) == 0.0
    assert unlike(before, after) == pytest.approx(0.4 / 1.2)


def test_the_fall_is_a_part_of_what_was_there() -> None:
    assert fall([0.4, 0.6], [0.2, 0.2]) == pytest.approx(0.6)
    assert fall([0.5], [0.5]) == 0.0
    assert fall([0.5], [0.75]) == -0.5


def test_the_sentences_differ_only_behind_the_bank() -> None:
    for variants in sentences():
        starts = {sentence.text.split("bank")[0] for sentence in variants.values()}
        assert len(starts) == 1
        assert len({sentence.clue for sentence in variants.values()}) == 1
        assert len({sentence.text for sentence in variants.values()}) == 4


def test_what_follows_differs_in_kind_and_not_in_length() -> None:
    for variants in sentences():
        lengths = {len(sentence.text.split()) for behind, sentence in variants.items() if behind != NOTHING}
        assert len(lengths) == 1
        assert not any("/" in sentence.text for sentence in variants.values())


def test_relatedness_is_the_same_in_both_directions() -> None:
    source = SimpleNamespace(encode=lambda text: list(range(len(text.split()))))
    model = SimpleNamespace(get_parameter=lambda name: torch.randn(4, 3))
    translator: Any = SimpleNamespace(tokenizers=SimpleNamespace(source=source), model=model)
    found = [cosines(translator, "a b c d")]
    np.testing.assert_allclose(np.diag(found[0]), 1)
    assert np.abs(found[0] - 1).max() > 0.1
    assert unlike(found, turned(found)) < 1e-12


def test_the_second_clue_points_to_the_meaning_of_the_first() -> None:
    texts = [variants[SECOND].text for variants in sentences()]
    assert "Anna wanted to go fishing, so she walked to the bank before crossing the river." in texts
    assert not any("fish" in text and "money" in text for text in texts)


def test_what_is_looked_for_are_the_words_of_the_first_clue() -> None:
    clues = {variants[SECOND].clue for variants in sentences()}
    assert frozenset({"cross", "river"}) in clues
    assert frozenset({"go", "fishing"}) in clues
