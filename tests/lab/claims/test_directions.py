from types import SimpleNamespace
from typing import Any

from regard.lab.claims.directions import (
    BOTH,
    CUT,
    GPT2,
    Gap,
    both_sides,
    by_place,
    cut_off,
    expected,
    filled,
    gaps,
    leads,
    misled,
    places,
    readable,
    right_hidden,
    share,
    stopped,
)
from regard.lab.recipes import RECIPES

GAP = Gap("The dog saw ", "the", " old cat, Joe.")


def test_a_gap_is_a_word_between_two_words_that_fits() -> None:
    text = "Lions, much older than Joe, slowly crossed the road, then left home."
    found = gaps([text] * 60, lambda word: word != "slowly", seed=1)
    assert {gap.word for gap in found} == {"much", "older", "than", "crossed", "then", "left"}
    assert all(gap.left + gap.word + gap.right == text for gap in found)
    assert gaps(["No, not now."], lambda word: True, seed=1) == []


def test_what_each_reader_is_given() -> None:
    assert both_sides(GAP) == "The dog saw [MASK] old cat, Joe."
    assert right_hidden(GAP) == "The dog saw [MASK] [MASK] [MASK], [MASK]."
    assert cut_off(GAP) == "The dog saw [MASK]"
    assert stopped(GAP) == "The dog saw [MASK]."


class Parrot:
    """Fills in the word behind the gap, or "nothing"; expects what it has seen before."""

    def fill(self, text: str, top: int) -> list[list[Any]]:
        behind = text.split("[MASK]", 1)[1].split()
        return [[SimpleNamespace(text=behind[0] if behind else "nothing")]]

    def surprisal(self, texts: list[str]) -> list[Any]:
        ranks = ([1 if word in text.split()[:i] else 9 for i, word in enumerate(text.split())] for text in texts)
        return [SimpleNamespace(tokens=[SimpleNamespace(rank=rank) for rank in row]) for row in ranks]


def test_only_the_first_choice_for_the_hidden_word_counts() -> None:
    gap = Gap("a ", "dog", " dog b")
    assert filled(Parrot(), gap, both_sides)
    assert not filled(Parrot(), gap, right_hidden)
    assert not filled(Parrot(), gap, cut_off)


def test_each_is_misled_by_what_follows_in_another_text() -> None:
    found = [Gap("a ", "b", " c"), Gap("d ", "e", " f"), Gap("g ", "h", " i")]
    assert misled(found) == [Gap("a ", "b", " f"), Gap("d ", "e", " i"), Gap("g ", "h", " c")]


def test_two_texts_that_are_too_long_together_are_not_read() -> None:
    bert = SimpleNamespace(tokenizer=SimpleNamespace(encode=str.split), limit=8)  # with the gap and two marks
    assert readable(bert, Gap("a b ", "x", " c d e"))
    assert not readable(bert, Gap("a b ", "x", " c d e f"))


def test_only_the_last_word_before_the_cut_is_asked_of_the_other() -> None:
    assert expected(Parrot(), [Gap("dog a ", "dog", " b"), Gap("dog dog ", "a", " a")]) == [True, False]


def test_shares_are_told_by_place() -> None:
    found = [Gap("a " * count, "b", "") for count in (1, 3, 4, 20)]
    assert by_place(found, [True, False, True, False]) == [0.5, 1.0, None, 0.0]
    assert share([True, False, True, False]) == 0.5
    assert places() == ["1–3", "4–7", "8–15", "16+"]


def test_both_have_read_as_much() -> None:
    bert, gpt2 = RECIPES["bert"], RECIPES["gpt2"]
    assert (bert.quick, bert.full, bert.own["batch"]) == (gpt2.quick, gpt2.full, gpt2.own["batch"])


def test_each_is_measured_at_what_it_is_said_to_be_better_at() -> None:
    assert leads({BOTH: 0.75, GPT2: 0.5, CUT: 0.125}) == (0.25, 0.375)
