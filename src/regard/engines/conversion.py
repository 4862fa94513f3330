"""Our models as CTranslate2 has them: its specifications, filled with our weights. Nothing is rounded."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor, nn

from regard.engines.installed import library
from regard.errors import BundleError
from regard.models.bert import BertEncoder, BertForPretraining
from regard.models.gpt2 import GPT2
from regard.models.transformer import Transformer
from regard.text import Tokenizer

ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "gelu-tanh": "GELUTanh", "swish": "SWISH"}
"""Ours and theirs."""
IMPOSSIBLE = -1e4
"""The bias of what is never written."""


@dataclass(frozen=True)
class Words:
    """What the tokens of a model are called, by their numbers: CTranslate2 is given names. Some of them are marks."""

    names: tuple[str, ...]
    start: str
    end: str
    unknown: str

    @classmethod
    def of(cls, tokenizer: Tokenizer, rows: int) -> "Words":
        """rows: as many as the model has; one that no token has gets a name, too."""
        known = {id: name for name, id in tokenizer.backend.get_vocab().items()}
        names = tuple(known.get(id, f"<no token {id}>") for id in range(rows))
        return cls(names, names[tokenizer.start], names[tokenizer.end], names[tokenizer.unknown])


def words_of(loaded: Any) -> tuple[Words, ...]:
    """Those of what `regard.load` gave: of a translator source and target."""
    return FORMS[type(loaded.model)].words(loaded)


def specified(loaded: Any, never: Sequence[int] = ()) -> Any:
    """What `regard.load` gave, as a specification that can be written. never: tokens of a translator that it is never
    to write, whoever calls it."""
    spec = FORMS[type(loaded.model)].spec(loaded.model, *words_of(loaded))
    if never:
        output = loaded.model.output
        bias = np.zeros(len(output.weight), np.float32) if output.bias is None else _array(output.bias).copy()
        bias[list(never)] = IMPOSSIBLE
        spec.decoder.projection.bias = bias
    try:
        spec.validate()
    except ValueError as error:
        raise BundleError("The model cannot be converted.", found=str(error)[:200]) from None
    spec.optimize(quantization=None)
    return spec


def transformer(model: Transformer, source: Words, target: Words) -> Any:
    """The Transformer, Marian's too: norm before or after, any positions as a table, embeddings tied or not."""
    config = model.config
    spec = library("specs").TransformerSpec.from_config(
        (config.encoder_layers, config.decoder_layers),
        config.heads,
        pre_norm=config.norm == "pre",
        activation=_activation(config.activation),
    )
    table = model.positions(0, config.limit).expand(config.limit, config.width)
    for stack, embedding in ((spec.encoder, model.source_embedding), (spec.decoder, model.target_embedding)):
        stack.scale_embeddings = config.scaled
        stack.position_encodings.encodings = _array(table)
        (stack.embeddings[0] if stack is spec.encoder else stack.embeddings).weight = _array(embedding.weight)
    for stack, blocks, norm in (
        (spec.encoder, model.encoder, model.encoder_norm),
        (spec.decoder, model.decoder, model.decoder_norm),
    ):
        _blocks(stack, blocks)
        if config.norm == "pre":
            _norm(stack.layer_norm, norm)
    _linear(spec.decoder.projection, model.output.weight, model.output.bias)
    spec.register_source_vocabulary(list(source.names))
    spec.register_target_vocabulary(list(target.names))
    _marks(spec, target, decoder_start_token=target.start, layer_norm_epsilon=_epsilon(model.encoder))
    return spec


def gpt2(model: GPT2, words: Words) -> Any:
    """GPT-2. A row that no token has is left out: it is never chosen."""
    config, rows = model.config, len(words.names)
    spec = library("specs").TransformerDecoderModelSpec.from_config(
        config.layers, config.heads, pre_norm=True, activation=_activation(config.activation)
    )
    stack = spec.decoder
    stack.scale_embeddings = False
    stack.embeddings.weight = _array(model.words.weight[:rows])
    stack.position_encodings.encodings = _array(model.positions.weight)
    _blocks(stack, model.decoder)
    _norm(stack.layer_norm, model.norm)
    _linear(stack.projection, model.output.weight[:rows], None)
    spec.register_vocabulary(list(words.names))
    _marks(spec, words, layer_norm_epsilon=config.epsilon)
    return spec


