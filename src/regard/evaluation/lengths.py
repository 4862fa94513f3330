"""Does quality fall as sentences grow longer? Scores by source length.

The figure of Bahdanau, Cho & Bengio (2015), "Neural Machine Translation by Jointly Learning to Align and Translate",
figure 2: without attention BLEU falls on long sentences, with attention it holds.
Differs from the paper: corpus BLEU in buckets of length, with intervals, instead of a smoothed curve.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from regard.errors import RegardError
from regard.evaluation.scores import check_counts, confidence, exact_share, primary
from regard.insight.words import SCRIPTS_WITHOUT_SPACES, words_at

LANGUAGES_WITHOUT_SPACES = {
    *("zh", "zho", "cmn", "yue"),
    *("ja", "jpn", "th", "tha", "lo", "lao", "km", "khm", "my", "mya", "bo", "bod"),
}


@dataclass(frozen=True)
class Bucket:
    """The sentences whose source has `low` to `high` words (None: any number), and their scores; None if there are
    none. `bleu_low` and `bleu_high` bound BLEU's 95 % interval: wide where sentences are few."""

    label: str
    low: int
    high: int | None
    sentences: int
    bleu: float | None = None
    chrf: float | None = None
    exact: float | None = None
    bleu_low: float | None = None
    bleu_high: float | None = None


def by_length(
    sources: Sequence[str],
    outputs: Sequence[str],
    references: Sequence[str],
    *,
    language: str,
    source_language: str,
    edges: Sequence[int] = (10, 20, 30, 40),
) -> list[Bucket]:
    """The scores of each bucket of source lengths, shortest first; `language` is that of the outputs.

    Edges 10, 20 make the buckets 1–10, 11–20 and 21+. An empty source is counted among the shortest.
    """
    check_counts(references, {"sources": sources, "outputs": outputs})
    if not edges or any(high <= low for low, high in pairwise([0, *edges])):
        raise RegardError(
            "these lengths make no buckets", found=f"edges {tuple(edges)}", wanted="rising numbers, 1 or more"
        )
    lengths = [max(1, words(source, source_language)) for source in sources]
    buckets = []
    for low, high in zip([1, *(edge + 1 for edge in edges)], [*edges, None], strict=True):
        chosen = [i for i, length in enumerate(lengths) if low <= length and (high is None or length <= high)]
        buckets.append(_bucket(low, high, [outputs[i] for i in chosen], [references[i] for i in chosen], language))
    return buckets


def words(text: str, language: str) -> int:
    """How many words a sentence has: runs between spaces, or, in a language without spaces, characters (a word in
    another script inside it is one). If the language is not known, the script of most characters decides."""
    if primary(language) in LANGUAGES_WITHOUT_SPACES or (not language and _is_without_spaces(text)):
        return max(words_at(text), default=-1) + 1
    return len(text.split())


def _is_without_spaces(text: str) -> bool:
    places = [ord(char) for char in text if not char.isspace()]
    found = sum(any(first <= place <= last for first, last in SCRIPTS_WITHOUT_SPACES) for place in places)
    return 2 * found > len(places)


def _bucket(low: int, high: int | None, outputs: list[str], references: list[str], language: str) -> Bucket:
    label = f"{low}+" if high is None else f"{low}–{high}" if low < high else str(low)
    if not outputs:
        return Bucket(label, low, high, 0)
    found = confidence(outputs, references, language=language)
    bleu, exact = found["bleu"], exact_share(outputs, references)
    return Bucket(label, low, high, len(outputs), bleu.score, found["chrf"].score, exact, bleu.low, bleu.high)
