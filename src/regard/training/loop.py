"""The training loop: a generator of steps. Logging, saving, validation and the bar consume it."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from regard.errors import LimitError
from regard.seeds import derive
from regard.training.optim import Average
from regard.training.schedules import SCHEDULES
from regard.training.settings import TrainingConfig


@runtime_checkable
class Batch(Protocol):
    """Tensors that can be moved."""

    def to(self, device: torch.device | str) -> Any: ...


@runtime_checkable
class Trains(Protocol):
    """What the loop asks of a task."""

    def batch(self, step: int) -> Batch: ...
    def epoch(self, step: int) -> int: ...
    def size(self, batch: Any) -> int: ...
    def losses(self, model: nn.Module, batch: Any) -> dict[str, tuple[Tensor, int]]: ...


@dataclass(frozen=True)
class Step:
    """One update, done."""

    number: int
    epoch: int
    losses: dict[str, float]
    tokens: int
    learning_rate: float
    gradient_norm: float


@dataclass
class Learner:
    """What changes in training: weights, optimiser, average, and how many updates have been made."""

    model: nn.Module
    optimiser: torch.optim.Optimizer
    average: Average
    updates: int = 0


def steps(learner: Learner, task: Trains, config: TrainingConfig, *, seed: int, device: str) -> Iterator[Step]:
    """Updates the learner until config.updates are made. Everything random in a step follows from (seed, step)."""
    parameters = [p for p in learner.model.parameters() if p.requires_grad]
    schedule = SCHEDULES[config.schedule]
    while learner.updates < config.updates:
        index = learner.updates
        rate = config.learning_rate * schedule(index + 1, config.warmup, config.updates)
        for group in learner.optimiser.param_groups:
            group["lr"] = rate
        batch = task.batch(index)
        size = task.size(batch)
        torch.manual_seed(derive(seed, "dropout", index))
        learner.model.train()
        terms = task.losses(learner.model, batch.to(device))
        means = {name: total / max(1, count) for name, (total, count) in terms.items()}
        learner.optimiser.zero_grad(set_to_none=True)
        torch.stack(list(means.values())).sum().backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(parameters, config.clip or float("inf"))
        learner.optimiser.step()
        learner.updates += 1
        learner.average.update(learner.updates)
        losses = {name: float(mean.detach()) for name, mean in means.items()}
        if not all(map(isfinite, losses.values())):
            raise LimitError(
                f"The loss of update {learner.updates} is no longer a number: training has diverged.",
                do="lower training.learning_rate or lengthen training.warmup; the last checkpoint is intact",
            )
        yield Step(learner.updates, task.epoch(index), losses, size, rate, float(norm))
