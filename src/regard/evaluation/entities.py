"""How well scenes are foretold: accuracy and F1 of classes; of numbers what is explained, and how far off they are."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.data.scenes import Scene
from regard.evaluation.classification import Classes
from regard.tasks.answers import Answers, known
from regard.tasks.entities import Encoded, EntitiesTask
from regard.tasks.predictor import Predictor

ROUNDING = 1e-20
"""A smaller variance (in units of the training data's) is that of equal numbers: there is nothing to explain."""


def validate(task: EntitiesTask, model: nn.Module, *, sentences: int) -> dict[str, Any]:
    """The figures of the validation scenes; "score" is the accuracy, or the share of the variance that is explained.
    Nothing if the run has no validation set."""
    if "val" not in task.encoded:
        return {}
    predictor = Predictor(model, task.tokenizers, relation=task.config.entities.relation)
    found = figures(predictor, task.encoded["val"])
    return {name: found[name] for name in found if name not in ("classes", "confusion")}


def evaluate(predictor: Predictor, task: EntitiesTask) -> dict[str, dict[str, Any]]:
    """The figures of a finished model on the validation and the test set."""
    return {split: figures(predictor, encoded) for split, encoded in task.encoded.items() if split != "train"}


def score_scenes(predictor: Predictor, scenes: Sequence[Scene]) -> dict[str, Any]:
    """The figures of scenes with targets."""
    encoded = predictor.encoded(scenes)
    if not any(known(torch.from_numpy(labels)).any() for labels in encoded.labels):
        raise scenes[0].fault("no scene has a target to compare with", do="add targets")
    return figures(predictor, encoded)


def figures(predictor: Predictor, encoded: Encoded) -> dict[str, Any]:
    """All of them, for JSON."""
    said, labels = torch.cat(predictor.scores(encoded)), torch.from_numpy(np.concatenate(encoded.labels))
    there = known(labels)
    measure = _classes if predictor.labels else _numbers
    return measure(predictor.fields.answers, said[there], labels[there])


def confusion(found: dict[str, Any], labels: Sequence[str]) -> Classes:
    """What was taken for what, to be drawn."""
    return Classes(tuple(labels), np.array(found["confusion"]))


def _classes(answers: Answers, said: Tensor, labels: Tensor) -> dict[str, Any]:
    found = Classes.of(answers.classes, labels.tolist(), said.argmax(-1).tolist())
    count = len(labels)
    return {
        "headline": f"accuracy {found.accuracy:.2%}, macro F1 {found.macro_f1:.3f} ({count:,} {_what(answers)})",
        "score": found.accuracy,
        "loss": float(F.cross_entropy(said, labels)),
        "accuracy": found.accuracy,
        "macro_f1": found.macro_f1,
        "count": count,
        "classes": [{("count" if key == "texts" else key): row[key] for key in row} for row in found.table()],
        "confusion": found.confusion.tolist(),
    }


def _numbers(answers: Answers, said: Tensor, labels: Tensor) -> dict[str, Any]:
    """In the data's own unit; "loss" is the squared error in standard deviations of the training data."""
    off = (said[:, 0] - labels).double()
    loss, spread = float((off**2).mean()), float(labels.double().var(correction=0))
    explained = 1 - loss / spread if spread > ROUNDING else 0.0
    mean, count = float(off.abs().mean()) * answers.scale, len(labels)
    return {
        "headline": f"R² {explained:.3f}, off by {mean:.4g} on average ({count:,} {_what(answers)})",
        "score": explained,
        "loss": loss,
        "r2": explained,
        "mean_absolute_error": mean,
        "root_mean_squared_error": loss**0.5 * answers.scale,
        "count": count,
    }


def _what(answers: Answers) -> str:
    return "entities" if answers.of_each else "scenes"
