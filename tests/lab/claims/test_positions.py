import pytest
import torch

from regard.lab.claims.positions import TAME, VERBS, WILD, WORDS, Pointer, accuracy, difference, sentences, trained

CHANCE = torch.Generator().manual_seed(1)


def test_who_does_it_stands_before_the_verb() -> None:
    batch = sentences(50, 9, CHANCE)
    for words, places, does in zip(batch.words.tolist(), batch.places.tolist(), batch.does.tolist(), strict=True):
        told = [WORDS[word] for word in words]
        (verb,) = [place for place, word in enumerate(told) if word in VERBS]
        assert told[places[0]] in WILD
        assert told[places[1]] in TAME
        assert places[does] < verb < places[1 - does]


def test_either_animal_does_it_as_often() -> None:
    assert 0.4 < float(sentences(1000, 5, CHANCE).does.float().mean()) < 0.6


def test_without_positions_the_two_lions_are_the_same_and_with_them_they_are_not() -> None:
    assert difference(Pointer("none", beside=False)) < 1e-5
    assert difference(Pointer("sinusoidal", beside=False)) > 1e-3
    assert difference(Pointer("learned", beside=True)) > 1e-3


def test_a_pointer_without_training_finds_nobody() -> None:
    assert 0.3 < accuracy(Pointer("none", beside=False), "does", (4, 8)) < 0.7


@pytest.mark.slow
def test_what_needs_no_order_is_learned_without_positions() -> None:
    assert accuracy(trained("none", "tame", seed=1, updates=60), "tame", (4, 8)) > 0.9
