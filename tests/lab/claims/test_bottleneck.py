from regard.evaluation.lengths import Bucket
from regard.lab.claims.bottleneck import EDGES, THRESHOLD, buckets, drawn, kept, lead


def of(**bleu: float | None) -> list[Bucket]:
    return [Bucket(label, 0, None, 1, value) for label, value in {"11–20": bleu["short"], "41+": bleu["long"]}.items()]


def test_what_is_kept_is_a_share_of_the_score_on_short_sentences() -> None:
    assert kept(of(short=80.0, long=20.0)) == 0.25
    assert kept(of(short=0.0, long=20.0)) == 0.0
    assert kept(of(short=50.0, long=None)) == 0.0


def test_attention_that_fails_less_than_one_vector_fails_too() -> None:
    assert lead(0.9, 0.5) == 0.4
    assert lead(0.8, 0.1) >= THRESHOLD
    assert lead(0.79, 0.1) == 0.0


def test_there_are_equally_many_new_sentences_of_every_length() -> None:
    known = {pair.source for pair in drawn(2, known=set())}
    pairs = drawn(2, known=known)
    counts = [sum(len(pair.source.split()) > edge for edge in EDGES) for pair in pairs]
    assert counts == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert not known & {pair.source for pair in pairs}


def test_a_model_that_is_right_on_short_sentences_only_keeps_nothing() -> None:
    pairs = drawn(3, known=set())
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    wrong = [target if len(source.split()) <= 20 else "不" for source, target in zip(sources, targets, strict=True)]
    assert kept(buckets(sources, targets, targets)) == 1.0
    assert kept(buckets(sources, wrong, targets)) < 0.01
