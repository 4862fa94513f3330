"""What passes between the server and the process of a model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from regard.errors import RegardError
from regard.text.detection import Profile

Options = tuple[tuple[str, Any], ...]
"""Names and values: jobs of the same verb with the same options can be computed together."""


@dataclass(frozen=True)
class Job:
    """One text (or whatever the verb takes) of a request. streamed: pieces are wanted as they come; alone: not together
    with others, since a process was lost while this was computed."""

    id: int
    verb: str
    payload: Any
    options: Options = ()
    streamed: bool = False
    alone: bool = False


@dataclass(frozen=True)
class Facts:
    """What a model says of itself once it is loaded."""

    name: str
    task: str
    architecture: str
    verbs: tuple[str, ...]
    parameters: int
    limit: int | None = None
    """Longest text in tokens."""
    langs: tuple[str, str] | None = None
    """Of a translator: from, to."""
    targets: Mapping[str, str] = field(default_factory=dict)
    """Of one that writes several languages: their names, and the codes that it knows them by."""
    labels: tuple[str, ...] = ()
    engine: str = "torch"
    """Who computes."""
    scores: Mapping[str, Any] = field(default_factory=dict)
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    """By language: see text/detection.py."""
    examples: tuple[str, ...] = ()
    """Texts to begin with."""
    attends: bool = True
    """Whether there is anything to be looked at."""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """What it can translate: from, to."""
        if self.langs is None:
            return []
        source, target = self.langs
        return [(source, name) for name in dict.fromkeys((target, *self.targets))]


# To the model.


@dataclass(frozen=True)
class Order:
    """What a process is started for: which model, how many tokens it may compute together, and by which engine."""

    place: str
    budget: int
    engine: str


@dataclass(frozen=True)
class Asked:
    """The jobs of one request."""

    jobs: tuple[Job, ...]


@dataclass(frozen=True)
class Dropped:
    """Nobody waits for these any more."""

    ids: tuple[int, ...]


# From the model.


@dataclass(frozen=True)
class Ready:
    """The model is loaded."""

    facts: Facts


@dataclass(frozen=True)
class Broken:
    """The model cannot be loaded."""

    error: RegardError


@dataclass(frozen=True)
class Begun:
    """These are computed now; size: how many are computed together, with those that began before."""

    ids: tuple[int, ...]
    size: int


@dataclass(frozen=True)
class Piece:
    """More of a text that is streamed."""

    id: int
    value: Any


@dataclass(frozen=True)
class Done:
    """The answer, and how many tokens were read and made for it."""

    id: int
    value: Any
    read: int = 0
    made: int = 0


@dataclass(frozen=True)
class Failed:
    """There is no answer: what is wrong with the job, or nothing if the fault is ours."""

    id: int
    error: RegardError | None = None


Event = Begun | Piece | Done | Failed
