"""Our part in the benches: any model of ours, trained by regard's own loop, in one process or in several."""

import os
import time
from contextlib import suppress
from importlib.metadata import version
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import torch
from torch import Tensor, nn

from regard import bundle
from regard.data.batches import PairBatch, Share
from regard.memory import keep_freed_memory
from regard.tasks.translation import cross_entropy
from regard.training.distributed import join
from regard.training.loop import learner, steps
from regard.training.settings import resolve
from turns import Facts, Given, Setup, play

STEPS, ENCODER = "decoder's steps", "encoder"
PORT = "29517"


class OneBatch:
    """The task: whatever batch it is handed."""

    current: PairBatch

    def __init__(self, smoothing: float) -> None:
        self.smoothing = smoothing

    def batch(self, step: int, share: Share) -> PairBatch | None:
        """The rows of this share, without the padding that only others need."""
        whole, rows = self.current, slice(share.part, None, share.of)
        lengths = whole.source_lengths[rows], whole.target_lengths[rows]
        if not len(lengths[0]):
            return None
        source, target = whole.source[rows, : int(lengths[0].max())], whole.target[rows, : int(lengths[1].max())]
        return PairBatch(source, lengths[0], target, lengths[1])

    def epoch(self, step: int) -> int:
        return 0

    def size(self, batch: PairBatch) -> int:
        return int(batch.target_lengths.sum()) - len(batch.target_lengths)

    def counts(self, batch: PairBatch) -> dict[str, int]:
        return {"loss": self.size(batch)}

    def losses(self, model: nn.Module, batch: PairBatch) -> dict[str, Tensor]:
        return {"loss": cross_entropy(model, batch, label_smoothing=self.smoothing)[0]}


class Stopwatch:
    """Times stretches of a model from outside, forward and backward, by hooks: a stretch begins when its inputs are
    there and ends when its outputs are; backward, its gradients pass in the opposite order."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}
        self._began: dict[str, float] = {}

    def begin(self, name: str) -> None:
        self._began.setdefault(name, time.perf_counter())

    def end(self, name: str) -> None:
        self.parts[name] = self.parts.get(name, 0.0) + time.perf_counter() - self._began.pop(name)

    def enter(self, name: str, x: Tensor) -> None:
        """x is there: the stretch begins; when its gradient is there, the stretch has ended for the second time."""
        self.begin(name)
        x.register_hook(lambda _: self.end(name))

    def leave(self, name: str, x: Tensor) -> None:
        self.end(name)
        x.register_hook(lambda _: self.begin(name))


def watched(model: Any, watch: Stopwatch) -> None:
    """The decoder's loop over steps lies between the projection of all its words and the readout of all its states."""
    model.encoder.register_forward_pre_hook(lambda _, inputs: watch.enter(ENCODER, inputs[0]))
    model.encoder.register_forward_hook(lambda _, inputs, outputs: watch.leave(ENCODER, outputs[0]))
    model.update.cell.input.register_forward_hook(lambda _, inputs, output: watch.enter(STEPS, output))
    model.readout.register_forward_pre_hook(lambda _, inputs: watch.leave(STEPS, inputs[1]))


class Ours:
    """A Player (see turns.py); the first of its processes, the others are `other`."""

    def __init__(self, setup: Setup, rank: int = 0) -> None:
        self.others = [_start(setup, other) for other in range(1, setup.processes)] if rank == 0 else []
        if setup.processes > 1:
            torch.set_num_threads(setup.threads // setup.processes)
            place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": setup.processes}
            os.environ |= {name: str(value) for name, value in place.items()}
            os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": PORT}
        config = resolve(setup.config)
        sizes = {"source_vocabulary": setup.source_vocabulary, "target_vocabulary": setup.target_vocabulary}
        model = bundle.build_model(config.tree(), {**sizes, "joint": setup.joint})
        stopwatch = Stopwatch()
        if config.model_name == "bahdanau":
            watched(model, stopwatch)
        self.parts = stopwatch.parts
        self.facts = Facts(f"regard {version('regard')}", sum(p.numel() for p in model.parameters()))
        self.task = OneBatch(setup.config["loss"]["label_smoothing"])
        learns = learner(model, config.training)
        self.updates = steps(learns, self.task, config.training, seed=config.seed, world=join("cpu"))

    @property
    def elsewhere(self) -> float:
        for link in self.others:
            link.send(None)
        return sum(link.recv() for link in self.others)

    def prepare(self, given: Given) -> tuple[Given, PairBatch]:
        arrays = (given.source, given.source_lengths, given.target, given.target_lengths)
        return given, PairBatch(*map(torch.from_numpy, arrays))

    def update(self, batch: tuple[Given, PairBatch]) -> float:
        given, self.task.current = batch
        for link in self.others:
            link.send(given)
        return next(self.updates).losses["loss"]


def _start(setup: Setup, rank: int) -> Connection:
    mine, theirs = get_context("spawn").Pipe()
    get_context("spawn").Process(target=other, args=(setup, rank, theirs), daemon=True).start()
    return mine


def other(setup: Setup, rank: int, link: Connection) -> None:
    """A further process: makes an update with every batch it is sent; asked with None, it says its CPU seconds."""
    keep_freed_memory()
    torch.manual_seed(setup.config["seed"])
    player, began = Ours(setup, rank), time.process_time()
    with suppress(EOFError):  # the bench is over
        while True:
            if (given := link.recv()) is None:
                link.send(time.process_time() - began)
                began = time.process_time()
            else:
                player.update(player.prepare(given))


if __name__ == "__main__":
    play(Ours)
