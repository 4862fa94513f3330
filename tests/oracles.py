"""torch.nn's own attention and Transformer layers, given our weights: what ours must equal."""

import copy

import torch
from torch import Tensor, nn

from regard.attention import MultiHead
from regard.layers import Block
from regard.models.transformer import Transformer


@torch.no_grad()
def shake(module: nn.Module, seed: int) -> None:
    """Moves every parameter off its starting value, so that zero biases and unit gains hide nothing."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in module.parameters():
        parameter += 0.1 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64).to(parameter.dtype)


def multihead(ours: MultiHead, dtype: torch.dtype) -> nn.MultiheadAttention:
    width = ours.output.out_features
    theirs = nn.MultiheadAttention(width, ours.heads, batch_first=True, dtype=dtype).eval()
    _fill_attention(theirs, ours)
    return theirs


def encoder_layer(ours: Block, dtype: torch.dtype, **options: object) -> nn.TransformerEncoderLayer:
    theirs = nn.TransformerEncoderLayer(**_sizes(ours), dropout=0.0, batch_first=True, dtype=dtype, **options).eval()
    _fill_attention(theirs.self_attn, ours.self_attention)
    _fill(theirs.norm1, ours.self_residual.norm)
    _fill_feed_forward(theirs, ours, theirs.norm2)
    return theirs


def decoder_layer(ours: Block, dtype: torch.dtype, **options: object) -> nn.TransformerDecoderLayer:
    theirs = nn.TransformerDecoderLayer(**_sizes(ours), dropout=0.0, batch_first=True, dtype=dtype, **options).eval()
    _fill_attention(theirs.self_attn, ours.self_attention)
    _fill_attention(theirs.multihead_attn, ours.cross_attention)
    _fill(theirs.norm1, ours.self_residual.norm)
    _fill(theirs.norm2, ours.cross_residual.norm)
    _fill_feed_forward(theirs, ours, theirs.norm3)
    return theirs


def transformer(ours: Transformer, dtype: torch.dtype) -> nn.Transformer:
    """torch.nn.Transformer with the blocks of ours; its stacks end in a norm only where ours do."""
    options = {"norm_first": ours.config.norm == "pre", "activation": ours.config.activation}
    readers = [encoder_layer(block, dtype, **options) for block in ours.encoder]
    writers = [decoder_layer(block, dtype, **options) for block in ours.decoder]
    last = [
        copy.deepcopy(norm) if ours.config.norm == "pre" else None for norm in (ours.encoder_norm, ours.decoder_norm)
    ]
    encoder = nn.TransformerEncoder(readers[0], len(readers), norm=None, enable_nested_tensor=False)
    decoder = nn.TransformerDecoder(writers[0], len(writers), norm=None)
    theirs = nn.Transformer(
        ours.config.width, ours.config.heads, custom_encoder=encoder, custom_decoder=decoder, batch_first=True
    )
    # nn.Transformer draws all weights anew, so ours go in last
    theirs.encoder.layers, theirs.decoder.layers = nn.ModuleList(readers), nn.ModuleList(writers)
    theirs.encoder.norm, theirs.decoder.norm = last
    return theirs.to(dtype).eval()


def padding(lengths: Tensor, size: int) -> Tensor:
    """torch.nn's way to say padding: True = may not look."""
    return torch.arange(size) >= lengths[:, None]


def future(size: int) -> Tensor:
    """torch.nn's way to say look-ahead: True = may not look."""
    return torch.ones(size, size, dtype=torch.bool).triu(1)


def _sizes(ours: Block) -> dict[str, int]:
    return {
        "d_model": ours.feed_forward.expand.in_features,
        "nhead": ours.self_attention.heads,
        "dim_feedforward": ours.feed_forward.expand.out_features,
    }


@torch.no_grad()
def _fill(theirs: nn.Module, ours: nn.Module) -> None:
    theirs.load_state_dict(ours.state_dict())


@torch.no_grad()
def _fill_attention(theirs: nn.MultiheadAttention, ours: MultiHead) -> None:
    theirs.in_proj_weight.copy_(ours.project.weight)
    theirs.in_proj_bias.copy_(ours.project.bias)
    _fill(theirs.out_proj, ours.output)


def _fill_feed_forward(
    theirs: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer, ours: Block, norm: nn.Module
) -> None:
    _fill(theirs.linear1, ours.feed_forward.expand)
    _fill(theirs.linear2, ours.feed_forward.contract)
    _fill(norm, ours.feed_residual.norm)
