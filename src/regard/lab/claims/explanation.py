"""Do the weights of attention explain what a model says?

Jain & Wallace 2019 ("Attention is not Explanation", arXiv:1902.10186) dealt the weights of recurrent classifiers out
anew and mostly got the same answer; nor did the weights agree with what happens when a word is left out. Wiegreffe &
Pinter 2019 ("Attention is not not Explanation", arXiv:1908.04626) answered that this depends on the model and the task:
in translation, who looks elsewhere says something else.

Here a recurrent classifier with attention tells which of two meanings a word has (river bank or money bank, and seven
such words more). Its weights are shuffled, and each word left out in turn. The control is a translator: shuffled
weights must hurt there, or the shuffling would show nothing. Of its words, too, only those count that it gets right.
"""

from collections.abc import Sequence
from math import sqrt
from pathlib import Path

import torch
from torch import Tensor

from regard import load
from regard.attention import capture
from regard.data.corpora.senses import AMBIGUOUS
from regard.data.readers import ParallelText
from regard.files import write_text
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.series import over_seeds
from regard.lab.shop import Shop
from regard.report import Plot, Series
from regard.tasks.classification import Examples
from regard.tasks.classifier import Classifier
from regard.tasks.pairs import EncodedPairs
from regard.tasks.translator import Translator

STATISTIC = (
    "Of the sentences that the classifier gets right, how often its answer stays the same when the weights of its "
    "attention are shuffled. 0 if it gets fewer than 0.8 of all right."
)
THRESHOLD = 0.75
KNOWS = 0.8
"""How many it must get right: the answers of one that has learned little, or always says the same, explain nothing and
stay as they are whatever is done to them. Both were added before the full run: until then every sentence counted."""
AGREES = 0.5
"""The least τ at which the weights may be called an account of what matters: of four pairs of words three are in the
same order ((1 + τ) / 2)."""
SHUFFLES = 20
"""How often each sentence's weights are dealt out anew."""


def measure(setting: Setting) -> Measured:
    shop, count = setting.shop, setting.of(60, 200)
    classifier = taught(shop, updates=setting.of(250, 1000))
    rows = labelled(shop.text("test"))
    texts = [text for text, _ in rows][:count]
    right = [found.label == label for found, (_, label) in zip(classifier.classify(texts), rows, strict=False)]
    agreements = [agreement(classifier, text) for text in texts]
    stays = [unmoved(classifier, text, seed=setting.seed) for text, one in zip(texts, right, strict=True) if one]
    translator, test = shop.load("bahdanau"), shop.text("test")
    pairs = EncodedPairs.encode(test.sources[:count], test.targets[:count], translator.tokenizers)
    words = [one for row in range(len(pairs)) for one in unmoved_words(translator, pairs, row, seed=setting.seed)]
    known, agrees = mean([float(one) for one in right]), mean([float(tau >= AGREES) for tau in agreements])
    return Measured(
        value=steady(stays, known),
        control=mean(words),
        numbers={
            "the classifier is right": known,
            "its right answers stay the same, weights shuffled": mean(stays),
            "the translator's right words stay the same, weights shuffled": mean(words),
            "agreement of weights and erasure (Kendall's tau)": mean(agreements),
            f"sentences where they agree (tau at least {AGREES}: three of four pairs of words in one order)": agrees,
        },
        series={"agreements": sorted(agreements), "stays": [mean(stays), mean(words)]},
    )


def mean(values: Sequence[float]) -> float:
    """0 of nothing."""
    return sum(values) / max(1, len(values))


def steady(stays: Sequence[float], known: float) -> float:
    """How often what is right stays as it is, if enough is right."""
    return mean(stays) if known >= KNOWS else 0.0


# the classifier


def labelled(text: ParallelText) -> list[tuple[str, str]]:
    """The sentences with one of the words that have two meanings, and which of the two its translation shows."""
    rows = []
    for source, target in zip(text.sources, text.targets, strict=True):
        said = {word.strip(".,?!").lower() for word in source.split()}
        meanings = [
            f"{word.word}: {zh}" for word in AMBIGUOUS if word.word in said for zh, _ in word.meanings if zh in target
        ]
        if len(meanings) == 1:
            rows.append((source, meanings[0]))
    return rows


def taught(shop: Shop, *, updates: int) -> Classifier:
    """A recurrent classifier of meanings that pools by attention."""
    files = {
        split: _table(shop.data / f"meanings.{shop.seed}.{split}.tsv", labelled(shop.text(split)))
        for split in ("train", "val")
    }
    settings = {
        "task": "classification",
        "model": {"name": "rnn", "width": 64, "pooling": "attention", "dropout": 0.2},
        "data": files,
        "tokenizer": {"size": 1000},
        "training": {"updates": updates, "validate_every": updates, "save_every": updates, "average": 0.99},
    }
    loaded: Classifier = load(shop.train("meanings", settings))
    return loaded


