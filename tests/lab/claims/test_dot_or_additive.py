import pytest

from regard.lab.claims.dot_or_additive import HEADS, KINDS, ROWS, WORDS, attention, solved, times
from regard.lab.recall import VALUES
from regard.lab.timing import kept_bytes


def test_how_often_one_fits_into_the_other() -> None:
    assert times(6.0, 2.0) == 3.0


@pytest.mark.parametrize("kind", KINDS)
def test_every_score_gives_a_context_for_each_word(kind: str) -> None:
    assert attention(kind, 8, seed=1)().shape == (ROWS, HEADS, WORDS, 8)


def test_additive_attention_keeps_a_vector_for_each_pair_of_words() -> None:
    pairs, width = ROWS * HEADS * WORDS * WORDS, 8
    assert kept_bytes(attention("additive", width, seed=1)) > 4 * pairs * width
    assert kept_bytes(attention("dot", width, seed=1)) < 4 * pairs * 2


def test_a_model_that_is_not_taught_solves_as_many_riddles_as_by_guessing() -> None:
    assert solved("additive", 8, seed=1, updates=0) == pytest.approx(1 / VALUES, abs=0.04)
