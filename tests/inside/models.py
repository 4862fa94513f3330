"""Loaded models of each kind, small enough for a test, and texts for them."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

import regard
from regard import catalogue
from regard.tasks.classifier import Classifier
from regard.tasks.labels import LabelledTokenizer
from regard.tasks.translator import Translator
from tests import oracles
from tests.models.pretrained.checkpoints import theirs, write
from tests.models.small import CHOICES, SIZES
from tests.tasks.aligners import tokenizers
from tests.tasks.generators import letters, pair

ENGLISH, CHINESE = "The zebra chased the lion.", "斑马追狮子。"
TRANSLATORS = [name for name, (family, _) in CHOICES.items() if family != "rnn" and "all tied" not in name]
"""Those that attend, with a vocabulary for each language."""
TEXTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys([*TRANSLATORS, "bag of words"], (ENGLISH, CHINESE)),
    "gpt2": ("The river bank",),
    "bert": ("the cat is in", "a river"),
    "classifier": ("the cat is in the house .",),
    "pooling": ("the cat is in a house .",),
}
"""What each of the loaded models below is given."""


@cache
@torch.inference_mode(False)
def loaded(name: str) -> Any:
    """By the names of TEXTS; also "rnn", which does not attend, and "letters", a language model of fifteen letters."""
    makers: dict[str, Any] = {"rnn": rnn, "bag of words": bag, "gpt2": gpt2, "letters": letters, "bert": bert}
    makers |= {"classifier": classifier, "pooling": pooling}
    return makers[name]() if name in makers else translator(name)


def translator(name: str, **settings: Any) -> Translator:
    """One of CHOICES, that reads English and writes Chinese."""
    family, choice = CHOICES[name]
    both = tokenizers()
    entry = catalogue.model_entry(family, "translation")
    config = catalogue.find(entry.config).parse({**SIZES[family], **choice, "limit": 200, **settings})
    torch.manual_seed(0)
    sizes = {"source_vocabulary": len(both.source), "target_vocabulary": len(both.target), "joint": False}
    model = catalogue.find(entry.model)(config, **sizes)
    oracles.shake(model, seed=1)
    return Translator(model, both, langs=("en", "zh"), name=family)


def rnn() -> Translator:
    return translator("rnn, gru")


def bag() -> Translator:
    return translator("transformer, pre-norm", positions="none")


def gpt2() -> Any:
    return pair(0)[1]


def bert() -> Any:
    return _foreign(theirs("BertForMaskedLM"))


def classifier() -> Any:
    return _foreign(theirs("BertForSequenceClassification", num_labels=3))


def pooling(model: str = "rnn", **settings: Any) -> Classifier:
    """One of our own classifiers; if nothing is said, a recurrent one whose pooling attends."""
    spelling = LabelledTokenizer(bert().tokenizer, ("good", "bad"), 1)
    entry = catalogue.model_entry(model, "classification")
    config = catalogue.find(entry.config).parse({"width": 8, "dropout": 0.0, "limit": 30, **settings})
    torch.manual_seed(0)
    network = catalogue.find(entry.model)(config, vocabulary=len(spelling.tokenizer), labels=2)
    oracles.shake(network, seed=1)
    return Classifier(network, spelling, name="pooling")


def _foreign(model: Any) -> Any:
    with TemporaryDirectory() as directory:
        return regard.load(write(Path(directory) / "model", model))
