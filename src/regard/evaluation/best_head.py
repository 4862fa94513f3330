"""Which head aligns best? By its error rate where people drew links, otherwise by how far its two readings agree.

Agreement alone cannot tell the step that predicts a word from the one that reads it: a row later, both readings are
wrong in the same way. Links to the neighbours of the right word are however not the same from one sentence to the next.
So without gold an agreed link counts by how constantly its two words are linked elsewhere.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from regard.errors import DataError
from regard.evaluation.alignment import Gold, score_alignments
from regard.tasks.alignment import EVERY, Among, Choice
from regard.tasks.links import SYMMETRISATIONS, Links
from regard.tasks.translator import Translator
from regard.tasks.word_texts import WordPair
from regard.tasks.word_weights import heads_of, word_weights
from regard.watching import Watch, unwatched

Both = tuple[Links, Links]
Readings = list[Both]
NOTHING: Both = (frozenset(), frozenset())


def best_head(
    translator: Translator,
    pairs: Sequence[WordPair],
    gold: Sequence[Gold] | None = None,
    *,
    among: Among = EVERY,
    symmetrise: str = "grow-diag",
    watch: Watch = unwatched,
) -> Choice:
    """The head, and the step at which it is read, with the lowest error rate on these pairs; without gold the one whose
    readings agree best and most constantly."""
    return rank_heads(translator, pairs, gold, among=among, symmetrise=symmetrise, watch=watch)[0]


def rank_heads(
    translator: Translator,
    pairs: Sequence[WordPair],
    gold: Sequence[Gold] | None = None,
    *,
    among: Among = EVERY,
    symmetrise: str = "grow-diag",
    watch: Watch = unwatched,
) -> list[Choice]:
    """All of them, the best first, each with its figures (which it has not where no pair has words on both sides)."""
    read: dict[Choice, Readings] = {}
    for number, weights in watch(word_weights(translator, pairs), total=len(pairs), what="choosing a head"):
        for choice in among.choices(weights.heads):
            read.setdefault(choice, [NOTHING] * len(pairs))[number] = choice.readings(weights)
    if not read and among.settled:
        return among.choices(heads_of(translator))
    if not read:
        raise DataError(
            "There is no pair to choose a head by.",
            found="none with words on both sides",
            do="give such pairs, or all of --layer, --head and --shift",
        )
    return sorted((_judged(choice, pairs, readings, gold, symmetrise) for choice, readings in read.items()), key=_rank)


def agreement(readings: Sequence[Both]) -> float:
    """How far two readings A and B of all pairs say the same: F₁ = 2 Σ|A ∩ B| / Σ(|A| + |B|).

    A head that looks anywhere, or always at one place, is at odds with itself: the source word that a target word
    looks at most is then mostly looked at by another one.
    """
    size = sum(len(first) + len(second) for first, second in readings)
    return 2 * sum(len(first & second) for first, second in readings) / size if size else 1.0


def constancy(pairs: Sequence[WordPair], readings: Sequence[Both]) -> float:
    """The agreement F₁ in which an agreed link between the words s and t counts

        2 (n(s, t) − 1) / (n(s) + n(t) − 2)

    with n the number of agreed links of s and t, of s, and of t: Dice's coefficient (1945), the link itself left out.
    It is 0 where no two words are linked twice.
    """
    agreed = [
        (pair.source.words[i].lower(), pair.target.words[j].lower())
        for pair, (first, second) in zip(pairs, readings, strict=True)
        for i, j in first & second
    ]
    both, sources, targets = Counter(agreed), Counter(s for s, _ in agreed), Counter(t for _, t in agreed)
    shares = (n * 2 * (n - 1) / (sources[s] + targets[t] - 2) for (s, t), n in both.items() if n > 1)
    return 2 * sum(shares) / max(1, sum(len(first) + len(second) for first, second in readings))


def _judged(
    choice: Choice, pairs: Sequence[WordPair], readings: Readings, gold: Sequence[Gold] | None, symmetrise: str
) -> Choice:
    choice = replace(choice, agreement=agreement(readings), constancy=constancy(pairs, readings))
    if gold is None:
        return choice
    links = [SYMMETRISATIONS[symmetrise](*both) for both in readings]
    return replace(choice, aer=score_alignments(links, gold).aer)


def _rank(choice: Choice) -> tuple[float, ...]:
    """Low is good. Too few pairs for any word to come twice are ranked by agreement alone."""
    unsupervised = -(choice.constancy or 0.0), -(choice.agreement or 0.0)
    return unsupervised if choice.aer is None else (choice.aer, *unsupervised)
