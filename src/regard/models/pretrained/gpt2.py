"""GPT-2 as Hugging Face writes it: its names and settings, and ours.

Theirs multiplies by matrices from the right (y = x W + b), ours from the left, so that all but the embeddings are
transposed; queries, keys and values lie in one matrix in both, in this order. The layer over the vocabulary is the
embedding's matrix. Where ours has no biases, theirs has zeros.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from regard.errors import BundleError
from regard.files import write_atomically, write_text
from regard.models.gpt2 import GPT2, GPT2Config
from regard.models.pretrained.checkpoint import check_complete
from regard.models.pretrained.networks import Network
from regard.text import Tokenizer
from regard.text.gpt2_files import write_tokenizer
from regard.weights import put_weights, weights_of

KIND, ARCHITECTURE, TASK = "gpt2", "GPT2LMHeadModel", "lm"
PREFIX, HEAD = "transformer.", "lm_head.weight"
"""What stands before all names but that of the head; a model without head has no prefix."""
VOCABULARY = 50257  # where config.json does not say
WORDS = "wte.weight"
NAMES = {"words.weight": WORDS, "positions.weight": "wpe.weight"}
LAYERS = {
    "decoder.{}.self_residual.norm": "h.{}.ln_1",
    "decoder.{}.self_attention.project": "h.{}.attn.c_attn",
    "decoder.{}.self_attention.output": "h.{}.attn.c_proj",
    "decoder.{}.feed_residual.norm": "h.{}.ln_2",
    "decoder.{}.feed_forward.expand": "h.{}.mlp.c_fc",
    "decoder.{}.feed_forward.contract": "h.{}.mlp.c_proj",
}
LAST = {"norm": "ln_f"}
LAYER, TURNED = re.compile(r"h\.(\d+)\."), re.compile(r"\.c_\w+\.weight$")
SETTINGS = {
    "width": "n_embd",
    "heads": "n_head",
    "hidden": "n_inner",
    "layers": "n_layer",
    "limit": "n_positions",
    "dropout": "resid_pdrop",
    "embedding_dropout": "embd_pdrop",
    "attention_dropout": "attn_pdrop",
    "epsilon": "layer_norm_epsilon",
}
ACTIVATIONS = {"gelu_new": "gelu-tanh", "gelu_pytorch_tanh": "gelu-tanh", "gelu": "gelu", "relu": "relu"}
"""Theirs and ours; of two names for the same, the first is written."""
WANTED: dict[str, tuple[object, ...]] = {
    "activation_function": tuple(ACTIVATIONS),
    "scale_attn_weights": (True,),
    "scale_attn_by_inverse_layer_idx": (False,),
    "reorder_and_upcast_attn": (False,),
    "add_cross_attention": (False,),
}
"""What a config.json may say; the first is meant where it says nothing."""


def settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Our settings of a model with this config.json."""
    if (kind := config.get("model_type")) != KIND:
        raise BundleError("This is not a GPT-2.", found=f"model_type {kind!r}", wanted=repr(KIND))
    for key, values in WANTED.items():
        if (found := config.get(key, values[0])) not in values:
            told = " or ".join(map(str, values))
            raise BundleError("This kind of GPT-2 is not known.", found=f"{key} {found!r}", wanted=told)
    sizes = {ours: config[theirs] for ours, theirs in SETTINGS.items() if config.get(theirs) is not None}
    wide = sizes.get("width", GPT2Config().width)
    hidden = {"hidden": 4 * wide} if isinstance(wide, int) else {}
    return {**hidden, **sizes, "activation": ACTIVATIONS[config.get("activation_function", "gelu_new")]}


def config_json(model: Mapping[str, Any], *, vocabulary: int, end: int) -> dict[str, Any]:
    """The config.json of a model with our settings."""
    activation = next(theirs for theirs, ours in ACTIVATIONS.items() if ours == model["activation"])
    return {
        "model_type": KIND,
        "architectures": [ARCHITECTURE],
        "vocab_size": vocabulary,
        "activation_function": activation,
        "initializer_range": 0.02,
        "bos_token_id": end,
        "eos_token_id": end,
        "n_ctx": model["limit"],
        **{theirs: model[ours] for ours, theirs in SETTINGS.items()},
    }


def ours(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Their tensors under our names; those that we have no place for (masks among them) are left out."""
    plain = _plain(tensors)
    layers = {int(match[1]) for name in plain if (match := LAYER.match(name))}
    return {mine: _turned(theirs, plain[theirs]) for mine, theirs in _pairs(layers) if theirs in plain}


def theirs(tensors: Mapping[str, Tensor], *, layers: int) -> dict[str, Tensor]:
    """Our tensors under their names."""
    return {
        PREFIX + name: _turned(name, tensors[mine] if mine in tensors else _no_bias(mine, tensors))
        for mine, name in _pairs(range(layers))
    }


def read_gpt2(config: Mapping[str, Any], tensors: Mapping[str, Tensor], *, where: str) -> Network:
    """A GPT-2 from its config.json and its tensors; `where` they were found."""
    section = GPT2Config.parse(settings(config), where=f"{where}: model")
    _check(_plain(tensors), section.layers, where)
    model = GPT2(section, vocabulary=int(config.get("vocab_size", VOCABULARY)))
    put_weights(model, ours(tensors), where=where)
    return Network(TASK, model.eval(), section.model_dump(), ())


def write_gpt2(model: GPT2, tokenizer: Tokenizer, directory: Path) -> str:
    """Writes a directory that transformers reads; tells which of its classes it is made for."""
    settings, vocabulary = model.config.model_dump(), model.words.num_embeddings
    write_tokenizer(directory, tokenizer, limit=model.config.limit)
    tensors = theirs(weights_of(model), layers=model.config.layers)
    flat = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_atomically(directory / "model.safetensors", save(flat, {"format": "pt"}))
    config = config_json(settings, vocabulary=vocabulary, end=tokenizer.end)
    write_text(directory / "config.json", json.dumps(config, indent=2, ensure_ascii=False) + "\n")
    return ARCHITECTURE


def _plain(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(PREFIX): tensor for name, tensor in tensors.items()}


def _pairs(layers: Iterable[int]) -> list[tuple[str, str]]:
    """Our name and theirs, of all tensors in so many layers."""
    stems = {ours.format(i): theirs.format(i) for i in sorted(layers) for ours, theirs in LAYERS.items()} | LAST
    both = [(f"{ours}.{kind}", f"{theirs}.{kind}") for ours, theirs in stems.items() for kind in ("weight", "bias")]
    return [*NAMES.items(), *both]


def _turned(name: str, tensor: Tensor) -> Tensor:
    return tensor.T if TURNED.search(name) else tensor


def _no_bias(name: str, tensors: Mapping[str, Tensor]) -> Tensor:
    weight = tensors[name.removesuffix("bias") + "weight"]
    return weight.new_zeros(len(weight))


def _check(plain: Mapping[str, Tensor], layers: int, where: str) -> None:
    """Whatever the model needs is there, and its head is the embedding's matrix."""
    missing = [name for _, name in _pairs(range(layers)) if name not in plain]
    check_complete(missing, where)
    if HEAD in plain and not torch.equal(plain[HEAD], plain[WORDS]):
        raise BundleError(
            f"The head in {where} is of another kind.",
            found=f"{HEAD} differs from the embedding's matrix",
            wanted="one that shares it, as GPT-2 does",
        )