def _table(path: Path, rows: Sequence[tuple[str, str]]) -> list[str]:
    write_text(path, "".join(f"{text}\t{label}\n" for text, label in rows))
    return [str(path)]


# weights dealt out anew


def shuffled(weights: Tensor, chance: torch.Generator) -> Tensor:
    """Each row (… S) in an order of its own."""
    order = torch.rand(weights.shape, generator=chance).argsort(-1)
    return weights.gather(-1, order)


@torch.inference_mode()
def unmoved(classifier: Classifier, text: str, *, seed: int) -> float:
    """The share of shuffles after which the answer is the same."""
    chance = torch.Generator().manual_seed(seed)
    batch = Examples([[text]] * SHUFFLES, classifier.tokenizers.tokenizer).batch(range(SHUFFLES))

    def deal(name: str, what: str, tensor: Tensor) -> Tensor:
        return shuffled(tensor, chance) if what == "weights" else tensor

    said = classifier.model(*batch).argmax(-1)
    with capture(classifier.model, keep=(), edit=deal):
        says = classifier.model(*batch).argmax(-1)
    return float((said == says).float().mean())


@torch.inference_mode()
def unmoved_words(translator: Translator, pairs: EncodedPairs, row: int, *, seed: int) -> list[float]:
    """For each word of a translation that is right, what was said before it given: 1 if it stays so, 0 if not."""
    chance = torch.Generator().manual_seed(seed)
    batch = pairs.batch([row], translator.tokenizers)
    model = translator.model

    def deal(name: str, what: str, tensor: Tensor) -> Tensor:
        return shuffled(tensor, chance) if what == "weights" else tensor

    def words() -> Tensor:
        hidden = model(batch.source, batch.source_lengths, batch.target[:, :-1])
        return model.get_submodule("output")(hidden).argmax(-1)  # type: ignore[no-any-return]

    right = words() == batch.target[:, 1:]
    with capture(model, keep=(), edit=deal):
        stays = words() == batch.target[:, 1:]
    kept: list[float] = stays[right].float().tolist()
    return kept


# words left out


@torch.inference_mode()
def agreement(classifier: Classifier, text: str) -> float:
    """Kendall's tau between what a word is given and by how much the answer changes without it."""
    tokenizer = classifier.tokenizers.tokenizer
    examples = Examples([[text]], tokenizer)
    (ids,) = examples.parts[0]
    with capture(classifier.model) as recording:
        shares = classifier.model(*examples.batch([0])).softmax(-1)[0]
    weights = recording.last("pooling")[0, 0, 0, 1:-1].tolist()  # without the marks
    examples.parts = [((*ids[:i], *ids[i + 1 :]),) for i in range(len(ids))]
    without = classifier.probabilities(examples)[:, shares.argmax()]
    return kendall(weights, (shares.max() - without).abs().tolist())


def kendall(first: Sequence[float], second: Sequence[float]) -> float:
    """τ_b (Kendall 1945): of all pairs, those in the same order minus those in the opposite one, ties accounted for; 0
    where one side is all the same."""
    signs = [(_sign(first[i] - first[j]), _sign(second[i] - second[j])) for i in range(len(first)) for j in range(i)]
    untied = [sum(one != 0 for one in column) for column in zip(*signs, strict=True)] or [0, 0]
    return sum(a * b for a, b in signs) / sqrt(untied[0] * untied[1]) if all(untied) else 0.0


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def draw(measured: Sequence[Measured]) -> list[Figure]:
    stays = over_seeds("the same answer", [one.series["stays"] for one in measured])
    agreements = sorted(value for one in measured for value in one.series["agreements"])
    shares = [i / max(1, len(agreements) - 1) for i in range(len(agreements))]
    who = ["the classifier's class", "the translator's words"]
    return [
        Plot("bars", who, [stays], "weights shuffled", "stays right"),
        Plot(
            "lines", [round(share, 4) for share in shares], [Series("weights and erasure", agreements)],
            "share of sentences", "Kendall's tau", "1: the more weight, the more it matters.",
        ),
    ]  # fmt: skip


CLAIM = Claim(
    name="explanation",
    title="A classifier mostly says the same when its attention is shuffled",
    question="If a classifier's weights said why it decided, other weights would mean another decision. Do they? And "
    "are the words with much weight those without which it would decide otherwise?",
    source="Jain & Wallace 2019; Wiegreffe & Pinter 2019",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    control="the same for the words of a translator that attends, where weights do matter.",
    measure=measure,
    draw=draw,
    models=("bahdanau",),
)
