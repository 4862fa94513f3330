"""How good are these outputs? BLEU, chrF and exact match by sacreBLEU, and whether one system really beats another.

Every score carries sacreBLEU's signature (Post, 2018, "A Call for Clarity in Reporting BLEU Scores"), without which a
BLEU figure means nothing. sacreBLEU is imported inside the functions: it is slow to load and `--help` does not need it.

Both metrics are functions of sums over the sentences, so a bootstrap counts each sentence once and then only adds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from jaxtyping import Float

from regard.errors import RegardError

# Scripts without spaces need their own units. Japanese and Korean go by character: sacreBLEU's own choice for them
# (MeCab) is a further installation.
TOKENISATIONS = {"zh": "zh", "zho": "zh", "cmn": "zh", "ja": "char", "jpn": "char", "ko": "char", "kor": "char"}


@dataclass(frozen=True)
class Scores:
    """`bleu` and `chrf` from 0 to 100; `exact` is the share, 0 to 1, of outputs that equal their reference."""

    bleu: float
    chrf: float
    exact: float
    sentences: int
    bleu_signature: str
    chrf_signature: str


@dataclass(frozen=True)
class Paired:
    """`difference` is B's BLEU minus A's; `low` and `high` bound its 95 % interval over the samples."""

    bleu_a: float
    bleu_b: float
    difference: float
    p_value: float
    low: float
    high: float
    samples: int
    seed: int


@dataclass(frozen=True)
class Difference:
    """The same by any metric of METRICS: `difference` is `score_b` − `score_a`."""

    metric: str
    score_a: float
    score_b: float
    difference: float
    p_value: float
    low: float
    high: float
    samples: int
    seed: int


@dataclass(frozen=True)
class Interval:
    """A score, and the mean and the middle 95 % of what it is on samples; sacreBLEU prints `mean` ± `half_width`."""

    score: float
    mean: float
    low: float
    high: float
    samples: int
    seed: int

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


def primary(language: str) -> str:
    """A language code without its region and script: zh for zh-TW and zh_Hans."""
    return language.lower().replace("_", "-").split("-")[0]


def tokenisation(language: str) -> str:
    """The name of sacreBLEU's tokenisation for a language code, whatever its region or script."""
    return TOKENISATIONS.get(primary(language), "13a")


