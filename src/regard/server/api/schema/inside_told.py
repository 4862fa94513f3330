"""What is told of the inside of a model."""

from typing import Any, Literal

from pydantic import BaseModel

from regard.server.api.schema.own import Looked


class Spelt(BaseModel):
    text: str
    special: bool


class Vector(BaseModel):
    """`numbers`: the first of them, 256 at most."""

    size: int
    norm: float
    numbers: list[float]


class Worked(BaseModel):
    """From the scores of a row to its weights."""

    model: str
    name: str
    head: int
    heads: int
    row: int
    column: int
    asks: Spelt
    keys: list[Spelt]
    score: str
    formula: str
    stages: list[str]
    raw: list[float]
    scale: float | None
    scores: list[float]
    mask: list[bool]
    masked: list[float | None]
    softmax: list[float]
    focus: list[float] | None
    centre: float | None
    normalise: str
    weights: list[float]
    value_norms: list[float]
    reach: list[float]
    context_norm: float
    vectors: dict[str, Vector]


class Drawn(BaseModel):
    """A node of a chart."""

    id: str
    group: str
    label: str
    kind: str
    formula: str
    attention: str | None
    shape: list[int]
    axes: list[str]
    norm: float
    mean: float
    std: float
    numbers: list[float]


class Likely(BaseModel):
    id: int
    text: str
    probability: float


class Charted(BaseModel):
    """One step as a chart."""

    model: str
    architecture: str
    step: int
    reads: str
    writes: str
    groups: list[dict[str, str]]
    nodes: list[Drawn]
    edges: list[dict[str, str]]
    top: list[Likely]


class Placed(BaseModel):
    """A row of numbers for each place."""

    model: str
    kind: str
    length: int
    width: int
    limit: int
    numbers: list[list[float]]


class Mask(BaseModel):
    kinds: list[str]
    rows: list[str]


class Masked(BaseModel):
    """Who may look where: 1."""

    model: str
    rows: dict[str, Any]
    axes: dict[str, list[str]]
    masks: dict[str, Mask]


class Way(Likely):
    """A token that could be chosen. drawn: its probability after temperature and so on."""

    drawn: float


class Moment(Way):
    rank: int
    entropy: float
    candidates: int
    forced: bool
    alternatives: list[Way]


class Timed(BaseModel):
    """What was chosen at each step. log_prob: null if something was forced that the model never writes."""

    model: str
    text: str
    ids: list[int]
    log_prob: float | None
    ending: Literal["end", "stop", "limit"]
    steps: list[Moment]


class Twig(BaseModel):
    node: int
    parent: int | None
    step: int
    id: int
    text: str
    log_prob: float
    score: float
    state: Literal["kept", "finished", "dropped"]


class Hypothesis(BaseModel):
    text: str
    ids: list[int]
    log_prob: float
    score: float
    finished: bool
    path: list[int]


class Grown(BaseModel):
    """A search as a tree."""

    model: str
    beam: int
    penalty: float
    nodes: list[Twig]
    hypotheses: list[Hypothesis]
    trace: Looked | None


class Tagged(BaseModel):
    """By attention and tag, a number for each head."""

    model: str
    tags: dict[str, dict[str, list[float]]]


class Watched(BaseModel):
    text: str
    second: str | None


class Run(BaseModel):
    """After which updates attention was kept, and in which sentences."""

    model: str
    updates: list[int]
    sentences: list[Watched]


class Aligned(BaseModel):
    """Known links, or none."""

    model: str
    second: str | None
    gold: dict[str, Any] | None