def bert(model: Any, words: Words) -> Any:
    """The encoder of a BERT, without what was learned on top of it."""
    inner = model.bert
    specs, config = library("specs"), inner.config
    stack = specs.TransformerEncoderSpec(
        config.layers,
        config.heads,
        pre_norm=False,
        activation=_activation(config.activation),
        num_source_embeddings=2,
        embeddings_merge=specs.EmbeddingsMerge.ADD,
        layernorm_embedding=True,
    )
    stack.scale_embeddings = False
    for spec, embedding in zip(stack.embeddings, (inner.words, inner.segments), strict=True):
        spec.weight = _array(embedding.weight)
    stack.position_encodings.encodings = _array(inner.positions.weight)
    _norm(stack.layernorm_embedding, inner.norm)
    _blocks(stack, inner.encoder)
    spec = specs.TransformerEncoderModelSpec(stack)
    spec.register_vocabulary(list(words.names))
    _marks(spec, words, layer_norm_epsilon=config.epsilon)
    return spec


class Form(NamedTuple):
    """What makes a specification of a model and its words; `words`: those of what `regard.load` gave."""

    spec: Callable[..., Any]
    words: Callable[[Any], tuple[Words, ...]]


def _of_both_sides(loaded: Any) -> tuple[Words, ...]:
    model, tokenizers = loaded.model, loaded.tokenizers
    sides = ((tokenizers.source, model.source_embedding), (tokenizers.target, model.target_embedding))
    return tuple(Words.of(tokenizer, embedding.weight.shape[0]) for tokenizer, embedding in sides)


def _of_a_writer(loaded: Any) -> tuple[Words, ...]:
    return (Words.of(loaded.tokenizer, len(loaded.tokenizer)),)


def _of_a_reader(loaded: Any) -> tuple[Words, ...]:
    return (Words.of(loaded.tokenizer, loaded.model.bert.words.num_embeddings),)


FORMS: dict[type[nn.Module], Form] = {
    Transformer: Form(transformer, _of_both_sides),
    GPT2: Form(gpt2, _of_a_writer),
    **dict.fromkeys((BertEncoder, BertForPretraining), Form(bert, _of_a_reader)),
}
"""The models that CTranslate2 has a form for."""


def _marks(spec: Any, words: Words, **more: Any) -> None:
    known = {"unk_token": words.unknown, "bos_token": words.start, "eos_token": words.end}
    for key, value in (known | more).items():
        setattr(spec.config, key, value)


def _activation(name: str) -> Any:
    return getattr(library("specs").Activation, ACTIVATIONS[name])


def _epsilon(blocks: Iterable[Any]) -> float:
    return float(next(iter(blocks)).self_residual.norm.eps)


def _blocks(stack: Any, blocks: Iterable[Any]) -> None:
    for spec, block in zip(stack.layer, blocks, strict=True):
        _self_attention(spec.self_attention, block.self_attention)
        _norm(spec.self_attention.layer_norm, block.self_residual.norm)
        if hasattr(block, "cross_attention"):
            _cross_attention(spec.attention, block.cross_attention)
            _norm(spec.attention.layer_norm, block.cross_residual.norm)
        _linear(spec.ffn.linear_0, block.feed_forward.expand.weight, block.feed_forward.expand.bias)
        _linear(spec.ffn.linear_1, block.feed_forward.contract.weight, block.feed_forward.contract.bias)
        _norm(spec.ffn.layer_norm, block.feed_residual.norm)


def _self_attention(spec: Any, attention: Any) -> None:
    _linear(spec.linear[0], attention.project.weight, attention.project.bias)
    _linear(spec.linear[1], attention.output.weight, attention.output.bias)


def _cross_attention(spec: Any, attention: Any) -> None:
    """Of the three projections in one matrix, the query's is apart: keys and values are computed once."""
    width = attention.project.in_features
    weight, bias = attention.project.weight, attention.project.bias
    for linear, rows in ((spec.linear[0], slice(width)), (spec.linear[1], slice(width, None))):
        _linear(linear, weight[rows], None if bias is None else bias[rows])
    _linear(spec.linear[2], attention.output.weight, attention.output.bias)


def _linear(spec: Any, weight: Tensor, bias: Tensor | None) -> None:
    spec.weight = _array(weight)
    if bias is not None:
        spec.bias = _array(bias)


def _norm(spec: Any, norm: Any) -> None:
    spec.gamma = _array(norm.weight)
    spec.beta = np.zeros_like(spec.gamma) if norm.bias is None else _array(norm.bias)


def _array(tensor: Tensor) -> np.ndarray:
    found: np.ndarray = tensor.detach().cpu().contiguous().numpy()
    return found
