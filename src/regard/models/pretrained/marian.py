"""Marian's translators as Hugging Face writes them (OPUS-MT among them): their names and settings, and ours.

It is the Transformer, normalised after each sum, with all sines of a position before its cosines and a bias for each
word. Ours keeps queries, keys and values in one matrix; otherwise the two differ in names only. The bias is a weight of
ours, which further training changes; in transformers it stays as it is.
"""

import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from regard.errors import BundleError
from regard.layers.positions import in_halves
from regard.models.pretrained.checkpoint import check_complete
from regard.models.pretrained.networks import Network
from regard.models.transformer import Transformer, TransformerConfig
from regard.weights import put_weights, weights_of

KIND, ARCHITECTURE, TASK, MODEL = "marian", "MarianMTModel", "translation", "transformer"
SHARED, SOURCE, TARGET = "model.shared.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"
HEAD, BIAS = "lm_head.weight", "final_logits_bias"
EMBEDDINGS = {
    "source_embedding.weight": (SOURCE, SHARED),
    "target_embedding.weight": (TARGET, SHARED),
    "output.weight": (HEAD, TARGET, SHARED),
}
"""Ours, and where theirs may be: the first that is there."""
STACKS = ("encoder", "decoder")
PARTS = {
    "self_attention.output": "self_attn.out_proj",
    "self_residual.norm": "self_attn_layer_norm",
    "cross_attention.output": "encoder_attn.out_proj",
    "cross_residual.norm": "encoder_attn_layer_norm",
    "feed_forward.expand": "fc1",
    "feed_forward.contract": "fc2",
    "feed_residual.norm": "final_layer_norm",
}
PROJECTED = re.compile(r"(encoder|decoder)\.(\d+)\.(self|cross)_attention\.project\.(weight|bias)")
BLOCK = re.compile(r"(encoder|decoder)\.(\d+)\.(\w+\.\w+)\.(weight|bias)")
ATTENTIONS = {"self": "self_attn", "cross": "encoder_attn"}
SETTINGS = {
    "width": ("d_model", 1024),
    "heads": ("encoder_attention_heads", 16),
    "hidden": ("encoder_ffn_dim", 4096),
    "encoder_layers": ("encoder_layers", 12),
    "decoder_layers": ("decoder_layers", 12),
    "dropout": ("dropout", 0.1),
    "attention_dropout": ("attention_dropout", 0.0),
    "activation_dropout": ("activation_dropout", 0.0),
    "scaled": ("scale_embedding", False),
    "limit": ("max_position_embeddings", 1024),
}
"""Ours, theirs, and what is meant where config.json says nothing."""
VOCABULARY = 58101
ACTIVATIONS = {"swish": "swish", "silu": "swish", "relu": "relu", "gelu": "gelu", "gelu_new": "gelu-tanh"}
"""Theirs and ours; of two names for the same, the first is written."""
WANTED: dict[str, tuple[object, ...]] = {
    "activation_function": tuple(ACTIVATIONS),
    "normalize_before": (False, None),
    "normalize_embedding": (False, None),
    "add_final_layer_norm": (False, None),
    "static_position_embeddings": (True, None),
}
"""What a config.json may say."""


def settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Our settings of a model with this config.json."""
    sizes = {ours: config.get(theirs, usual) for ours, (theirs, usual) in SETTINGS.items()}
    same = {"decoder_attention_heads": sizes["heads"], "decoder_ffn_dim": sizes["hidden"]}
    given = {"activation_function": "gelu", **config}
    for key, values in {**WANTED, **{key: (size, None) for key, size in same.items()}}.items():
        if (found := given.get(key)) not in values:
            told = " or ".join(str(value) for value in values if value is not None)
            raise BundleError("This kind of Marian model is not known.", found=f"{key} {found!r}", wanted=told)
    fixed = {"norm": "post", "positions": "halves", "output_bias": True, "tie": _tie(config)}
    return {**sizes, **fixed, "activation": ACTIVATIONS[given["activation_function"]]}


def config_json(model: Transformer, *, pad: int, end: int) -> dict[str, Any]:
    """The config.json of a model of ours."""
    ours = model.config.model_dump()
    source, target = (embedding.weight.shape[0] for embedding in (model.source_embedding, model.target_embedding))
    return {
        "model_type": KIND,
        "architectures": [ARCHITECTURE],
        "is_encoder_decoder": True,
        "vocab_size": source,
        "decoder_vocab_size": target,
        "activation_function": next(theirs for theirs, name in ACTIVATIONS.items() if name == ours["activation"]),
        "share_encoder_decoder_embeddings": ours["tie"] == "all",
        "tie_word_embeddings": ours["tie"] != "none",
        "static_position_embeddings": True,
        "normalize_before": False,
        "normalize_embedding": False,
        "init_std": 0.02,
        "pad_token_id": pad,
        "eos_token_id": end,
        "decoder_start_token_id": pad,
        **{theirs: ours[name] for name, (theirs, _) in SETTINGS.items()},
        "decoder_attention_heads": ours["heads"],
        "decoder_ffn_dim": ours["hidden"],
    }


def read_marian(config: Mapping[str, Any], tensors: Mapping[str, Tensor], *, where: str) -> Network:
    """A translator from its config.json and its tensors; `where` they were found."""
    section = TransformerConfig.parse(settings(config), where=f"{where}: model")
    source = int(config.get("vocab_size") or VOCABULARY)
    shared = section.tie == "all"
    target = source if shared else int(config.get("decoder_vocab_size") or source)
    model = Transformer(section, source_vocabulary=source, target_vocabulary=target, joint=shared)
    _check(tensors, model, where)
    put_weights(model, {name: _ours(name, tensors, target) for name in weights_of(model)}, where=where)
    return Network(TASK, model.eval(), section.model_dump(), ())


def theirs(model: Transformer) -> dict[str, Tensor]:
    """Our tensors under their names."""
    found: dict[str, Tensor] = {}
    for name, tensor in weights_of(model).items():
        if PROJECTED.fullmatch(name):
            found |= zip(_names(name), (part.clone() for part in tensor.chunk(3)), strict=True)
        elif name == "target_embedding.weight" and model.config.tie == "all":
            found[SHARED] = tensor
        elif name == "output.bias":
            found[BIAS] = tensor[None]
        else:
            found[_names(name)[0]] = tensor
    return found


def _tie(config: Mapping[str, Any]) -> str:
    if not config.get("tie_word_embeddings", True):
        return "none"
    return "all" if config.get("share_encoder_decoder_embeddings", True) else "target"


def _names(name: str) -> tuple[str, ...]:
    """What a weight of ours is called by them; a projection is three of theirs. Of several names, the first is
    written."""
    if name in EMBEDDINGS:
        return EMBEDDINGS[name]
    if match := PROJECTED.fullmatch(name):
        stack, layer, attention, kind = match.groups()
        stem = f"model.{stack}.layers.{layer}.{ATTENTIONS[attention]}"
        return tuple(f"{stem}.{part}_proj.{kind}" for part in "qkv")
    match = BLOCK.fullmatch(name)
    assert match is not None, name
    stack, layer, part, kind = match.groups()
    return (f"model.{stack}.layers.{layer}.{PARTS[part]}.{kind}",)


def _ours(name: str, tensors: Mapping[str, Tensor], vocabulary: int) -> Tensor:
    """A weight of ours, made of theirs. A model without biases for words has zeros."""
    if name == "output.bias":
        return tensors[BIAS].flatten() if BIAS in tensors else torch.zeros(vocabulary)
    names = _names(name)
    if PROJECTED.fullmatch(name):
        return torch.cat([tensors[part] for part in names])
    return next(tensors[one] for one in names if one in tensors)


def _check(tensors: Mapping[str, Tensor], model: Transformer, where: str) -> None:
    """Whatever the model needs is there, what is to be shared is the same, and positions are waves."""
    lost = []
    for name in weights_of(model):
        names = () if name == "output.bias" else _names(name)
        present = [one in tensors for one in names]
        whole = any(present) if name in EMBEDDINGS else all(present)
        lost += [] if whole else [one for one, there in zip(names, present, strict=True) if not there][:1]
    check_complete(sorted(lost), where)
    for one, other in _tied(model.config.tie):
        if one in tensors and other in tensors and not torch.equal(tensors[one], tensors[other]):
            told = f"The embeddings in {where} are not shared as its config.json says."
            raise BundleError(told, found=f"{one} differs from {other}", do="correct config.json, or fetch it again")
    waves = in_halves(model.config.limit, model.config.width)
    for name in (f"model.{stack}.embed_positions.weight" for stack in STACKS):
        if name in tensors and not _near(tensors[name].float(), waves):
            raise BundleError(f"The positions in {where} are of another kind.", found=name, wanted="sines and cosines")


def _tied(tie: str) -> list[tuple[str, str]]:
    pairs = {"all": [(SHARED, SOURCE), (SHARED, TARGET), (SHARED, HEAD)], "target": [(TARGET, HEAD)], "none": []}
    return pairs[tie]


def _near(tensor: Tensor, wanted: Tensor) -> bool:
    return tensor.shape == wanted.shape and torch.allclose(tensor, wanted, atol=1e-2)
