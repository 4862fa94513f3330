"""BERT as Hugging Face writes it: its names and settings, and ours.

Ours keeps queries, keys and values in one matrix; otherwise the two differ in names only.
"""

import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from regard.errors import BundleError

NAMES = {
    "words.weight": "embeddings.word_embeddings.weight",
    "positions.weight": "embeddings.position_embeddings.weight",
    "segments.weight": "embeddings.token_type_embeddings.weight",
    "norm": "embeddings.LayerNorm",
    "encoder.{}.self_attention.output": "encoder.layer.{}.attention.output.dense",
    "encoder.{}.self_residual.norm": "encoder.layer.{}.attention.output.LayerNorm",
    "encoder.{}.feed_forward.expand": "encoder.layer.{}.intermediate.dense",
    "encoder.{}.feed_forward.contract": "encoder.layer.{}.output.dense",
    "encoder.{}.feed_residual.norm": "encoder.layer.{}.output.LayerNorm",
    "pooler": "pooler.dense",
}
HEADS = {
    "transform": "cls.predictions.transform.dense",
    "norm": "cls.predictions.transform.LayerNorm",
    "output.bias": "cls.predictions.bias",
    "follows": "cls.seq_relationship",
    "classify": "classifier",
}
DECODER = "cls.predictions.decoder"
"""The layer over the vocabulary: its matrix is the embedding's, its bias is also called cls.predictions.bias."""
PROJECTION, PARTS = "encoder.{}.self_attention.project", ("query", "key", "value")
SETTINGS = {
    "width": "hidden_size",
    "heads": "num_attention_heads",
    "hidden": "intermediate_size",
    "layers": "num_hidden_layers",
    "dropout": "hidden_dropout_prob",
    "attention_dropout": "attention_probs_dropout_prob",
    "segments": "type_vocab_size",
    "limit": "max_position_embeddings",
    "epsilon": "layer_norm_eps",
}
ACTIVATIONS = {"gelu": "gelu", "relu": "relu", "gelu-tanh": "gelu_new"}


def settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Our settings of a model with this config.json."""
    kind, activation = config.get("model_type"), config.get("hidden_act", "gelu")
    if kind != "bert":
        raise BundleError("This is not a BERT.", found=f"model_type {kind!r}", wanted="'bert'")
    known = {theirs: ours for ours, theirs in ACTIVATIONS.items()} | {"gelu_pytorch_tanh": "gelu-tanh"}
    wanted = {"hidden_act": tuple(known), "position_embedding_type": ("absolute",), "is_decoder": (False,)}
    for key, values in wanted.items():
        if (found := config.get(key, values[0])) not in values:
            told = ", ".join(map(str, values))
            raise BundleError("This kind of BERT is not known.", found=f"{key} {found!r}", wanted=told)
    sizes = {ours: config[theirs] for ours, theirs in SETTINGS.items() if theirs in config}
    return {**sizes, "activation": known[activation]}


def config_json(model: Mapping[str, Any], vocabulary: int) -> dict[str, Any]:
    """The config.json of a model with our settings."""
    sizes = {theirs: model[ours] for ours, theirs in SETTINGS.items()}
    return {
        "model_type": "bert",
        "vocab_size": vocabulary,
        "hidden_act": ACTIVATIONS[model["activation"]],
        "initializer_range": 0.02,
        "pad_token_id": 0,
        **sizes,
    }


def ours(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Their tensors under our names: those of the encoder as in `Bert`, those of the heads as in `BertForPretraining`
    with the encoder's under "bert.". What is neither is left out."""
    plain = modern(tensors)
    found = {mine: plain[theirs] for mine, theirs in _pairs(plain) if theirs in plain}
    for layer in _layers(plain):
        for kind in ("weight", "bias"):
            stem = f"encoder.layer.{layer}.attention.self"
            parts = [plain[f"{stem}.{part}.{kind}"] for part in PARTS]
            found[f"{PROJECTION.format(layer)}.{kind}"] = torch.cat(parts)
    return found


def heads(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Those of their heads that we have, under our names."""
    plain = modern(tensors)
    return {mine: plain[theirs] for mine, theirs in _spread(HEADS) if theirs in plain}


def theirs(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our tensors of a model with heads, the encoder's under "bert.", under their names."""
    inner = {name.removeprefix("bert."): tensor for name, tensor in tensors.items() if name.startswith("bert.")}
    back = {mine: f"bert.{their}" for mine, their in _pairs(inner, ours=True)}
    found = {back[name]: tensor for name, tensor in inner.items() if name in back}
    for layer in _layers(inner, ours=True):
        for kind in ("weight", "bias"):
            parts = inner[f"{PROJECTION.format(layer)}.{kind}"].chunk(3)
            stem = f"bert.encoder.layer.{layer}.attention.self"
            found |= {f"{stem}.{part}.{kind}": tensor.clone() for part, tensor in zip(PARTS, parts, strict=True)}
    return found | {their: tensors[mine] for mine, their in _spread(HEADS) if mine in tensors}


def modern(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """With the names of today and without "bert." before them. Early checkpoints call the parameters of a
    normalisation as TensorFlow did; some have the bias of the vocabulary in one place only."""
    found = {_modern(name): tensor for name, tensor in tensors.items()}
    if f"{DECODER}.bias" in found:
        found.setdefault(dict(_spread(HEADS))["output.bias"], found[f"{DECODER}.bias"])
    return found


def _modern(name: str) -> str:
    name = re.sub(r"^bert\.", "", name)
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")


def _layers(tensors: Mapping[str, Tensor], *, ours: bool = False) -> list[int]:
    pattern = r"encoder\.(\d+)\." if ours else r"encoder\.layer\.(\d+)\."
    return sorted({int(match[1]) for name in tensors if (match := re.match(pattern, name))})


def _pairs(tensors: Mapping[str, Tensor], *, ours: bool = False) -> list[tuple[str, str]]:
    """Our name and theirs, of everything but the projections."""
    layers = _layers(tensors, ours=ours)
    stems = {
        mine.format(i): their.format(i) for mine, their in NAMES.items() for i in (layers if "{}" in mine else [0])
    }
    return _spread(stems)


def _spread(stems: Mapping[str, str]) -> list[tuple[str, str]]:
    """Names of layers become names of weights and biases."""
    kinds = ("weight", "bias")
    return [
        pair
        for mine, their in stems.items()
        for pair in (
            [(mine, their)] if mine.endswith(kinds) else [(f"{mine}.{kind}", f"{their}.{kind}") for kind in kinds]
        )
    ]
