"""One step of a model as a flow chart: what is made of what, with shapes and values, drawn from the model at work."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.attention import Attends, Recording, capture
from regard.errors import ConfigError
from regard.inside.charts import CHARTS, Chart, Edge, Node, Part
from regard.inside.charts.chart import array
from regard.inside.outputs import outputs
from regard.inside.reading import read
from regard.inside.scene import script
from regard.insight import TokenRow
from regard.models.pretrained.networks import MASKED
from regard.tasks.spelling import surface

HIDDEN = "hidden"
"""The node that the output is made from."""
TOP = 10


@dataclass(frozen=True)
class Likely:
    """A token, or a class, that the step may give."""

    id: int
    text: str
    probability: float


@dataclass(frozen=True, eq=False)
class Flow:
    """`reads`, `writes`: the tokens of the step, as far as there are any. Nodes stand in the order in which they are
    made."""

    architecture: str
    step: int
    reads: str
    writes: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    top: tuple[Likely, ...]
    """What may be written, the likeliest first; nothing where nothing is predicted."""


@torch.inference_mode()
def flow(model: Any, text: str, second: str | None = None, *, step: int = 0, generate: int = 0) -> Flow:
    """How any loaded model makes one word: of the translation; after a word of a text; or what becomes of one token of
    a text. step: counts them from 0; with `generate`, those that a language model adds."""
    network = model.model
    draw = CHARTS.get(type(network))
    if draw is None:
        raise ConfigError(f"There is no chart of a {type(network).__name__}.", wanted="a model that reads sentences")
    given = script(model, text, second, generate=generate)
    with outputs(network) as made, _heard(network) as recording:
        rows = read(model, given).rows
    reads = rows["target" if "target" in rows else "text"]
    place = given.first + step
    if not given.first <= place < len(reads):
        raise ConfigError(f"There is no step {step}.", wanted=f"0 to {len(reads) - given.first - 1}")
    source = rows["source"].text if "source" in rows else ""
    part = Part(network, made, recording, place, len(reads), reads.tokens[place].label, source)
    chart = Chart()
    draw(chart, part)
    top = _output(chart, model, part)
    return Flow(
        architecture=type(network).__name__,
        step=step,
        reads=part.reads,
        writes=_written(rows, place, given.last),
        nodes=tuple(chart.nodes.values()),
        edges=tuple(chart.edges),
        top=top,
    )


@contextmanager
def _heard(network: Any) -> Iterator[Recording]:
    """A recording, empty where nothing attends."""
    attends = any(isinstance(part, Attends) for part in network.modules())
    with capture(network, keep=("weights",) if attends else ()) as recording:
        yield recording


def _written(rows: Mapping[str, TokenRow], step: int, last: str) -> str:
    """What follows in the text."""
    if "prediction" in rows:
        return rows["prediction"].tokens[step].label
    return rows["text"].tokens[step + 1].label if step + 1 < len(rows["text"]) else last


def _output(chart: Chart, model: Any, part: Part) -> tuple[Likely, ...]:
    """From the last state to words, or to classes."""
    if HIDDEN not in chart.nodes:
        return ()
    hidden = torch.from_numpy(chart.value(HIDDEN)).to(next(part.network.parameters()))
    if hasattr(part.network, "classify"):
        logits, names = part.network.classify(hidden), list(model.labels)
        formula = "W x + b"
    elif hasattr(model, "parts") and MASKED not in model.parts:
        return ()
    else:
        tokenizer = model.tokenizers.target if hasattr(model.tokenizers, "target") else model.tokenizers.tokenizer
        logits, names = part.network.output(hidden)[: len(tokenizer)], tokenizer
        formula = "E h"
    group = chart.nodes[HIDDEN].group
    chart.add(Node("output", "output", "output", array(logits), group, formula, axes=("V",)), HIDDEN)
    return _likeliest(logits, names)


def _likeliest(logits: Tensor, names: Any) -> tuple[Likely, ...]:
    found = logits.double().softmax(-1).topk(min(TOP, len(logits)))
    pairs = zip(found.indices.tolist(), found.values.tolist(), strict=True)
    told = [(id, names[id] if isinstance(names, list) else surface(names, id), share) for id, share in pairs]
    return tuple(Likely(*one) for one in told)
