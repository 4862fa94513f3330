"""What the contestants of a bench and its driver say to each other.

Each contestant is a process with a Python of its own, so nothing here needs more than torch and numpy.
"""

import runpy
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

MEMORY = Path(__file__).resolve().parents[1] / "src" / "regard" / "memory.py"  # imports nothing of ours: runs anywhere


@dataclass(frozen=True)
class Setup:
    """What a contestant is told at the start: our config as a tree, and the text's sizes and marks.
    `favours`: it gets what ours has, a malloc that keeps freed memory and the fused Adam."""

    config: dict[str, Any]
    source_vocabulary: int
    target_vocabulary: int
    joint: bool
    marks: dict[str, int]
    threads: int
    favours: bool
    processes: int = 1


@dataclass(frozen=True)
class Given:
    """A batch as numbers, laid out like regard's PairBatch."""

    source: np.ndarray
    source_lengths: np.ndarray
    target: np.ndarray
    target_lengths: np.ndarray

    @property
    def tokens(self) -> int:
        """Target tokens that are predicted."""
        return int(self.target_lengths.sum()) - len(self.target_lengths)


@dataclass(frozen=True)
class Facts:
    """What a contestant is."""

    version: str
    parameters: int


@dataclass(frozen=True)
class Turn:
    """What a contestant did in one round; `loss` is that of the last update, `parts` are seconds timed apart."""

    seconds: float
    cpu_seconds: float
    loss: float
    parts: dict[str, float] = field(default_factory=dict)


class Player(Protocol):
    """A contestant. `prepare` is not timed; `update` is: forward, loss, backward, clip, step. It returns the loss."""

    facts: Facts
    parts: dict[str, float]
    elsewhere: float
    """CPU seconds that other processes of the contestant have used since the turn began."""

    def prepare(self, given: Given) -> Any: ...
    def update(self, batch: Any) -> float: ...


def play(make: Callable[[Setup], Player]) -> None:
    """The process: for a Setup it sends Facts, then for each list of batches a Turn."""
    link = Connection(int(sys.argv[1]))
    setup: Setup = link.recv()
    torch.set_num_threads(setup.threads)
    if setup.favours:
        runpy.run_path(str(MEMORY))["keep_freed_memory"]()
    torch.manual_seed(setup.config["seed"])
    player = make(setup)
    link.send(player.facts)
    with suppress(EOFError):  # the driver has hung up
        while True:
            link.send(_turn(player, link.recv()))


def _turn(player: Player, batches: Sequence[Given]) -> Turn:
    prepared = [player.prepare(given) for given in batches]
    player.parts.clear()
    began, cpu_began = time.perf_counter(), time.process_time()
    losses = [player.update(batch) for batch in prepared]
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
    return Turn(seconds, cpu_seconds + player.elsewhere, losses[-1], dict(player.parts))