def score(outputs: Sequence[str], references: Sequence[str], *, language: str, lowercase: bool = False) -> Scores:
    """Corpus scores of raw text against raw references, one reference per output; `lowercase` ignores case in all."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    check_counts(references, {"outputs": outputs})
    # force: already tokenised text is scored in silence, for the core never prints
    bleu, chrf = BLEU(tokenize=tokenisation(language), lowercase=lowercase, force=True), CHRF(lowercase=lowercase)
    return Scores(
        bleu=bleu.corpus_score(outputs, [references]).score,
        chrf=chrf.corpus_score(outputs, [references]).score,
        exact=exact_share(outputs, references, lowercase=lowercase),
        sentences=len(outputs),
        bleu_signature=str(bleu.get_signature()),
        chrf_signature=str(chrf.get_signature()),
    )


def confidence(
    outputs: Sequence[str], references: Sequence[str], *, language: str, samples: int = 1000, seed: int = 12345
) -> dict[str, Interval]:
    """How far would BLEU and chrF move on another test set like this one? A 95 % interval for each metric.

    The sentences are drawn again with replacement, `samples` times (Efron, 1979; for BLEU: Koehn, 2004). With the n
    scores of the samples in order, from 0, the interval goes from number ⌊n/40⌋ to number n − 1 − ⌊n/40⌋, as in
    sacreBLEU. It speaks of the choice of sentences alone, not of what another seed in training would give.
    """
    check_counts(references, {"outputs": outputs})
    intervals = {}
    for metric in METRICS:
        (real,), (drawn,) = _bootstrap(metric, [outputs], references, language, samples, seed)
        ordered, cut = np.sort(drawn), samples // 40
        low, high = ordered[[cut, samples - 1 - cut]].tolist()
        intervals[metric] = Interval(float(real), float(drawn.mean()), low, high, samples, seed)
    return intervals


def paired_bootstrap(
    outputs_a: Sequence[str],
    outputs_b: Sequence[str],
    references: Sequence[str],
    *,
    language: str,
    samples: int = 1000,
    seed: int = 12345,
) -> Paired:
    """Is B's BLEU unlike A's by luck? See `pairwise`, of which this is the case of two systems and BLEU."""
    systems = {"outputs_a": outputs_a, "outputs_b": outputs_b}
    found = pairwise(systems, references, language=language, samples=samples, seed=seed)["outputs_a", "outputs_b"]
    figures = {name: value for name, value in vars(found).items() if name not in {"metric", "score_a", "score_b"}}
    return Paired(bleu_a=found.score_a, bleu_b=found.score_b, **figures)


def pairwise(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str],
    *,
    language: str,
    metric: str = "bleu",
    samples: int = 1000,
    seed: int = 12345,
) -> dict[tuple[str, str], Difference]:
    """Which systems really differ? For each ordered pair of names (a, b), the difference b − a and its p-value.

    Koehn (2004), "Statistical Significance Tests for MT Evaluation". The sentences are drawn again with replacement,
    the same ones for all systems. With sᵢ = |B − A| in sample i and d = |B − A| on the real test set,
    p = (#{sᵢ − mean(s) > d} + 1) / (samples + 1), as in sacreBLEU's paired bootstrap. `low` and `high` are the 2.5 %
    and 97.5 % quantiles of B − A. The p-values are not corrected for there being many pairs.
    Differs from sacreBLEU: two systems that never differ get p = 1, where the formula would give 1 / (samples + 1).
    """
    check_counts(references, systems)
    if len(systems) < 2:
        raise RegardError("there is nothing to compare", found=f"{len(systems)} systems", wanted="2 or more")
    real, drawn = _bootstrap(metric, list(systems.values()), references, language, samples, seed)
    found = {}
    for (i, a), (j, b) in permutations(enumerate(systems), 2):
        differences, difference = drawn[j] - drawn[i], float(real[j] - real[i])
        low, high = np.quantile(differences, [0.025, 0.975]).tolist()
        p_value = _p_value(differences, abs(difference))
        found[a, b] = Difference(metric, float(real[i]), float(real[j]), difference, p_value, low, high, samples, seed)
    return found


def _bootstrap(
    metric: str, systems: Sequence[Sequence[str]], references: Sequence[str], language: str, samples: int, seed: int
) -> tuple[Float[np.ndarray, "systems"], Float[np.ndarray, "systems samples"]]:
    """The score of each system on the real test set and on each sample of it, drawn as sacreBLEU draws."""
    if samples < 1:
        raise RegardError("too few bootstrap samples", found=str(samples), wanted="1 or more", do="use 1000")
    if metric not in METRICS:
        raise RegardError("there is no such metric", found=repr(metric), wanted=" or ".join(METRICS))
    count, combine = METRICS[metric].count, METRICS[metric].combine
    counts = np.stack([count(outputs, references, language) for outputs in systems])
    random, size = np.random.default_rng(seed), len(references)
    draws = (np.bincount(random.choice(size, size=size), minlength=size) for _ in range(samples))
    return combine(counts.sum(1)), combine(np.stack([draw @ counts for draw in draws], axis=1))


def _p_value(differences: Float[np.ndarray, "samples"], observed: float) -> float:
    if not differences.any() and observed == 0:
        return 1.0
    sizes = np.abs(differences)
    return (int((sizes - sizes.mean() > observed).sum()) + 1) / (len(sizes) + 1)


def _bleu_counts(outputs: Sequence[str], references: Sequence[str], language: str) -> Float[np.ndarray, "sentences 10"]:
    """All that BLEU needs to know of each sentence: both lengths, n-grams matched, n-grams in all (n = 1 … 4)."""
    from sacrebleu.metrics.bleu import BLEU

    bleu = BLEU(tokenize=tokenisation(language), force=True)
    each = [bleu.corpus_score([ours], [[theirs]]) for ours, theirs in zip(outputs, references, strict=True)]
    return np.array([[one.sys_len, one.ref_len, *one.counts, *one.totals] for one in each], dtype=float)


def _bleu(counts: Float[np.ndarray, "*rows 10"]) -> Float[np.ndarray, "*rows"]:
    """100 · min(1, exp(1 − r/c)) · (p₁p₂p₃p₄)^¼ (Papineni et al., 2002), with sacreBLEU's smoothing: the k-th
    precision without a match is 1 / (2ᵏ · n-grams). Nothing matched, or no 4-gram at all: 0."""
    ours, theirs, matched, total = counts[..., 0], counts[..., 1], counts[..., 2:6], counts[..., 6:]
    smoothed = np.where(matched > 0, matched, 0.5 ** np.cumsum(matched == 0, axis=-1))
    precision = np.exp(np.log(smoothed / np.maximum(total, 1)).mean(-1))
    brevity = np.exp(np.minimum(0, 1 - theirs / np.maximum(ours, 1)))
    return np.asarray(np.where(matched.any(-1) & (total[..., -1] > 0), 100 * brevity * precision, 0.0))


def _chrf_counts(outputs: Sequence[str], references: Sequence[str], language: str) -> Float[np.ndarray, "sentences 18"]:
    """All that chrF needs: character n-grams (n = 1 … 6) of the output, of the reference, and matched.

    As in sacreBLEU, an output's n-grams do not count where the reference is too short to have any.
    """
    from sacrebleu.metrics.helpers import extract_all_char_ngrams as ngrams

    rows = []
    for ours, theirs in zip(outputs, references, strict=True):
        pairs = list(zip(ngrams(ours, 6), ngrams(theirs, 6), strict=True))
        mine = [one.total() if other else 0 for one, other in pairs]
        matched = [sum(min(one[ngram], other[ngram]) for ngram in one.keys() & other.keys()) for one, other in pairs]
        rows.append([*mine, *(other.total() for _, other in pairs), *matched])
    return np.array(rows, dtype=float)


def _chrf(counts: Float[np.ndarray, "*rows 18"]) -> Float[np.ndarray, "*rows"]:
    """100 · (1 + β²) P R / (β² P + R), β = 2, P and R the means of precision and recall over n (Popović, 2015), over
    those n of which both sides have n-grams."""
    ours, theirs, matched = counts[..., :6], counts[..., 6:12], counts[..., 12:]
    known = (ours > 0) & (theirs > 0)
    orders = np.maximum(known.sum(-1), 1)
    precision, recall = ((known * matched / np.maximum(side, 1)).sum(-1) / orders for side in (ours, theirs))
    return np.asarray(500 * precision * recall / np.where(precision + recall > 0, 4 * precision + recall, 1))


@dataclass(frozen=True)
class Metric:
    """`count` gives the numbers of each sentence, `combine` the score of their sums."""

    count: Callable[[Sequence[str], Sequence[str], str], Float[np.ndarray, "sentences columns"]]
    combine: Callable[[Float[np.ndarray, "*rows columns"]], Float[np.ndarray, "*rows"]]


METRICS = {"bleu": Metric(_bleu_counts, _bleu), "chrf": Metric(_chrf_counts, _chrf)}


def exact_share(outputs: Sequence[str], references: Sequence[str], *, lowercase: bool = False) -> float:
    """The share, 0 to 1, of outputs that equal their reference."""
    pairs = zip(outputs, references, strict=True)
    return sum(a.lower() == b.lower() if lowercase else a == b for a, b in pairs) / len(outputs)


def check_counts(references: Sequence[str], systems: Mapping[str, Sequence[str]]) -> None:
    """Refuse lines that do not belong together, and nothing at all."""
    for name, outputs in systems.items():
        if len(outputs) != len(references):
            raise RegardError(
                "outputs and references do not pair up",
                found=f"{len(outputs)} {name}, {len(references)} references",
                wanted="one output for each reference, in the same order",
                do="translate the very file that the references belong to; an empty line counts as a line",
            )
    if not references:
        raise RegardError(
            "there is nothing to score", found="0 references", wanted="1 or more", do="check the test set"
        )
