"""Which head is taken."""

import pytest

from regard.errors import ConfigError, DataError
from regard.evaluation.alignment import Gold, score_alignments
from regard.evaluation.best_head import agreement, best_head, constancy, rank_heads
from regard.tasks.alignment import Among, Choice, align
from regard.tasks.word_texts import WordPair
from tests.tasks.aligners import diagonal, transformer
from tests.text.corpus import CHINESE, ENGLISH

PAIRS = [WordPair.of_texts(*texts) for texts in zip(ENGLISH[:20], CHINESE[:20], strict=True)]


def test_agreement_is_f1_over_all_pairs() -> None:
    one, other = frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 2), (2, 2)})
    assert agreement([(one, other)]) == pytest.approx(2 * 1 / 5)
    assert agreement([(one, other), (one, one)]) == pytest.approx(2 * 3 / 9)
    assert agreement([]) == 1


def test_constancy_counts_agreed_links_by_what_is_linked_elsewhere() -> None:
    pairs = [WordPair.of_words(["The", "cat"], ["猫"]), WordPair.of_words(["the", "cat"], ["猫"])]
    steady, wavering = frozenset({(1, 0)}), frozenset({(0, 0)})
    # cat–猫 twice: each has Dice 2·1 / (1 + 1) = 1, so it is the agreement itself
    assert constancy(pairs, [(steady, steady), (steady, steady)]) == 1
    # the–猫 once, cat–猫 once: neither is confirmed by the other
    assert constancy(pairs, [(steady, steady), (wavering, wavering)]) == 0
    # only what both readings have counts: 2 · 2 · 1 / (2 + 4)
    assert constancy(pairs, [(steady, steady | wavering), (steady, steady | wavering)]) == pytest.approx(2 * 2 / 6)


def test_gold_chooses_the_head_with_the_lowest_error_rate() -> None:
    translator, wanted = transformer(), Choice("decoder.2.cross", 1, "reads")
    links = align(translator, PAIRS, wanted)
    found = best_head(translator, PAIRS, [Gold.of(one) for one in links])
    assert (found.name, found.head, found.shift, found.aer) == ("decoder.2.cross", 1, "reads", 0)


def test_figures_of_each_head_are_those_of_its_links() -> None:
    translator = transformer()
    gold = [Gold.of({(0, 0), (1, 2)}, {(3, 1)})] * len(PAIRS)
    ranked = rank_heads(translator, PAIRS, gold, symmetrise="union")
    assert len(ranked) == 18  # 3 layers, 2 heads and their mean, 2 steps
    assert [choice.aer for choice in ranked] == sorted(choice.aer or 0 for choice in ranked)
    for choice in ranked[:3]:
        assert choice.aer == score_alignments(align(translator, PAIRS, choice, symmetrise="union"), gold).aer


def test_without_gold_the_step_is_found_that_links_the_same_words_again_and_again() -> None:
    """The head looks where the word that is read comes from, a row after it was predicted. Its readings agree in both
    labellings; only in one are the same words linked in every sentence."""
    words = ["lion", "zebra", "cat", "dog", "bird"]
    orders = [words[k:] + words[:k] for k in range(5)] + [words[::-1], words[::2] + words[1::2]]
    pairs = [WordPair.of_words(order, [word.upper() for word in order]) for order in orders]
    for late, step in ((0, "predicts"), (-1, "reads")):
        found = best_head(diagonal(late), pairs)
        assert (found.name, found.head, found.shift) == ("decoder.align", 0, step)
        assert found.constancy == pytest.approx(1)
        assert found.aer is None


def test_only_what_is_in_question_is_chosen() -> None:
    found = best_head(transformer(), PAIRS, among=Among(layer=0, head="mean", shift="reads"))
    assert (found.name, found.head, found.shift) == ("decoder.0.cross", "mean", "reads")


def test_empty_pairs_do_not_count_and_cannot_be_all() -> None:
    empty = WordPair.of_words(["a"], [])
    nothing = Gold.of(())
    gold = [Gold.of({(0, 0)})] * len(PAIRS)
    alone = best_head(transformer(), PAIRS, gold)
    assert best_head(transformer(), [empty, *PAIRS], [nothing, *gold]) == alone
    with pytest.raises(DataError, match="(?s)no pair to choose a head by.*do this: give such pairs"):
        best_head(transformer(), [empty])


def test_where_nothing_is_to_be_chosen_no_pair_is_needed() -> None:
    only = Among(layer=1, head=1, shift="reads")
    assert best_head(transformer(), [WordPair.of_words(["a"], [])], among=only) == Choice("decoder.1.cross", 1, "reads")
    with pytest.raises(ConfigError, match="no layer 7"):
        best_head(transformer(), [], among=Among(layer=7, head=1, shift="reads"))


def test_gold_must_belong_to_the_pairs() -> None:
    with pytest.raises(DataError, match="do not belong together"):
        best_head(transformer(), PAIRS, [Gold.of({(0, 0)})])
