"""Is attention something else than relatedness? It has a direction, and it is a budget.

That *river* is as related to *bank* as *bank* to *river* goes for a cosine. The weights of attention (Vaswani et al.
2017, arXiv:1706.03762, equation 1) are made of queries and keys, which differ, and each row sums to 1: who looks at one
word looks less at another. So a second clue to the meaning of *bank* should take away from the first.

Each sentence has a clue before *bank*; after it stands nothing, a time, something else that people do, or a second
clue. What *bank* gives to the first clue is read in the head that looks at clues most.

A first form of this experiment compared a second clue with another deed in its place, and did not hold: both take their
share of the budget, the clue hardly more. So what is asked here is what *adding* a clue does; the control adds words
that draw no attention, and the other deed is told beside them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from regard.data.corpora.lexicon import PAST_TIMES
from regard.data.corpora.senses import AMBIGUOUS, BANK
from regard.evaluation.challenges import Challenge, ClueHead, clue_head, clues
from regard.insight import Trace
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.report import Plot, Series
from regard.tasks.translator import Translator

WORD = "bank"
STATISTIC = (
    "The smaller of two numbers. How unlike the weights are in the two directions: Σ|w(i,j) − w(j,i)| / Σ(w(i,j) + "
    "w(j,i)) over all pairs of words, 0 if they are the same. And by which part the weight of the first clue falls "
    "when a second clue follows."
)
THRESHOLD = 0.2
NOTHING, TIME, OTHER, SECOND = "nothing", "a time", "another deed", "a second clue"
"""What may stand behind *bank*."""
ANY = "。"
"""A translation: the decoder must say something, but is not looked at."""
PEOPLE = (("Anna", "she"), ("Tom", "he"), ("The farmer", "he"), ("The teacher", "she"), ("I", "I"))
SMALL = frozenset({"the", "a", "an", "some", "to", "through", "in", "on", "up"})


@dataclass(frozen=True)
class Sentence:
    """One with a clue before *bank*; `clue` are its words."""

    text: str
    clue: frozenset[str]


def measure(setting: Setting) -> Measured:
    translator = setting.shop.load("transformer")
    head = best(translator, setting.shop.challenges(WORD)[: setting.of(20, 100)])
    shares: dict[str, list[float]] = {}
    for variants in list(sentences())[:: setting.of(2, 1)]:
        for behind, sentence in variants.items():
            found = share(traced(translator, sentence.text), head, sentence.clue)
            shares.setdefault(behind, []).append(found)
    texts = [challenge.first.source for challenge in setting.shop.challenges(WORD)[:20]]
    direction = asymmetry([traced(translator, text).weights[head.name][head.head] for text in texts])
    relatedness = asymmetry([cosines(translator, text) for text in texts])
    falls = {behind: fall(shares[NOTHING], given) for behind, given in shares.items() if behind != NOTHING}
    return Measured(
        value=min(direction, falls[SECOND]),
        control=max(relatedness, falls[TIME]),
        numbers={
            "head": f"{head.name}, head {head.head}",
            "unlike in the two directions: weights": direction,
            "unlike in the two directions: cosines": relatedness,
            **{f"the first clue's weight falls if there follows {behind}": lost for behind, lost in falls.items()},
        },
        series={"shares": {behind: float(np.mean(given)) for behind, given in shares.items()}},
    )


def sentences() -> Iterator[dict[str, Sentence]]:
    """The same sentence with nothing behind *bank*, with a time, with something else people do, with a second clue."""
    unrelated = [clue for word in AMBIGUOUS if word is not BANK for both in word.clues for clue in both]
    twice = [pair for side in zip(*BANK.clues, strict=True) for pair in permutations(side, 2)]
    for number, ((first, second), (who, he)) in enumerate(product(twice, PEOPLE)):
        start = f"{who} wanted to {first.base}, so {he} walked to the {WORD}"
        other = unrelated[number % len(unrelated)]
        ends = {
            NOTHING: "",
            TIME: f" {PAST_TIMES[number % len(PAST_TIMES)][0]}",
            OTHER: f" before {other.gerund}",
            SECOND: f" before {second.gerund}",
        }
        clue = frozenset(first.base.split()) - SMALL
        yield {behind: Sentence(f"{start}{end}.", clue) for behind, end in ends.items()}


def traced(translator: Translator, text: str) -> Trace:
    return translator.attention(text, ANY).by_words()


def best(translator: Translator, challenges: Sequence[Challenge]) -> ClueHead:
    """The head in which *bank* looks at its clue most, in sentences with a single clue."""
    sides = [
        (side.source, words)
        for challenge in challenges
        for side, words in zip((challenge.first, challenge.second), clues(challenge), strict=True)
    ]
    return clue_head([traced(translator, text) for text, _ in sides], [(WORD, words) for _, words in sides])


def share(trace: Trace, head: ClueHead, words: frozenset[str]) -> float:
    """What *bank* gives to these words."""
    labels = [label.strip(".,").lower() for label in trace.rows["source"].labels]
    places = [place for place, label in enumerate(labels) if label in words]
    return float(trace.weights[head.name][head.head][labels.index(WORD), places].sum())


def fall(before: Sequence[float], after: Sequence[float]) -> float:
    """The part of its mean that was lost."""
    return float(1 - np.mean(after) / np.mean(before))


def asymmetry(matrices: Sequence[np.ndarray]) -> float:
    """Σ|w(i,j) − w(j,i)| / Σ|w(i,j) + w(j,i)| over i < j: 0 if both directions are alike, 1 if each has only one."""
    apart = sum(float(np.abs(w - w.T).sum()) for w in matrices)
    together = sum(float(np.abs(w + w.T).sum() - 2 * np.abs(np.diag(w)).sum()) for w in matrices)
    return apart / together if together else 0.0


def cosines(translator: Translator, text: str) -> np.ndarray:
    """How related the words of a sentence are: the cosine of their embeddings."""
    ids = translator.tokenizers.source.encode(text)
    rows = translator.model.get_parameter("target_embedding.weight").detach().numpy()[ids]
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows @ rows.T)


def draw(measured: Sequence[Measured]) -> list[Figure]:
    behind = list(measured[0].series["shares"])
    means = [float(np.mean([one.series["shares"][which] for one in measured])) for which in behind]
    series = [Series("the first clue's share of the attention of “bank”", means)]
    return [Plot("bars", behind, series, "behind “bank” stands", "weight", "Who is given more, others less.")]


CLAIM = Claim(
    name="budget",
    title="Attention has a direction and a budget; relatedness has neither",
    question="Does “bank” look at “river” as “river” looks at “bank”? And what is left for the first clue when there "
    "is a second one?",
    source="Vaswani et al. 2017, equation 1",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    control="the larger of the same two numbers: for the cosines between the words' embeddings, and for a time "
    "instead of a second clue.",
    measure=measure,
    draw=draw,
    models=("transformer",),
)
