"""Our scores are sacreBLEU's, with its signature; our paired bootstrap is its paired bootstrap."""

import random
import subprocess
import sys
from collections.abc import Sequence

import pytest
import sacrebleu
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest, Result

from regard.errors import RegardError
from regard.evaluation.scores import paired_bootstrap, score, tokenisation

REFERENCES = ["The lion chased the zebra.", "She sat on the bank of the river.", "It was tired, so it slept."]
OUTPUTS = ["The lion chased a zebra.", "she sat on the bank of the river.", "It was tired, so it slept."]
CHINESE = (["狮子追那匹斑马。", "她坐在河岸上。"], ["狮子追着斑马。", "她坐在河岸上。"])


def noisy(sentences: list[str], rate: float, seed: int) -> list[str]:
    """The sentences with words replaced at this rate."""
    chance = random.Random(seed)
    return [" ".join("wrong" if chance.random() < rate else word for word in line.split()) for line in sentences]


def corpus(size: int) -> list[str]:
    chance = random.Random(7)
    words = ["the", "lion", "zebra", "bank", "river", "sat", "chased", "slept", "because", "on", "it", "was"]
    return [" ".join(chance.choices(words, k=chance.randint(4, 15))) + " ." for _ in range(size)]


@pytest.mark.parametrize(
    ("language", "name"),
    [("zh", "zh"), ("zh-TW", "zh"), ("ZH_Hans", "zh"), ("cmn", "zh"), ("ja", "char"), ("ko", "char"), ("en", "13a")],
)
def test_the_language_chooses_the_tokenisation(language: str, name: str) -> None:
    assert tokenisation(language) == name
    assert f"|tok:{name}|" in score(["a b c d"], ["a b c d"], language=language).bleu_signature


@pytest.mark.parametrize("lowercase", [False, True])
def test_english_scores_equal_sacrebleu(lowercase: bool) -> None:
    ours = score(OUTPUTS, REFERENCES, language="en", lowercase=lowercase)
    assert ours.bleu == pytest.approx(
        sacrebleu.corpus_bleu(OUTPUTS, [REFERENCES], lowercase=lowercase).score, abs=1e-12
    )
    chrf = sacrebleu.CHRF(lowercase=lowercase).corpus_score(OUTPUTS, [REFERENCES]).score
    assert ours.chrf == pytest.approx(chrf, abs=1e-12)
    assert ours.exact == pytest.approx(2 / 3 if lowercase else 1 / 3)
    assert ours.sentences == 3
    case = "lc" if lowercase else "mixed"
    version = sacrebleu.__version__
    assert ours.bleu_signature == f"nrefs:1|case:{case}|eff:no|tok:13a|smooth:exp|version:{version}"
    assert ours.chrf_signature == f"nrefs:1|case:{case}|eff:yes|nc:6|nw:0|space:no|version:{version}"


def test_chinese_scores_equal_sacrebleu_with_its_chinese_tokenisation() -> None:
    ours = score(*CHINESE, language="zh")
    assert ours.bleu == pytest.approx(sacrebleu.corpus_bleu(CHINESE[0], [CHINESE[1]], tokenize="zh").score, abs=1e-12)
    assert ours.bleu > 2 * score(*CHINESE, language="en").bleu  # a line of Chinese is one word to 13a


def test_perfect_outputs_score_full_marks_and_empty_outputs_none() -> None:
    perfect, empty = score(REFERENCES, REFERENCES, language="en"), score(["", "", ""], REFERENCES, language="en")
    assert (perfect.bleu, perfect.chrf, perfect.exact) == pytest.approx((100, 100, 1))
    assert (empty.bleu, empty.chrf, empty.exact) == (0, 0, 0)


def test_already_tokenised_text_is_scored_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    score(corpus(120), corpus(120), language="en")
    assert caplog.records == []


