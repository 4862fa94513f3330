"""Our part in bench/recurrent.py: Bahdanau's model, trained by regard's own loop."""

import time
from importlib.metadata import version
from typing import Any

import torch
from torch import Tensor, nn

from regard import bundle
from regard.data.batches import PairBatch, Share
from regard.tasks.translation import cross_entropy
from regard.training.loop import learner, steps
from regard.training.settings import resolve
from turns import Facts, Given, Setup, play

STEPS, ENCODER = "decoder's steps", "encoder"


class OneBatch:
    """The task: whatever batch it is handed."""

    current: PairBatch

    def batch(self, step: int, share: Share) -> PairBatch:
        return self.current

    def epoch(self, step: int) -> int:
        return 0

    def size(self, batch: PairBatch) -> int:
        return 0

    def counts(self, batch: PairBatch) -> dict[str, int]:
        return {"loss": int(batch.target_lengths.sum()) - len(batch.target_lengths)}

    def losses(self, model: nn.Module, batch: PairBatch) -> dict[str, Tensor]:
        return {"loss": cross_entropy(model, batch)[0]}


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
    """A Player (see turns.py)."""

    def __init__(self, setup: Setup) -> None:
        config = resolve(setup.config)
        sizes = {"source_vocabulary": setup.source_vocabulary, "target_vocabulary": setup.target_vocabulary}
        model = bundle.build_model(config.tree(), {**sizes, "joint": False})
        stopwatch = Stopwatch()
        watched(model, stopwatch)
        self.parts = stopwatch.parts
        self.facts = Facts(f"regard {version('regard')}", sum(p.numel() for p in model.parameters()))
        self.task = OneBatch()
        self.updates = steps(learner(model, config.training), self.task, config.training, seed=config.seed)

    def prepare(self, given: Given) -> PairBatch:
        arrays = (given.source, given.source_lengths, given.target, given.target_lengths)
        return PairBatch(*map(torch.from_numpy, arrays))

    def update(self, batch: PairBatch) -> float:
        self.task.current = batch
        return next(self.updates).losses["loss"]


if __name__ == "__main__":
    play(Ours)
