"""How the models that claims share are trained: small, on the built-in corpus. One table; a claim names its entries.

`quick` and `full` are numbers of updates.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from regard.config import Tree, merge

TRANSFORMER: Tree = {
    "name": "transformer", "width": 128, "heads": 4, "hidden": 256, "encoder_layers": 2, "decoder_layers": 2,
    "norm": "pre", "dropout": 0.1,
}  # fmt: skip
NARROW: Tree = {**TRANSFORMER, "width": 64, "hidden": 128}
"""So narrow that it matters how the width is shared out."""
ENCODER_OR_DECODER: Tree = {"width": 128, "heads": 4, "hidden": 256, "layers": 2, "dropout": 0.1, "limit": 96}

MOST_LOST = 500
"""Updates that are to be made again at most if a training is killed."""


@dataclass(frozen=True)
class Recipe:
    """The settings of a model and how long it is trained; `own` are settings of other sections; `kept`: how many
    checkpoints stay, spread over the training; `start`: added to the seed, for the same once more (other first weights
    and other batches); `text`: the ending of the file that it is trained on, if not on pairs (see `corpus.TEXTS`)."""

    model: Tree
    quick: int
    full: int
    own: Tree
    kept: int = 1
    start: int = 0
    text: str = ""

    def tree(self, *, quick: bool) -> Tree:
        """As `regard train` takes it, but for data and seed."""
        updates = self.quick if quick else self.full
        saves = max(self.kept, -(-updates // MOST_LOST))
        training = {
            "updates": updates, "validate_every": updates,
            "save_every": updates // saves, "keep": 2 * self.kept,  # one that is stopped saves besides
        }  # fmt: skip
        return merge({"model": self.model, "training": training}, self.own)


def translator(model: Tree, *, quick: int, full: int, rate: float = 4e-3, kept: int = 1) -> Recipe:
    """One that translates; all of them have the same tokenizer and the same batches."""
    own: Tree = {
        "task": "translation",
        "tokenizer": {"size": 2000},
        "batch": {"tokens": 2048},
        "training": {"learning_rate": rate, "average": 0.99},
    }
    return Recipe(model, quick, full, own, kept)


def reader(model: Tree, *, quick: int, full: int, text: str, **own: Any) -> Recipe:
    """One that reads English alone: BERT and GPT-2 of the same size, with as many pieces and, in the table, updates."""
    shared: Tree = {
        "tokenizer": {"size": 2000},
        "batch": {"tokens": 2048},
        "training": {"learning_rate": 3e-3, "average": 0.99, "schedule": "linear", "warmup": 100},
    }
    return Recipe({**ENCODER_OR_DECODER, **model}, quick, full, merge(shared, own), text=text)


def words(text: str) -> Recipe:
    """Vectors of words, from one language alone."""
    own: Tree = {"task": "words", "words": {"across": "sentence"}, "training": {"learning_rate": 1e-2}}
    return Recipe({"name": "word2vec", "width": 64}, 150, 600, own, text=text)


RECIPES: Mapping[str, Recipe] = {
    "rnn": translator({"name": "rnn", "preset": "tiny"}, quick=1200, full=4000),
    "bahdanau": translator({"name": "bahdanau", "preset": "tiny"}, quick=1200, full=4000, kept=8),
    "transformer": translator(TRANSFORMER, quick=1000, full=4000, rate=3e-3),
    "four-heads": translator(NARROW, quick=800, full=4000),
    "four-heads-again": replace(translator(NARROW, quick=800, full=4000), start=100),
    "one-head": translator({**NARROW, "heads": 1}, quick=800, full=4000),
    "one-head-again": replace(translator({**NARROW, "heads": 1}, quick=800, full=4000), start=100),
    "bert": reader(
        {"name": "bert"}, quick=1000, full=6000, text="en.txt",
        task="masked-lm", masking={"next_sentence": False, "length": 96, "short_updates": 0},
    ),
    "gpt2": reader({"name": "gpt2"}, quick=1000, full=6000, text="en.marked.txt", task="lm"),
    "words-en": words("en.txt"),
    "words-zh": replace(words("zh.txt"), start=200),
}  # fmt: skip
