"""How well texts are told apart: accuracy, F1 of every class, and which classes are taken for which."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch.nn.functional as F
from torch import nn

from regard.data.labelled import Labelled
from regard.insight import Token, TokenRow, Trace
from regard.tasks.classification import ClassificationTask
from regard.tasks.classifier import Classifier


@dataclass(frozen=True)
class Classes:
    """confusion[i, j]: how many texts of class i were said to be of class j."""

    labels: tuple[str, ...]
    confusion: np.ndarray

    @classmethod
    def of(cls, labels: Sequence[str], truth: Sequence[int], said: Sequence[int]) -> "Classes":
        confusion = np.zeros((len(labels), len(labels)), dtype=np.int64)
        np.add.at(confusion, (np.asarray(truth), np.asarray(said)), 1)
        return cls(tuple(labels), confusion)

    @property
    def accuracy(self) -> float:
        return float(self.confusion.trace() / self.confusion.sum())

    @property
    def macro_f1(self) -> float:
        """The mean of the F1 of all classes that occur or were said."""
        occurring = self.confusion.sum(0) + self.confusion.sum(1) > 0
        return float(np.array([row["f1"] for row in self.table()])[occurring].mean())

    def table(self) -> list[dict[str, Any]]:
        """A row for each class: precision, recall, F1, how many there are. 0 where nothing was there to be right."""
        right = self.confusion.diagonal()
        precision = right / np.maximum(1, self.confusion.sum(0))
        recall = right / np.maximum(1, self.confusion.sum(1))
        f1 = 2 * precision * recall / np.maximum(1e-12, precision + recall)
        columns = zip(
            self.labels, precision.tolist(), recall.tolist(), f1.tolist(), self.confusion.sum(1).tolist(), strict=True
        )
        return [dict(zip(("label", "precision", "recall", "f1", "texts"), row, strict=True)) for row in columns]

    def figures(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "headline": f"accuracy {self.accuracy:.2%}, macro F1 {self.macro_f1:.3f} ({self.confusion.sum()} texts)",
            "accuracy": self.accuracy,
            "macro_f1": self.macro_f1,
            "texts": int(self.confusion.sum()),
            "classes": self.table(),
            "confusion": self.confusion.tolist(),
        }

    def picture(self) -> Trace:
        """What share of each class was said to be what, for `draw_confusion`."""
        text = " ".join(self.labels)
        starts = np.cumsum([0, *(len(label) + 1 for label in self.labels)]).tolist()
        tokens = tuple(
            Token(label, start, start + len(label)) for label, start in zip(self.labels, starts, strict=False)
        )
        shares = self.confusion / np.maximum(1, self.confusion.sum(1, keepdims=True))
        rows = {"is": TokenRow(text, tokens), "said to be": TokenRow(text, tokens)}
        return Trace(rows, {"confusion": shares[None].astype(np.float32)}, {"confusion": ("is", "said to be")})


def validate(task: ClassificationTask, model: nn.Module, *, sentences: int) -> dict[str, Any]:
    """Accuracy and loss on the validation set; "score" is the accuracy. Nothing if the run has no validation set."""
    if "val" not in task.texts:
        return {}
    classifier = Classifier(model, task.tokenizers)
    scores, labels = classifier.scores(task.examples["val"]), task.labels["val"]
    found = Classes.of(task.tokenizers.labels, labels.tolist(), scores.argmax(-1).tolist())
    return {
        "score": found.accuracy,
        "headline": f"accuracy {found.accuracy:.2%}",
        "loss": float(F.cross_entropy(scores, labels)),
        "accuracy": found.accuracy,
        "macro_f1": found.macro_f1,
    }


def evaluate(classifier: Classifier, task: ClassificationTask) -> dict[str, dict[str, Any]]:
    """The figures of a finished model on the validation and the test set."""
    found = {}
    for split in task.texts:
        if split != "train":
            said = classifier.scores(task.examples[split]).argmax(-1)
            found[split] = Classes.of(classifier.labels, task.labels[split].tolist(), said.tolist()).figures()
    return found


def classify_and_score(classifier: Classifier, text: Labelled, *, truncate: bool = False) -> tuple[list[str], Classes]:
    """What is said of each text, and how right that is."""
    truth = classifier.tokenizers.numbers(text)
    found = classifier.classify(text.texts, truncate=truncate, place=text.places.__getitem__)
    said = [each.label for each in found]
    places = {label: number for number, label in enumerate(classifier.labels)}
    return said, Classes.of(classifier.labels, truth, [places[label] for label in said])
