"""Scores by source length: every sentence in one bucket, each bucket scored as if it were a test set of its own."""

import pytest
import sacrebleu

from regard.errors import RegardError
from regard.evaluation.lengths import Bucket, by_length, words
from regard.evaluation.scores import confidence, score
from tests.evaluation.test_scores import corpus, noisy


@pytest.mark.parametrize(
    ("text", "language", "count"),
    [
        ("The lion, tired, slept.", "en", 4),
        ("狮子追着斑马。", "zh-Hans", 7),
        ("我 爱 GitHub 。", "ZH_cn", 4),
        ("狮子追着斑马。", "", 7),
        ("a lion 狮", "", 3),
        ("사자가 얼룩말을 쫓았다", "ko", 3),
        ("", "en", 0),
        ("", "zh", 0),
        ("", "", 0),
    ],
)
def test_a_word_is_a_run_between_spaces_or_a_character_where_there_are_none(
    text: str, language: str, count: int
) -> None:
    assert words(text, language) == count


def test_each_bucket_is_scored_by_sacrebleu_on_its_own_sentences() -> None:
    references = corpus(80)  # of 5 to 16 words
    outputs = noisy(references, 0.2, seed=1)
    outputs[:20] = references[:20]
    buckets = by_length(references, outputs, references, language="en", source_language="en", edges=(8, 12))
    assert [(b.label, b.low, b.high) for b in buckets] == [("1–8", 1, 8), ("9–12", 9, 12), ("13+", 13, None)]
    assert sum(b.sentences for b in buckets) == 80
    for bucket in buckets:
        high = bucket.high or 99
        chosen = [i for i, source in enumerate(references) if bucket.low <= len(source.split()) <= high]
        ours, theirs = [outputs[i] for i in chosen], [references[i] for i in chosen]
        alone, spread = score(ours, theirs, language="en"), confidence(ours, theirs, language="en")["bleu"]
        assert bucket.sentences == len(chosen) > 5
        assert (bucket.bleu, bucket.chrf, bucket.exact) == pytest.approx((alone.bleu, alone.chrf, alone.exact))
        assert bucket.bleu == pytest.approx(sacrebleu.corpus_bleu(ours, [theirs], force=True).score)
        assert (bucket.bleu_low, bucket.bleu_high) == (spread.low, spread.high)
        assert spread.low < alone.bleu < spread.high


def test_empty_buckets_have_no_scores() -> None:
    buckets = by_length(["a b c d"], ["a b c d"], ["a b c d"], language="en", source_language="en")
    assert [b.label for b in buckets] == ["1–10", "11–20", "21–30", "31–40", "41+"]
    assert buckets[1] == Bucket("11–20", 11, 20, 0, None, None, None, None, None)
    assert [b.sentences for b in buckets] == [1, 0, 0, 0, 0]


def test_lengths_are_those_of_the_source_and_scores_those_of_the_target() -> None:
    sources, chinese = ["one two three", "one two three four five"], ["她坐在河岸上。", "狮子追着那匹斑马。"]
    short, long = by_length(sources, chinese, chinese, language="zh", source_language="en", edges=(3,))
    assert (short.sentences, long.sentences) == (1, 1)
    assert short.bleu == pytest.approx(100)  # a line of Chinese is one word, and no 4-gram, to English


def test_no_sentence_is_lost_at_an_edge_or_for_being_empty() -> None:
    sources = ["", "a", "a b", "a b c", "a b c d"]
    buckets = by_length(sources, sources, sources, language="en", source_language="en", edges=(1, 3))
    assert [(b.label, b.sentences) for b in buckets] == [("1", 2), ("2–3", 2), ("4+", 1)]


@pytest.mark.parametrize("edges", [(), (10, 10), (20, 10), (0, 5)])
def test_edges_that_make_no_buckets_are_refused(edges: tuple[int, ...]) -> None:
    with pytest.raises(RegardError, match="these lengths make no buckets"):
        by_length(["a"], ["a"], ["a"], language="en", source_language="en", edges=edges)


def test_sources_must_pair_up_too() -> None:
    with pytest.raises(RegardError, match="2 sources, 1 references"):
        by_length(["a", "b"], ["a"], ["a"], language="en", source_language="en")
