"""The driver of a bench: contestants take turns on the same batches, and are compared round by round.

Each contestant is a process with the Python of its own venv. They take turns on the same batches of token ids, a few
full updates each (forward, loss, backward, clip, optimiser), another one going first from round to round; the others
wait. One that asks for it gets batches that are not sorted by length, as JoeyNMT's own are not; speed is counted in
real tokens, so padding is waste. The machine's matrix product is measured in every round too.
"""

import os
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count, islice
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from racing import in_turn
from regard.data.batches import PairBatch
from regard.data.corpora import build
from regard.tasks.translation import TranslationTask
from regard.training.settings import RunConfig
from turns import Facts, Given, Setup, Turn

BENCH = Path(__file__).resolve().parent
HERE = Path(sys.executable)
JOEYNMT = BENCH.parent / ".venv-joeynmt" / "bin" / "python"
MULTI30K = BENCH.parents[1] / "shared" / "data" / "multi30k"
WARM_UP, BATCHES = 3, 3  # updates before the first round, and in every turn
GEMM_SIZES, GEMM_REPEATS = (1024, 1536, 2048), 3


@dataclass(frozen=True)
class Contestant:
    """Who takes part: a script of this directory, whether it gets our malloc setting and the fused Adam, and whether
    its batches are sorted by length."""

    name: str
    script: str
    python: Path = HERE
    favours: bool = True
    processes: int = 1
    by_length: bool = True


@dataclass(frozen=True)
class Round:
    """One round: FLOP/s of the matrix product, everybody's batches and turn."""

    peak: float
    batches: dict[str, list[Given]]
    turns: dict[str, Turn]

    def speed(self, name: str) -> float:
        """Real target tokens a second."""
        return sum(batch.tokens for batch in self.batches[name]) / self.turns[name].seconds


def texts(data: Path, scratch: Path) -> tuple[list[str], str]:
    """Files of source and target, and what they are: Multi30k, or the built-in corpus where that is not to be had."""
    files, about = [data / "train.en.gz", data / "train.de.gz"], f"Multi30k en-de in {data}"
    if not all(file.exists() for file in files):
        about = f"the built-in corpus (no Multi30k in {data})"
        files = [scratch / "train.en", scratch / "train.zh"]
        pairs = build().train
        files[0].write_text("".join(f"{pair.source}\n" for pair in pairs), encoding="utf-8")
        files[1].write_text("".join(f"{pair.target}\n" for pair in pairs), encoding="utf-8")
    return [str(file) for file in files], about


def task_of(config: RunConfig) -> TranslationTask:
    settings: Any = config.settings
    return TranslationTask(settings, model=config.model, seed=config.seed)


def setup(config: RunConfig, task: TranslationTask, threads: int) -> Setup:
    """What all contestants are told."""
    text = task.tokenizers
    marks = {"pad": text.target.pad, "bos": text.target.start, "eos": text.target.end, "unk": text.target.unknown}
    sizes = len(text.source), len(text.target), text.source is text.target
    return Setup(config.tree(), *sizes, marks, threads, favours=True)


@contextmanager
def started(contestants: Sequence[Contestant], told: Setup) -> Iterator[dict[str, Connection]]:
    """Their processes, each at the other end of its link."""
    links: dict[str, Connection] = {}
    processes = []
    for who in contestants:
        links[who.name], theirs = Pipe()
        command = [str(who.python), str(BENCH / who.script), str(theirs.fileno())]
        processes.append(subprocess.Popen(command, pass_fds=[theirs.fileno()]))
        theirs.close()  # so that a contestant's death is heard as EOFError
        links[who.name].send(replace(told, favours=who.favours, processes=who.processes))
    try:
        yield links
    finally:
        for link, process in zip(links.values(), processes, strict=True):
            link.close()
            process.wait()


def race(
    links: dict[str, Connection], task: TranslationTask, rounds: int, *, mixed: Collection[str] = ()
) -> Iterator[Round]:
    """One works at a time; those in `mixed` get batches that are not sorted by length. The round before the first only
    warms up."""
    names, by_length, any_length = list(links), _by_length(task), _any_length(task)
    for number in range(-1, rounds):
        updates = WARM_UP if number < 0 else BATCHES
        usual, unusual = (list(islice(stream, updates)) for stream in (by_length, any_length))
        batches = {name: unusual if name in mixed else usual for name in names}
        turns: dict[str, Turn] = {}
        for name in in_turn(names, number):
            links[name].send(batches[name])
            turns[name] = links[name].recv()
        if number >= 0:
            yield Round(gemm_rate(), batches, turns)


def gemm_rate() -> float:
    """FLOP/s of a float32 matrix product: the best size, the best repetition."""
    rates = []
    for size in GEMM_SIZES:
        a, b, c = torch.rand(size, size), torch.rand(size, size), torch.empty(size, size)
        torch.mm(a, b, out=c)
        for _ in range(GEMM_REPEATS):
            began = time.perf_counter()
            torch.mm(a, b, out=c)
            rates.append(2 * size**3 / (time.perf_counter() - began))
    return max(rates)


def introduce(facts: dict[str, Facts], told: Setup, about: str, load: float) -> None:
    """What is compared."""
    print(f"{', '.join(dict.fromkeys(fact.version for fact in facts.values()))}, torch {torch.__version__}; ", end="")
    print(f"{told.threads} threads; load before the start {load:.1f} on {os.cpu_count()} cores")
    words = f"{told.source_vocabulary:,}" + ("" if told.joint else f" + {told.target_vocabulary:,}")
    tokens = told.config["batch"]["tokens"]
    print(f"Data: {about}; vocabulary {words}, batches of {tokens:,} tokens")
    print(f"Parameters: {', '.join(f'{name} {fact.parameters:,}' for name, fact in facts.items())}", flush=True)


def faster(rounds: Sequence[Round], one: str, other: str) -> list[float]:
    """How many times faster one was than the other, in each round."""
    return [each.speed(one) / each.speed(other) for each in rounds]


def cores_had(rounds: Sequence[Round], name: str) -> float:
    """CPU seconds a second; below the threads, others had the rest of the machine."""
    return median(each.turns[name].cpu_seconds / each.turns[name].seconds for each in rounds)


def _by_length(task: TranslationTask) -> Iterator[Given]:
    """Our batches, one after the other."""
    return (_given(batch) for step in count() if (batch := task.batch(step)) is not None)


def _any_length(task: TranslationTask) -> Iterator[Given]:
    """Batches by the rule of JoeyNMT's TokenBatchSampler ("no bucketing"): pairs in any order, until all of them,
    padded to the longest, reach the budget."""
    longest = task.train_pairs.lengths().max(axis=1).tolist()
    rows: list[int] = []
    for epoch in count():
        for row in np.random.default_rng(epoch).permutation(len(longest)).tolist():
            rows.append(row)
            if len(rows) * max(longest[row] for row in rows) >= task.config.batch.budget:
                yield _given(task.train_pairs.batch(np.array(rows)))
                rows = []


def _given(batch: PairBatch) -> Given:
    parts = (batch.source, batch.source_lengths, batch.target, batch.target_lengths)
    return Given(*(part.numpy() for part in parts))
