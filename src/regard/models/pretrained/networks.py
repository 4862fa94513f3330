"""A network of ours with the weights of others: which one, and which of its parts they bring."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.errors import BundleError
from regard.models.bert import BertClassifier, BertConfig, BertEncoder, BertForPretraining
from regard.models.pretrained import bert as names
from regard.models.pretrained.checkpoint import check_complete
from regard.weights import put_weights, weights_of

VOCABULARY = 30522  # where config.json does not say: transformers takes BERT-base's
CLASSIFIER = "BertForSequenceClassification"
POOLER, MASKED, FOLLOWS = "pooler", "masked words", "next sentence"
SIGNS = {
    POOLER: "pooler.dense.weight",
    MASKED: "cls.predictions.transform.dense.weight",
    FOLLOWS: "cls.seq_relationship.weight",
}
"""A part that a checkpoint may have or not, and the tensor that tells."""
OPTIONAL = {POOLER: "pooler.", MASKED: "cls.predictions.", FOLLOWS: "cls.seq_relationship."}
"""How the names of its tensors begin."""


@dataclass(frozen=True)
class Network:
    """`task` says whose verbs serve it, `settings` are those of its section "model"; `parts`: those of POOLER, MASKED
    and FOLLOWS that were learned, the others are zero. `labels`: what its classes are called, if it has some."""

    task: str
    model: nn.Module
    settings: dict[str, Any]
    parts: tuple[str, ...]
    labels: tuple[str, ...] = ()


def read_bert(config: Mapping[str, Any], tensors: Mapping[str, Tensor], *, where: str) -> Network:
    """A BERT from its config.json and its tensors; `where` they were found."""
    section = BertConfig.parse(names.settings(config), where=f"{where}: model")
    plain = names.modern(tensors)
    parts = tuple(part for part, sign in SIGNS.items() if sign in plain)
    labels = _labels(config, plain, where) if CLASSIFIER in (config.get("architectures") or ()) else ()
    model = _built(section, int(config.get("vocab_size", VOCABULARY)), parts, labels)
    if isinstance(model, BertForPretraining):
        _check_tied(plain, where)
    _check_complete(plain, model, tuple(SIGNS) if labels else parts, where)
    _fill(model, tensors, where)
    task = "classification" if labels else "masked-lm"
    return Network(task, model.eval(), section.model_dump(), parts, labels)


def without(parts: Collection[str]) -> tuple[str, ...]:
    """How the names of tensors begin that belong to other parts than these."""
    return tuple(start for part, start in OPTIONAL.items() if part not in parts)


def _built(section: BertConfig, vocabulary: int, parts: tuple[str, ...], labels: tuple[str, ...]) -> nn.Module:
    """The smallest of our models that has room for everything."""
    if labels:
        return BertClassifier(section, vocabulary=vocabulary, labels=len(labels))
    build = BertForPretraining if MASKED in parts else BertEncoder
    return build(section, vocabulary=vocabulary)


def _fill(model: nn.Module, tensors: Mapping[str, Tensor], where: str) -> None:
    """Puts the tensors in; a part that they do not have becomes zero."""
    mine = weights_of(model)
    found = {f"bert.{name}": tensor for name, tensor in names.ours(tensors).items()}
    found |= {name: tensor for name, tensor in names.heads(tensors).items() if name in mine}
    absent = {name: torch.zeros_like(mine[name]) for name in mine.keys() - found.keys()}
    put_weights(model, found | absent, where=where)


def _check_complete(plain: Mapping[str, Tensor], model: nn.Module, parts: tuple[str, ...], where: str) -> None:
    """Whatever the model needs is there, but for parts that are missing as a whole."""
    wanted = names.modern(names.theirs(weights_of(model)))
    missing = sorted(name for name in wanted if name not in plain and not name.startswith(without(parts)))
    check_complete(missing, where)


def _check_tied(plain: Mapping[str, Tensor], where: str) -> None:
    """The head for hidden words has the matrix of the embedding, as in nearly all checkpoints; with another one it
    would give wrong words."""
    words, decoder = plain.get("embeddings.word_embeddings.weight"), plain.get(f"{names.DECODER}.weight")
    if words is not None and decoder is not None and not torch.equal(words, decoder):
        raise BundleError(
            f"The head for hidden words in {where} is of another kind.",
            found=f"{names.DECODER}.weight differs from the embedding's matrix",
            wanted="one that shares the embedding's matrix",
        )


def _labels(config: Mapping[str, Any], plain: Mapping[str, Tensor], where: str) -> tuple[str, ...]:
    """What the classes are called, in the order of their numbers."""
    head = plain.get("classifier.weight")
    count = 0 if head is None else len(head)
    kind = config.get("problem_type")
    if count < 2 or kind not in (None, "single_label_classification"):
        raise BundleError(
            f"The head of {where} does not tell classes apart.",
            found=f"{count} outputs, problem_type {kind!r}",
            wanted="two classes or more, of which a text has one",
        )
    given = config.get("id2label") or {}
    return tuple(str(given.get(str(number), f"LABEL_{number}")) for number in range(count))
