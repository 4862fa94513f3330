"""Our intervals and p-values are sacreBLEU's, for BLEU and chrF, and our vectorised metrics are its metrics."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest, Result

from regard.errors import RegardError
from regard.evaluation.scores import METRICS, confidence, paired_bootstrap, pairwise, score
from tests.evaluation.test_scores import CHINESE, corpus, noisy

THEIRS = {"bleu": lambda: BLEU(force=True), "chrf": CHRF}
LINE = st.lists(st.sampled_from(["a", "b", "lion", "河岸", ",", "\t"]), max_size=8).map(" ".join)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("samples", "seed"), [(1000, 12345), (70, 3), (2, 3)])
def test_the_interval_is_that_of_sacrebleu(
    metric: str, samples: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    references = corpus(60)
    outputs = noisy(references, 0.3, seed=1)
    monkeypatch.setenv("SACREBLEU_SEED", str(seed))
    theirs = THEIRS[metric]().corpus_score(outputs, [references], n_bootstrap=samples)
    ours = confidence(outputs, references, language="en", samples=samples, seed=seed)[metric]
    assert ours.score == pytest.approx(theirs.score, abs=1e-9)
    assert ours.mean == pytest.approx(theirs._mean, abs=1e-4)  # theirs are sums in float32
    assert ours.half_width == pytest.approx(theirs._ci, abs=1e-4)
    assert ours.low < ours.mean < ours.high
    assert (ours.samples, ours.seed) == (samples, seed)


def test_the_interval_narrows_as_the_test_set_grows() -> None:
    small, large = (confidence(noisy(corpus(n), 0.3, 1), corpus(n), language="en", samples=200) for n in (30, 480))
    for metric in METRICS:
        assert 2 < small[metric].half_width / large[metric].half_width < 8  # about √16


def test_chinese_is_counted_in_characters() -> None:
    found, real = confidence(*CHINESE, language="zh", samples=50), score(*CHINESE, language="zh")
    assert (found["bleu"].score, found["chrf"].score) == pytest.approx((real.bleu, real.chrf))


@pytest.mark.parametrize("metric", METRICS)
@settings(deadline=None)
@given(pairs=st.lists(st.tuples(LINE, LINE), min_size=1, max_size=4))
def test_a_score_from_sums_is_the_score_of_the_corpus(metric: str, pairs: list[tuple[str, str]]) -> None:
    outputs, references = (list(side) for side in zip(*pairs, strict=True))
    counts = METRICS[metric].count(outputs, references, "en").sum(0)
    real = THEIRS[metric]().corpus_score(outputs, [references]).score
    assert float(METRICS[metric].combine(counts)) == pytest.approx(real, abs=1e-9)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=4, max_size=4), st.integers(0, 40))
def test_bleu_from_sums_is_that_of_sacrebleu(orders: list[tuple[int, int]], theirs: int) -> None:
    total = sorted((max(pair) for pair in orders), reverse=True)
    matched = [min(low, most) for (low, _), most in zip(orders, total, strict=True)]
    counts = np.array([[total[0], theirs, *matched, *total]] * 2, dtype=float)
    real = BLEU.compute_bleu(matched, total, total[0], theirs, smooth_method="exp").score
    assert METRICS["bleu"].combine(counts).tolist() == pytest.approx([real, real], abs=1e-9)


@pytest.mark.parametrize(("metric", "name"), [("bleu", "BLEU"), ("chrf", "chrF2")])
@pytest.mark.parametrize("seed", [12345, 3])
def test_pairwise_p_values_are_those_of_sacrebleu(
    metric: str, name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    references = corpus(60)
    systems = {"a": noisy(references, 0.3, 1), "b": noisy(references, 0.31, 2), "c": noisy(references, 0.26, 3)}
    monkeypatch.setenv("SACREBLEU_SEED", str(seed))
    found = pairwise(systems, references, language="en", metric=metric, samples=300, seed=seed)
    assert set(found) == {(x, y) for x in systems for y in systems if x != y}
    for first in systems:
        names = [first, *(other for other in systems if other != first)]
        named: list[tuple[str, Sequence[str]]] = [(one, systems[one]) for one in names]
        _, results = PairedTest(named, {name: THEIRS[metric]()}, [references], test_type="bs", n_samples=300)()
        for other, theirs in zip(names[1:], results[name][1:], strict=True):
            assert isinstance(theirs, Result)
            assert found[first, other].score_b == pytest.approx(theirs.score, abs=1e-9)
            assert found[first, other].p_value == pytest.approx(theirs.p_value, abs=1.5 / 301)  # a sample at the edge


def test_the_two_halves_of_the_matrix_mirror_each_other() -> None:
    references = corpus(30)
    systems = {"a": noisy(references, 0.3, 1), "b": noisy(references, 0.2, 2)}
    found = pairwise(systems, references, language="en", metric="chrf", samples=50)
    there, back = found["a", "b"], found["b", "a"]
    assert (there.difference, there.low, there.high) == pytest.approx((-back.difference, -back.high, -back.low))
    assert (there.p_value, there.score_a, there.score_b) == (back.p_value, back.score_b, back.score_a)
    assert there.difference == there.score_b - there.score_a


def test_the_paired_bootstrap_of_two_is_their_place_in_the_matrix() -> None:
    references = corpus(30)
    a, b = noisy(references, 0.3, 1), noisy(references, 0.2, 2)
    two = paired_bootstrap(a, b, references, language="en", samples=50)
    one_of_many = pairwise({"a": a, "r": references, "b": b}, references, language="en", samples=50)["a", "b"]
    assert (two.bleu_a, two.bleu_b, two.p_value) == (one_of_many.score_a, one_of_many.score_b, one_of_many.p_value)
    assert (two.low, two.high) == (one_of_many.low, one_of_many.high)


@pytest.mark.parametrize("metric", METRICS)
def test_a_system_does_not_differ_from_its_copy(metric: str) -> None:
    outputs = noisy(corpus(20), 0.3, 1)
    found = pairwise({"a": outputs, "copy": outputs}, corpus(20), language="en", metric=metric, samples=20)
    assert found["a", "copy"].p_value == 1.0


def test_what_cannot_be_compared_is_refused() -> None:
    lines = corpus(3)
    with pytest.raises(RegardError, match="there is no such metric") as caught:
        pairwise({"a": lines, "b": lines}, lines, language="en", metric="ter")
    assert "wanted: bleu or chrf" in str(caught.value)
    with pytest.raises(RegardError, match="nothing to compare"):
        pairwise({"a": lines}, lines, language="en")
    with pytest.raises(RegardError, match="2 references, 3 references"):  # a system may be called anything
        pairwise({"references": lines[:2], "b": lines}, lines, language="en")
    with pytest.raises(RegardError, match="too few bootstrap samples"):
        confidence(lines, lines, language="en", samples=0)
    with pytest.raises(RegardError, match="nothing to score"):
        confidence([], [], language="en")
