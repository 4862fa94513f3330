"""One step of the models that are made of blocks: Transformer, BERT, GPT-2."""

from typing import Any

import torch

from regard.inside.charts.chart import OUTPUT, SOURCE, Chart, Kind, Node, Part, array

LABELS = {"self": "self-attention", "cross": "cross-attention", "feed": "feed-forward"}


def transformer(chart: Chart, part: Part) -> None:
    """What the encoder made of the source, layer by layer; a word of the target on its way through the decoder."""
    network = part.network
    memory = _source(chart, part)
    x = _embedded(chart, part, "target_embedding", "√D · E y")
    x = _stack(chart, part, "decoder", network.decoder, x, memory)
    _normed(chart, part, "decoder_norm", x)


def gpt2(chart: Chart, part: Part) -> None:
    """A word of the text on its way through the blocks."""
    x = _embedded(chart, part, "words", "E y")
    x = _stack(chart, part, "decoder", part.network.decoder, x)
    _normed(chart, part, "norm", x)


def bert(chart: Chart, part: Part) -> None:
    """A token on its way through the blocks; what it is guessed to be, where the model has learned to guess."""
    x = _bert_stack(chart, part)
    network = part.network
    if hasattr(network, "guesses"):
        with torch.inference_mode():
            guess = network.guesses(part.outputs.rows("bert", part.steps)[part.step])
        chart.add(Node("hidden", "guess", "readout", array(guess), OUTPUT, formula="norm(f(W h))"), x)


def bert_classifier(chart: Chart, part: Part) -> None:
    """A token on its way through the blocks; the class is said of what becomes of the first one."""
    _bert_stack(chart, part)
    first = Node("first", "h([CLS])", "state", part.at("bert", 0), OUTPUT)
    with torch.inference_mode():
        pooled = part.network.bert.pooled(part.outputs.rows("bert", part.steps)[None])[0]
    chart.add(first)
    chart.add(Node("hidden", "pooled", "readout", array(pooled), OUTPUT, formula="tanh(W h([CLS]))"), "first")


def classifier(chart: Chart, part: Part) -> None:
    """A token on its way through the blocks; all of them pooled."""
    x = _embedded(chart, part, "embedding", "√D · E y")
    x = _stack(chart, part, "encoder", part.network.encoder, x)
    x = _normed(chart, part, "norm", x, id="normed")
    chart.add(Node("hidden", "pooled", "readout", part.all("pool")[0], OUTPUT, attention=part.pooling), x)


def _source(chart: Chart, part: Part) -> str:
    """The encoder's results, all places of the source at once."""
    words = part.all("source_embedding")
    axes = ("S", "D")
    token = chart.add(Node("source_tokens", part.source, "token", None, SOURCE, axes=()))
    x = chart.add(Node("source_embedding", "embedding", "embedding", words, SOURCE, "√D · E x", axes), token)
    if part.network.config.positions != "none":
        places = chart.add(
            Node("source_position", "positions", "position", part.all("positions")[: len(words)], SOURCE, axes=axes)
        )
        x = chart.add(Node("source_sum", "+", "sum", words + chart.value(places), SOURCE, axes=axes), x, places)
    for layer in range(len(part.network.encoder)):
        name = f"encoder.{layer}"
        state = Node(name, f"encoder block {layer}", "state", part.all(name), SOURCE, "", axes, f"{name}.self")
        x = chart.add(state, x)
    return chart.add(Node("memory", "memory", "norm", part.all("encoder_norm"), SOURCE, axes=axes), x)


def _embedded(chart: Chart, part: Part, name: str, formula: str) -> str:
    """A word and its place."""
    token = chart.add(Node("reads", part.reads, "token", None, axes=()))
    word = chart.add(Node("embedding", "embedding", "embedding", part.at(name), formula=formula), token)
    if getattr(part.network.config, "positions", "learned") == "none":
        return word
    place = chart.add(Node("position", f"position {part.step}", "position", part.at("positions")))
    return chart.add(Node("sum", "+", "sum", chart.value(word) + chart.value(place)), word, place)


def _bert_stack(chart: Chart, part: Part) -> str:
    """norm(word + position + segment), and the blocks."""
    token = chart.add(Node("reads", part.reads, "token", None, axes=()))
    words = [
        chart.add(Node("embedding", "embedding", "embedding", part.at("bert.words"), formula="E y"), token),
        chart.add(Node("position", f"position {part.step}", "position", part.at("bert.positions"))),
        chart.add(Node("segment", "segment", "embedding", part.at("bert.segments"))),
    ]
    total = sum(chart.value(word) for word in words[1:])
    chart.add(Node("sum", "+", "sum", chart.value(words[0]) + total), *words)
    x = chart.add(Node("norm", "norm", "norm", part.at("bert.norm")), "sum")
    return _stack(chart, part, "bert.encoder", part.network.bert.encoder, x)


def _stack(chart: Chart, part: Part, path: str, blocks: Any, x: str, memory: str = "") -> str:
    for layer, block in enumerate(blocks):
        x = _part(chart, part, f"{path}.{layer}", block.self_attention, "self", x)
        if memory:
            x = _part(chart, part, f"{path}.{layer}", block.cross_attention, "cross", x, memory)
        x = _part(chart, part, f"{path}.{layer}", block.self_attention, "feed", x)
    return x


def _part(chart: Chart, part: Part, path: str, attention: Any, what: str, x: str, *more: str) -> str:
    """A sub-layer in its residual connection: the norm before it or behind the sum."""
    group = attention.name.rpartition(".")[0]
    stem = f"{group}.{what}"
    pre = part.network.get_submodule(f"{path}.{what}_residual").pre
    norm = Node(f"{stem}.norm", "norm", "norm", part.at(f"{path}.{what}_residual.norm"), group)
    given = chart.add(norm, x) if pre else x
    kind: Kind = "feed-forward" if what == "feed" else "attention"
    name, looks = ("feed_forward", None) if what == "feed" else (f"{what}_attention.output", attention.name)
    value = part.at(f"{path}.{name}")
    chart.add(Node(stem, LABELS[what], kind, value, group, _formula(what), attention=looks), given, *more)
    total = Node(f"{stem}.sum", "+", "sum", chart.value(x) + chart.value(stem), group)
    chart.add(total, x, stem)
    return total.id if pre else chart.add(norm, total.id)


def _formula(what: str) -> str:
    return "f(x W₁ + b₁) W₂ + b₂" if what == "feed" else "Concat(heads) W^O"


def _normed(chart: Chart, part: Part, name: str, x: str, id: str = "hidden") -> str:
    """The norm behind the last block, if there is one: the state that the output is made from."""
    return chart.add(Node(id, "norm", "norm", part.at(name), OUTPUT), x)
