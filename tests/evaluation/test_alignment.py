"""Gold alignments and what is measured against them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.evaluation.alignment import Gold, read_gold, score_alignments
from regard.tasks.links import Links
from regard.tasks.word_texts import WordPair

LINKS = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)
PAIRS = [WordPair.of_words(["a", "b", "c"], ["d", "e"]), WordPair.of_words(["f"], ["g", "h", "i"])]


def gold_of(tmp_path: Path, text: str, **options: int) -> list[Gold]:
    (tmp_path / "x.gold").write_text(text, encoding="utf-8")
    return read_gold(str(tmp_path / "x.gold"), PAIRS, **options)


# ---- scores


def test_scores_worked_out_by_hand() -> None:
    # A = 4 links, S = 3, P = 5; A ∩ S = 2 (0-0, 1-1), A ∩ P = 3 (and 2-1): AER = 1 − (2 + 3) / (4 + 3)
    ours = frozenset({(0, 0), (1, 1), (2, 1), (0, 2)})
    theirs = Gold.of({(0, 0), (1, 1), (2, 2)}, {(2, 1), (1, 2)})
    scores = score_alignments([ours], [theirs])
    assert scores.aer == pytest.approx(2 / 7)
    assert scores.precision == pytest.approx(3 / 4)
    assert scores.recall == pytest.approx(2 / 3)
    assert (scores.links, scores.sure, scores.possible) == (4, 3, 5)


def test_counts_are_summed_before_they_are_divided() -> None:
    right, wrong = frozenset({(0, 0)}), frozenset({(0, 0), (0, 1), (0, 2)})
    gold = [Gold.of({(0, 0)}), Gold.of({(1, 1)})]
    assert score_alignments([right, wrong], gold).precision == pytest.approx(1 / 4)  # not the mean of 1 and 0


@given(st.lists(st.tuples(LINKS, LINKS, LINKS), min_size=1, max_size=4))
def test_scores_equal_those_of_numpy(sets: list[tuple[Links, Links, Links]]) -> None:
    a, s, p = np.zeros((3, len(sets), 5, 5), dtype=bool)
    for number, (links, sure, possible) in enumerate(sets):
        for grid, held in ((a, links), (s, sure), (p, sure | possible)):
            for link in held:
                grid[(number, *link)] = True
    scores = score_alignments([links for links, _, _ in sets], [Gold.of(*held) for _, *held in sets])
    if a.sum():
        assert scores.precision == pytest.approx((a & p).sum() / a.sum())
    if s.sum():
        assert scores.recall == pytest.approx((a & s).sum() / s.sum())
    if a.sum() + s.sum():
        assert scores.aer == pytest.approx(1 - ((a & s).sum() + (a & p).sum()) / (a.sum() + s.sum()))
    assert all(0 <= share <= 1 for share in (scores.aer, scores.precision, scores.recall))


@given(LINKS)
def test_gold_itself_makes_no_error(links: Links) -> None:
    scores = score_alignments([links], [Gold.of(links)])
    assert (scores.aer, scores.precision, scores.recall) == (0, 1, 1)


@given(LINKS, LINKS)
def test_what_is_sure_with_any_of_what_is_possible_makes_no_error(sure: Links, possible: Links) -> None:
    assert score_alignments([sure | possible], [Gold.of(sure, possible)]).aer == pytest.approx(0)


def test_without_links_nothing_is_found_and_nothing_is_wrong() -> None:
    scores = score_alignments([frozenset()], [Gold.of({(0, 0)})])
    assert (scores.aer, scores.precision, scores.recall) == (1, 1, 0)


def test_scores_do_not_depend_on_the_direction() -> None:
    ours, gold = frozenset({(0, 1), (2, 0)}), Gold.of({(0, 1)}, {(1, 1)})
    assert score_alignments([frozenset({(1, 0), (0, 2)})], [gold.swapped()]) == score_alignments([ours], [gold])


def test_as_many_links_as_gold_are_wanted() -> None:
    with pytest.raises(DataError, match="do not belong together") as told:
        score_alignments([frozenset()], [])
    assert "links for 1 pairs, gold for 0" in str(told.value)


# ---- reading


def test_possible_links_are_marked_in_either_way(tmp_path: Path) -> None:
    first, second = gold_of(tmp_path, "0-0 1-1p 2p1\n\n")
    assert first == Gold(sure=frozenset({(0, 0)}), possible=frozenset({(0, 0), (1, 1), (2, 1)}))
    assert second == Gold(frozenset(), frozenset())


def test_a_link_that_is_sure_once_is_sure(tmp_path: Path) -> None:
    assert gold_of(tmp_path, "0-0p 0-0\n0-2\n")[0] == Gold.of({(0, 0)})


def test_words_may_count_from_one(tmp_path: Path) -> None:
    assert gold_of(tmp_path, "1-1 3p2\n1-3\n", base=1) == [Gold.of({(0, 0)}, {(2, 1)}), Gold.of({(0, 2)})]


def test_a_file_without_a_zero_is_not_read_one_word_off(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="from 0 or from 1") as told:
        gold_of(tmp_path, "1-1\n\n")
    assert "found: no word called 0; the lowest is 1" in str(told.value)
    assert "--base 1" in str(told.value)
    assert gold_of(tmp_path, "1-1\n\n", base=0)[0] == Gold.of({(1, 1)})  # it was said


def test_a_zero_in_words_that_count_from_one_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="x.gold, line 2: a link points outside") as told:
        gold_of(tmp_path, "1-1\n0-1\n", base=1)
    assert "found: 0-1, in a pair of 1 source and 3 target words" in str(told.value)
    assert "wanted: source words 1 to 1, target words 1 to 3" in str(told.value)
    assert "--base 0" in str(told.value)


def test_a_link_outside_its_sentence_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="x.gold, line 1: a link points outside") as told:
        gold_of(tmp_path, "0-0 2-2\n\n")
    assert "found: 2-2, in a pair of 3 source and 2 target words" in str(told.value)
    assert "wanted: source words 0 to 2, target words 0 to 1" in str(told.value)
    assert "--base" not in str(told.value)  # there is a zero: it counts from 0
    with pytest.raises(DataError, match="--base 1"):
        gold_of(tmp_path, "1-1 3-2\n\n", base=0)


@pytest.mark.parametrize("word", ["1", "1-", "a-b", "1--2", "-1-2", "1:2", "1-2x", "1-2-3", "１-2", "9999999999-1"])
def test_what_is_no_link_is_named(tmp_path: Path, word: str) -> None:
    with pytest.raises(DataError, match="x.gold, line 2: not a link") as told:
        gold_of(tmp_path, f"0-0\n0-0 {word}\n")
    assert repr(word) in str(told.value)


@pytest.mark.parametrize("text", ["0-0\n", "0-0\n\n\n", ""])
def test_a_file_of_another_length_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match="does not belong to these pairs") as told:
        gold_of(tmp_path, text)
    assert f"{text.count(chr(10))} lines of links, 2 pairs" in str(told.value)


def test_a_file_without_links_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no links"):
        gold_of(tmp_path, "\n\n")


def test_what_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.gold").write_bytes(b"0-0\n\xe9-1\n")
    with pytest.raises(DataError, match="x.gold, line 2: invalid UTF-8"):
        read_gold(str(tmp_path / "x.gold"), PAIRS)
