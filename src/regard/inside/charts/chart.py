"""A chart as it is drawn: nodes with their values, and who gives to whom."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from jaxtyping import Float
from torch import Tensor

from regard.attention import Recording
from regard.inside.outputs import Outputs

Kind = Literal[
    "token", "embedding", "position", "state", "attention", "context",
    "sum", "norm", "feed-forward", "readout", "output",
]  # fmt: skip
SOURCE, STEP, OUTPUT = "source", "step", "output"
"""Groups, besides those of blocks: what is read once, what is made for this step, what comes behind the blocks."""


@dataclass(frozen=True, eq=False)
class Node:
    """Something that a step makes. `axes`: what its sides count, D width, S source places, H heads, V vocabulary."""

    id: str
    label: str
    kind: Kind
    value: Float[np.ndarray, "..."] | None
    group: str = STEP
    formula: str = ""
    axes: tuple[str, ...] = ("D",)
    attention: str | None = None
    """The name of the attention that it is the result of."""


@dataclass(frozen=True)
class Edge:
    source: str
    target: str
    label: str = ""


@dataclass
class Chart:
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)

    def add(self, node: Node, *after: str, label: str = "") -> str:
        """A node, and what goes into it; gives its id."""
        self.nodes[node.id] = node
        self.edges += [Edge(one, node.id, label) for one in after]
        return node.id

    def value(self, id: str) -> np.ndarray:
        """What a node that has one holds."""
        value = self.nodes[id].value
        assert value is not None, f"{id} has no value"
        return value


@dataclass(frozen=True)
class Part:
    """What the parts of a network gave, for one row of those that it made. `steps`: how many rows there are; `reads`,
    `source`: the tokens that the step and the source begin with."""

    network: Any
    outputs: Outputs
    recording: Recording
    step: int
    steps: int
    reads: str
    source: str = ""

    def at(self, name: str, step: int | None = None) -> np.ndarray:
        """A row of what a part gave, that of this step if none is named."""
        return array(self.outputs.rows(name, self.steps)[self.step if step is None else step])

    def all(self, name: str) -> np.ndarray:
        """All rows of its first call: what is made of the source."""
        return array(self.outputs.first(name))

    def weights(self, name: str) -> np.ndarray:
        """Of an attention with one head: (S)."""
        return array(self.recording.joined(name)[0, 0, self.step])

    @property
    def pooling(self) -> str | None:
        """The name of the attention that pools, where one does."""
        return "pooling" if self.network.config.pooling == "attention" else None


def array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().float().cpu().numpy()
