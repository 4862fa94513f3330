"""The models of bench/engines.py: a small one that is trained, and one of the base size that does just what it does."""

from math import sqrt
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import regard
from regard import bundle
from regard.models.transformer import Transformer, TransformerConfig
from regard.tasks.translator import Translator
from runs import trained

SETTINGS = (
    "model.dropout=0.2", "tokenizer.size=8000", "batch.tokens=4096",
    "training.updates=1000", "training.warmup=250", "training.learning_rate=2e-3", "training.average=0.99",
    "training.validate_every=1000", "training.save_every=250",
)  # fmt: skip
BASE = {"width": 512, "heads": 8, "hidden": 2048, "encoder_layers": 6, "decoder_layers": 6}


def small(files: dict[str, list[str]], langs: str, directory: Path) -> Path:
    """256 wide, 3 + 3 layers; trained here unless it is there."""
    words = [word for name in ("train", "val") for file in files[name] for word in (f"--{name}", file)]
    trained([*words, "--langs", langs, "--model", "transformer:small", *SETTINGS], directory)
    return directory


@torch.no_grad()
def base(model: Path, directory: Path) -> Path:
    """512 wide, 6 + 6 layers: every number of the small model twice, so that all sums are what they were, and three
    more layers in each stack that add nothing (Chen 2016, "Net2Net"). It takes the time of any model of its size, and
    its translations have the lengths of real ones."""
    if (directory / bundle.WEIGHTS).exists():
        return directory
    translator = regard.load(model)
    config = bundle.read_config(model)
    sizes = translator.model.config.model_dump() | BASE | {"positions": "learned"}
    wide = Transformer(TransformerConfig.parse(sizes), **translator.tokenizers.model_sizes())
    _fill(wide, translator.model)
    bundle.write_config(directory, {**config, "model": {"name": "transformer", **sizes}})
    translator.tokenizers.save(directory)
    bundle.write_weights(directory, dict(wide.named_parameters()))
    return directory


def _fill(wide: Any, narrow: Any) -> None:
    wide.target_embedding.weight.copy_(_twice(narrow.target_embedding.weight) / sqrt(2))
    wide.positions.weight.copy_(_twice(narrow.positions(0, narrow.config.limit)))
    for stack in ("encoder", "decoder"):
        _norm(getattr(wide, f"{stack}_norm"), getattr(narrow, f"{stack}_norm"))
        blocks = list(getattr(narrow, stack))
        for number, block in enumerate(getattr(wide, stack)):
            _block(block, blocks[number] if number < len(blocks) else None)
    for parameter in wide.decoder_norm.parameters():
        parameter /= sqrt(2)  # or all scores would be √2 times as large


def _block(wide: Any, narrow: Any) -> None:
    """None: a layer that adds nothing."""
    attentions = [name for name in ("self_attention", "cross_attention") if hasattr(wide, name)]
    if narrow is None:
        for layer in (*(getattr(wide, name).output for name in attentions), wide.feed_forward.contract):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)
        return
    for name in attentions:
        _linear(getattr(wide, name).project, getattr(narrow, name).project, parts=3)
        _linear(getattr(wide, name).output, getattr(narrow, name).output)
        residual = name.replace("attention", "residual")
        _norm(getattr(wide, residual).norm, getattr(narrow, residual).norm)
    _linear(wide.feed_forward.expand, narrow.feed_forward.expand)
    _linear(wide.feed_forward.contract, narrow.feed_forward.contract)
    _norm(wide.feed_residual.norm, narrow.feed_residual.norm)


def _linear(wide: nn.Linear, narrow: nn.Linear, parts: int = 1) -> None:
    """Half of each weight, four times: what is given twice comes out twice."""
    rows = [torch.cat([_twice(part) / 2] * 2) for part in narrow.weight.chunk(parts)]
    wide.weight.copy_(torch.cat(rows))
    wide.bias.copy_(torch.cat([torch.cat([part, part]) for part in narrow.bias.chunk(parts)]))


def _norm(wide: Any, narrow: Any) -> None:
    wide.weight.copy_(_twice(narrow.weight))
    wide.bias.copy_(_twice(narrow.bias))


def _twice(tensor: Tensor) -> Tensor:
    return torch.cat([tensor, tensor], dim=-1)


def pegasus(translator: Translator) -> Any:
    """The same weights in transformers: Pegasus is the Transformer with the norm before each part, as ours is."""
    from transformers import PegasusConfig, PegasusForConditionalGeneration

    ours: Any = translator.model
    target, sizes = translator.tokenizers.target, ours.config
    both = {"attention_heads": sizes.heads, "ffn_dim": sizes.hidden}
    peer = PegasusForConditionalGeneration(
        PegasusConfig(
            **{f"{side}_{key}": size for side in ("encoder", "decoder") for key, size in both.items()},
            vocab_size=len(target), d_model=sizes.width, scale_embedding=True,
            encoder_layers=sizes.encoder_layers, decoder_layers=sizes.decoder_layers,
            activation_function=sizes.activation, max_position_embeddings=sizes.limit,
            pad_token_id=target.pad, eos_token_id=target.end, decoder_start_token_id=target.start,
            forced_eos_token_id=None, attn_implementation="sdpa",
        )
    )  # fmt: skip
    with torch.no_grad():
        peer.model.shared.weight.copy_(ours.target_embedding.weight)
        for stack, blocks, norm in (
            (peer.model.encoder, ours.encoder, ours.encoder_norm),
            (peer.model.decoder, ours.decoder, ours.decoder_norm),
        ):
            stack.embed_positions.weight.copy_(ours.positions(0, sizes.limit))
            stack.layer_norm.load_state_dict(norm.state_dict())
            for layer, block in zip(stack.layers, blocks, strict=True):
                _peer_block(layer, block)
    return peer.eval()


def _peer_block(layer: Any, block: Any) -> None:
    for theirs, name in (("self_attn", "self"), ("encoder_attn", "cross")):
        if hasattr(layer, theirs):
            attention, peer = getattr(block, f"{name}_attention"), getattr(layer, theirs)
            parts = zip(attention.project.weight.chunk(3), attention.project.bias.chunk(3), strict=True)
            for letter, (weight, bias) in zip("qkv", parts, strict=True):
                getattr(peer, f"{letter}_proj").weight.copy_(weight)
                getattr(peer, f"{letter}_proj").bias.copy_(bias)
            peer.out_proj.load_state_dict(attention.output.state_dict())
            norm = getattr(block, f"{name}_residual").norm
            getattr(layer, f"{theirs}_layer_norm").load_state_dict(norm.state_dict())
    layer.fc1.load_state_dict(block.feed_forward.expand.state_dict())
    layer.fc2.load_state_dict(block.feed_forward.contract.state_dict())
    layer.final_layer_norm.load_state_dict(block.feed_residual.norm.state_dict())
