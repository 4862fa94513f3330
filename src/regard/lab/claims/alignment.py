"""Does attention learn which words belong together, though nobody ever told it?

Bahdanau, Cho & Bengio 2015 (arXiv:1409.0473, figure 3) drew the weights of their model as alignments and found them
right by eye. The built-in corpus knows which words belong together. The model is only ever shown sentences and their
translations; at several moments of its training its weights are read as links and compared with the true ones.
"""

from collections.abc import Sequence
from pathlib import Path

from regard import bundle
from regard.evaluation.alignment import Gold, score_alignments
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.series import over_seeds
from regard.report import Plot, Series
from regard.tasks.alignment import Choice, align
from regard.tasks.links import Links
from regard.tasks.translator import Translator
from regard.tasks.word_texts import WordPair
from regard.tasks.word_weights import cut
from regard.training.checkpoint import kept_files
from regard.weights import put_weights, read_tensors

STATISTIC = (
    "The alignment error rate of the trained model's weights against the true links of unseen sentences (0: all right)."
)
THRESHOLD = 0.3
LOOK = Choice("decoder.align", 0, "predicts")
"""The one head there is, read at the step that predicts the word, as in the paper's figure."""


def measure(setting: Setting) -> Measured:
    """The error rate before training, at each kept checkpoint, and at the end; and that of a diagonal line."""
    directory, translator = setting.shop.made("bahdanau"), setting.shop.load("bahdanau")
    pairs, gold = setting.shop.gold("test")
    pairs, gold = pairs[: setting.of(150, 500)], gold[: setting.of(150, 500)]
    trained = error(translator, pairs, gold)
    steps, errors = [0], [error(setting.shop.untrained("bahdanau"), pairs, gold)]
    every = bundle.read_config(directory)["training"]["save_every"]
    for file in kept_files(directory):
        if int(file.stem) % every == 0:  # a training that was stopped has kept others besides
            steps.append(int(file.stem))
            errors.append(error(at(file, translator), pairs, gold))
    straight = score_alignments([diagonal(pair) for pair in pairs], gold).aer
    return Measured(
        value=trained,
        control=min(errors[0], straight),
        numbers={"before training": errors[0], "a diagonal line": straight, "after training": trained},
        series={"steps": steps, "errors": errors, "diagonal": straight},
    )


def error(translator: Translator, pairs: Sequence[WordPair], gold: Sequence[Gold]) -> float:
    return score_alignments(align(translator, cut(translator, pairs), LOOK), gold).aer


def at(checkpoint: Path, translator: Translator) -> Translator:
    """The translator as it was at a checkpoint: its averaged weights."""
    tensors = read_tensors(checkpoint)[0]
    average = {name.removeprefix("average."): tensor for name, tensor in tensors.items() if name.startswith("average.")}
    put_weights(translator.model, average, where=str(checkpoint))
    return translator


def diagonal(pair: WordPair) -> Links:
    """Each target word with the source word at the same part of its sentence: what one would guess without reading."""
    sources, targets = len(pair.source.spans), len(pair.target.spans)
    return frozenset((round(j * (sources - 1) / max(1, targets - 1)), j) for j in range(targets))


def draw(measured: Sequence[Measured]) -> list[Figure]:
    steps = measured[0].series["steps"]
    series = [
        over_seeds("attention", [one.series["errors"] for one in measured]),
        Series("a diagonal line", [measured[0].series["diagonal"]] * len(steps)),
        Series("wanted", [THRESHOLD] * len(steps)),
    ]
    return [Plot("lines", steps, series, "updates", "alignment error rate", "Lower is better.")]


CLAIM = Claim(
    name="alignment",
    title="Attention learns alignments that nobody gave it",
    question="A model is trained to translate and shown no alignment. Do its weights come to say which words belong "
    "together, and when?",
    source="Bahdanau, Cho & Bengio 2015, figure 3",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    side="at most",
    control="the better of the same network before its training and of a diagonal line through the sentence.",
    measure=measure,
    draw=draw,
    models=("bahdanau",),
)
