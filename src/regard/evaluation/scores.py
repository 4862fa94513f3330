"""How good are these outputs? BLEU, chrF and exact match by sacreBLEU, and whether one system really beats another.

Every score carries sacreBLEU's signature (Post, 2018, "A Call for Clarity in Reporting BLEU Scores"), without which a
BLEU figure means nothing. sacreBLEU is imported inside the functions: it is slow to load and `--help` does not need it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

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


def tokenisation(language: str) -> str:
    """The name of sacreBLEU's tokenisation for a language code, whatever its region or script (zh-TW, zh_Hans)."""
    return TOKENISATIONS.get(language.lower().replace("_", "-").split("-")[0], "13a")


def score(outputs: Sequence[str], references: Sequence[str], *, language: str, lowercase: bool = False) -> Scores:
    """Corpus scores of raw text against raw references, one reference per output; `lowercase` ignores case in all."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    _check_counts(references, outputs=outputs)
    # force: already tokenised text is scored in silence, for the core never prints
    bleu, chrf = BLEU(tokenize=tokenisation(language), lowercase=lowercase, force=True), CHRF(lowercase=lowercase)
    return Scores(
        bleu=bleu.corpus_score(outputs, [references]).score,
        chrf=chrf.corpus_score(outputs, [references]).score,
        exact=_exact(outputs, references, lowercase),
        sentences=len(outputs),
        bleu_signature=str(bleu.get_signature()),
        chrf_signature=str(chrf.get_signature()),
    )


def paired_bootstrap(
    outputs_a: Sequence[str],
    outputs_b: Sequence[str],
    references: Sequence[str],
    *,
    language: str,
    samples: int = 1000,
    seed: int = 12345,
) -> Paired:
    """Is B's BLEU unlike A's by luck? Koehn (2004), "Statistical Significance Tests for MT Evaluation".

    The sentences are drawn again with replacement, the same ones for both. With sᵢ = |B − A| in sample i and
    d = |B − A| on the real test set, p = (#{sᵢ − mean(s) > d} + 1) / (samples + 1), as in sacreBLEU's paired bootstrap.
    Differs from sacreBLEU: two systems that never differ get p = 1, where the formula would give 1 / (samples + 1).
    """
    if samples < 1:
        raise RegardError("too few bootstrap samples", found=str(samples), wanted="1 or more", do="use 1000")
    _check_counts(references, outputs_a=outputs_a, outputs_b=outputs_b)
    counts_a, counts_b = _counts(outputs_a, references, language), _counts(outputs_b, references, language)
    bleu_a, bleu_b = _bleu(counts_a.sum(0)), _bleu(counts_b.sum(0))
    draws = _draws(len(references), samples, seed)
    differences = np.array([_bleu(draw @ counts_b) - _bleu(draw @ counts_a) for draw in draws])
    low, high = np.quantile(differences, [0.025, 0.975]).tolist()
    p_value = _p_value(differences, abs(bleu_b - bleu_a))
    return Paired(bleu_a, bleu_b, bleu_b - bleu_a, p_value, low, high, samples, seed)


def _counts(outputs: Sequence[str], references: Sequence[str], language: str) -> Int[np.ndarray, "sentences 10"]:
    """All that BLEU needs to know of each sentence: both lengths, n-grams matched, n-grams in all (n = 1 … 4)."""
    from sacrebleu.metrics.bleu import BLEU

    bleu = BLEU(tokenize=tokenisation(language), force=True)
    each = [bleu.corpus_score([ours], [[theirs]]) for ours, theirs in zip(outputs, references, strict=True)]
    return np.array([[one.sys_len, one.ref_len, *one.counts, *one.totals] for one in each])


def _bleu(counts: Int[np.ndarray, "10"]) -> float:
    from sacrebleu.metrics.bleu import BLEU

    ours, theirs, *ngrams = counts.tolist()
    return float(BLEU.compute_bleu(ngrams[:4], ngrams[4:], ours, theirs, smooth_method="exp").score)


def _draws(sentences: int, samples: int, seed: int) -> Iterator[Int[np.ndarray, "sentences"]]:
    """For each sample, how often each sentence comes up in it, drawn as sacreBLEU draws."""
    random = np.random.default_rng(seed)
    for _ in range(samples):
        yield np.bincount(random.choice(sentences, size=sentences, replace=True), minlength=sentences)


def _p_value(differences: Float[np.ndarray, "samples"], observed: float) -> float:
    if not differences.any() and observed == 0:
        return 1.0
    sizes = np.abs(differences)
    return (int((sizes - sizes.mean() > observed).sum()) + 1) / (len(sizes) + 1)


def _exact(outputs: Sequence[str], references: Sequence[str], lowercase: bool) -> float:
    pairs = zip(outputs, references, strict=True)
    return sum(a.lower() == b.lower() if lowercase else a == b for a, b in pairs) / len(outputs)


def _check_counts(references: Sequence[str], **systems: Sequence[str]) -> None:
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
