from itertools import islice

import numpy as np
import pytest

from regard.data.corpora import sentences
from regard.lab.claims.sentence_vectors import (
    CLS,
    MEAN,
    RANDOM,
    STATIC,
    TRAINED,
    Likeness,
    agreement,
    alike,
    behind,
    distinct,
    fingerprint,
    pairs,
    shuffled,
)

DRAWN = list(islice(sentences(1), 300))


def test_likeness_is_the_share_of_words_in_common_and_marks_do_not_count() -> None:
    assert alike(("我", "看见", "熊", "。"), ("我", "看见", "熊", "？")) == 1.0
    assert alike(("我", "看见", "熊", "。"), ("你", "看见", "鸟", "。")) == pytest.approx(1 / 3)
    assert alike(("我", "，"), ("你", "，")) == 0.0


def test_pairs_are_of_all_degrees_of_likeness_and_the_same_for_the_same_seed() -> None:
    found = pairs(DRAWN, 200, seed=1)
    scores = [pair.score for pair in found]
    assert found == pairs(DRAWN, 200, seed=1)
    assert found != pairs(DRAWN, 200, seed=2)
    assert min(scores) < 0.1
    assert max(scores) > 0.6
    assert all(pair.first != pair.second for pair in found)


def test_shuffling_deals_out_the_same_scores() -> None:
    found = pairs(DRAWN, 100, seed=1)
    mixed = shuffled(found, seed=1)
    assert sorted(pair.score for pair in mixed) == sorted(pair.score for pair in found)
    assert [pair[:2] for pair in mixed] == [pair[:2] for pair in found]
    assert mixed != found


def test_vectors_agree_if_what_is_more_alike_is_nearer() -> None:
    given = [Likeness("", "", score) for score in (0.0, 0.5, 1.0)]
    firsts = np.array([[1.0, 0.0]] * 3)
    seconds = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    assert agreement(np.concatenate([firsts, seconds]), given) == pytest.approx(1.0)
    assert agreement(np.concatenate([firsts, seconds[::-1]]), given) == pytest.approx(-1.0)


def test_cls_is_the_worst_if_the_next_best_agrees_more() -> None:
    found = {CLS: 0.25, MEAN: 0.5, STATIC: 0.75, TRAINED: 1.0, RANDOM: 0.0}
    assert behind(found) == 0.25
    assert behind({**found, STATIC: 0.0}) == -0.25


def test_no_sentence_is_drawn_twice() -> None:
    drawn = [pair.source for pair in distinct([*DRAWN, *DRAWN])]
    assert len(drawn) == len(set(drawn)) == len({pair.source for pair in DRAWN})


def test_other_lessons_or_settings_make_another_model() -> None:
    once = fingerprint("a\tb\t0.5\n", {"training": {"epochs": 3.0}})
    assert once == fingerprint("a\tb\t0.5\n", {"training": {"epochs": 3.0}})
    assert once != fingerprint("a\tb\t0.6\n", {"training": {"epochs": 3.0}})
    assert once != fingerprint("a\tb\t0.5\n", {"training": {"epochs": 5.0}})
