"""One step of the recurrent models, in the letters of their papers."""

import numpy as np
import torch

from regard.inside.charts.chart import SOURCE, Chart, Node, Part, array
from regard.inside.terms import terms_of


def encoder_decoder(chart: Chart, part: Part) -> None:
    """Cho 2014, Sutskever 2014: all that is known of the source is one vector. No attention."""
    _annotations(chart, part)
    c = chart.add(Node("c", "c", "context", _last_state(part), SOURCE, "h(S): the last state"), "annotations")
    y = _word(chart, part)
    every = part.network.config.context == "every-step"
    before = chart.add(_before(part, "decoder", "s"), *([] if part.step else [c]))
    state = Node("s", "s(i)", "state", part.at("decoder"), formula=f"f(s(i−1), y(i−1){', c' if every else ''})")
    chart.add(state, before, y, *([c] if every else []))
    readout = Node("hidden", "readout", "readout", part.at(""), formula="tanh(W [s(i); y(i−1)…])")
    chart.add(readout, "s", y, *([c] if every else []))


def bahdanau(chart: Chart, part: Part) -> None:
    """Bahdanau 2015: look with the state before, then update (f), then speak (g)."""
    _annotations(chart, part)
    y = _word(chart, part)
    if part.step:
        before = chart.add(Node("s_before", "s(i−1)", "state", part.at("update", part.step - 1)))
    else:
        first = np.tanh(part.all("begin")[0])
        before = chart.add(Node("s_before", "s(0)", "state", first, formula="tanh(W_s ←h(1))"), "annotations")
    formula = "softmax(v·tanh(W s(i−1) + U h(j)))"
    _look(chart, part, before, formula, "α(i)", "c(i)", "c: Σ α(i,j) h(j)")
    chart.add(Node("s", "s(i)", "state", part.at("update"), formula="f(c(i), s(i−1), y(i−1))"), "c", before, y)
    chart.add(Node("hidden", "t(i)", "readout", part.at("readout"), formula="g(c(i), s(i), y(i−1))"), "c", "s", y)


def luong(chart: Chart, part: Part) -> None:
    """Luong 2015: update, then look with the new state; h̃ speaks, and is read beside the next word."""
    _annotations(chart, part)
    network = part.network
    y = _word(chart, part)
    given = [chart.add(_before(part, "decoder", "h"), *([] if part.step else ["annotations"])), y]
    if network.config.input_feeding:
        fed = part.at("", part.step - 1) if part.step else np.zeros_like(part.at("", 0))
        given.append(chart.add(Node("fed", "h̃(t−1)", "readout", fed, formula="input feeding")))
    h = chart.add(Node("h", "h(t)", "state", part.at("decoder"), formula="LSTM(…)"), *given)
    asks = [h]
    if network.position is not None:
        asks.append(chart.add(Node("p", "p(t)", "position", _centre(part), formula="S·σ(v·tanh(W h(t)))", axes=()), h))
    score = terms_of(network.align).formula.replace("q", "h(t)").replace("k", "h(s)")
    look = f"softmax({score})" + (" · exp(−(s−p)²/2σ²)" if network.position is not None else "")
    _look(chart, part, asks[0], look, "a(t)", "c(t)", "Σ a(t,s) h(s)", *asks[1:])
    chart.add(Node("hidden", "h̃(t)", "readout", part.at(""), formula="tanh(W [c(t); h(t)])"), "c", h)


def classifier(chart: Chart, part: Part) -> None:
    """A recurrent network reads a text; its states are pooled."""
    word = _word(chart, part, "embedding")
    h = chart.add(Node("h", "h(i)", "state", part.at("encoder")), word)
    chart.add(Node("states", "all states", "state", part.all("encoder"), axes=("S", "D")), h)
    if part.network.pool is None:
        last = part.outputs.calls["dropout"][-1][0]
        chart.add(Node("hidden", "last states", "readout", array(last)), "states")
        return
    chart.add(Node("hidden", "pooled", "readout", part.all("pool")[0], attention=part.pooling), "states")


def _annotations(chart: Chart, part: Part) -> None:
    """What the encoder says at each word of the source."""
    axes = ("S", "D")
    token = chart.add(Node("source_tokens", part.source, "token", None, SOURCE, axes=()))
    x, h = (_in_order(part, part.all(name)) for name in ("source_embedding", "encoder"))
    words = chart.add(Node("source_embedding", "embedding", "embedding", x, SOURCE, "√m · E x", axes), token)
    chart.add(Node("annotations", "h(1) … h(S)", "state", h, SOURCE, axes=axes), words)


def _in_order(part: Part, rows: np.ndarray) -> np.ndarray:
    """Of a source that was read from its end, the first word first."""
    return rows[::-1] if getattr(part.network.config, "reverse", False) else rows


def _word(chart: Chart, part: Part, name: str = "target_embedding") -> str:
    token = chart.add(Node("reads", part.reads, "token", None, axes=()))
    return chart.add(Node("y", "E y", "embedding", part.at(name), formula="√m · E y"), token)


def _look(
    chart: Chart, part: Part, query: str, formula: str, weights: str, context: str, mixed: str, *more: str
) -> None:
    """Weights over the source, and the context that they mix."""
    name = part.network.align.name
    looked = Node("weights", weights, "attention", part.weights(name), formula=formula, axes=("S",), attention=name)
    chart.add(looked, query, "annotations", *more)
    chart.add(Node("c", context, "context", part.at("align"), formula=mixed), "weights", "annotations")


def _before(part: Part, name: str, letter: str) -> Node:
    """The state before this step; before the first one, what the encoder left."""
    before = part.at(name, part.step - 1) if part.step else _begun(part)
    return Node("before", f"{letter}({'t' if letter == 'h' else 'i'}−1)", "state", before)


def _begun(part: Part) -> np.ndarray:
    """The visible state of the top layer that the decoder begins with."""
    begin = getattr(part.network, "begin", None)
    return _last_state(part) if begin is None else np.tanh(part.all("begin")[0])


def _last_state(part: Part) -> np.ndarray:
    """Of the encoder's top layer, after all that it has read: kept beside what it said."""
    return array(part.outputs.states["encoder"][-1][0][0])


def _centre(part: Part) -> np.ndarray:
    network = part.network
    with torch.inference_mode():
        h = part.outputs.rows("decoder", part.steps)[part.step]
        length = torch.tensor([len(part.all("encoder"))], device=h.device)
        return array(network.position(h[None, None], length)[0, 0])