@pytest.mark.parametrize("seed", [12345, 3])
@pytest.mark.parametrize(("rate_a", "rate_b"), [(0.3, 0.31), (0.3, 0.25), (0.1, 0.4)])
def test_the_paired_bootstrap_is_that_of_sacrebleu(
    rate_a: float, rate_b: float, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    references = corpus(60)
    a, b = noisy(references, rate_a, seed=1), noisy(references, rate_b, seed=2)
    monkeypatch.setenv("SACREBLEU_SEED", str(seed))
    named: list[tuple[str, Sequence[str]]] = [("a", a), ("b", b)]
    _, results = PairedTest(named, {"BLEU": BLEU(force=True)}, [references], test_type="bs", n_samples=300)()
    theirs_a, theirs_b = results["BLEU"]
    assert isinstance(theirs_a, Result)
    assert isinstance(theirs_b, Result)
    ours = paired_bootstrap(a, b, references, language="en", samples=300, seed=seed)
    assert ours.bleu_a == pytest.approx(theirs_a.score, abs=1e-9)
    assert ours.bleu_b == pytest.approx(theirs_b.score, abs=1e-9)
    assert ours.difference == pytest.approx(theirs_b.score - theirs_a.score, abs=1e-9)
    assert ours.p_value == pytest.approx(theirs_b.p_value, abs=1.5 / 301)  # one sample may fall on the other side
    assert (ours.samples, ours.seed) == (300, seed)


def test_a_real_difference_is_significant_and_a_small_one_is_not() -> None:
    references = corpus(60)
    a = noisy(references, 0.3, seed=1)
    better = paired_bootstrap(a, noisy(references, 0.1, seed=2), references, language="en", samples=200)
    alike = paired_bootstrap(a, noisy(references, 0.3, seed=3), references, language="en", samples=200)
    assert better.p_value < 0.01
    assert 0 < better.low < better.difference < better.high
    assert alike.p_value > 0.05
    assert alike.low < 0 < alike.high


def test_exchanging_the_systems_turns_the_difference_round() -> None:
    references = corpus(30)
    a, b = noisy(references, 0.3, seed=1), noisy(references, 0.2, seed=2)
    there, back = (paired_bootstrap(*two, references, language="en", samples=50) for two in ((a, b), (b, a)))
    assert (there.difference, there.low, there.high) == pytest.approx((-back.difference, -back.high, -back.low))
    assert there.p_value == back.p_value


def test_the_seed_decides_the_samples() -> None:
    references = corpus(30)
    systems = noisy(references, 0.3, seed=1), noisy(references, 0.2, seed=2), references
    first, again, other = (paired_bootstrap(*systems, language="en", samples=50, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.low != other.low


def test_a_system_does_not_differ_from_itself() -> None:
    same = paired_bootstrap(OUTPUTS, OUTPUTS, REFERENCES, language="en", samples=100)
    assert (same.p_value, same.difference, same.low, same.high) == (1.0, 0.0, 0.0, 0.0)


def test_the_bootstrap_tokenises_by_language() -> None:
    outputs, references = CHINESE
    paired = paired_bootstrap(outputs, references, references, language="zh", samples=20)
    assert paired.bleu_a == pytest.approx(score(outputs, references, language="zh").bleu, abs=1e-9)


def test_unequal_lengths_say_both_counts() -> None:
    with pytest.raises(RegardError, match=r"2 outputs, 3 references") as caught:
        score(OUTPUTS[:2], REFERENCES, language="en")
    assert "an empty line counts as a line" in str(caught.value)
    with pytest.raises(RegardError, match=r"1 outputs_b, 3 references"):
        paired_bootstrap(OUTPUTS, OUTPUTS[:1], REFERENCES, language="en")


def test_nothing_to_score_is_an_error() -> None:
    with pytest.raises(RegardError, match="nothing to score"):
        score([], [], language="en")
    with pytest.raises(RegardError, match="too few bootstrap samples"):
        paired_bootstrap(OUTPUTS, OUTPUTS, REFERENCES, language="en", samples=0)


def test_importing_the_scores_does_not_import_sacrebleu() -> None:
    code = "import sys, regard.evaluation.scores; sys.exit('sacrebleu' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
