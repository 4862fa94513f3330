"""The training loop: a generator of steps. Logging, saving, validation and the bar consume it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from regard.data.batches import Share
from regard.seeds import derive
from regard.training.distributed import ALONE, World
from regard.training.optim import Average, Scaler, adamw
from regard.training.schedules import SCHEDULES, factor
from regard.training.settings import TrainingConfig


@runtime_checkable
class Batch(Protocol):
    """Tensors that can be moved."""

    def to(self, device: torch.device | str) -> Any: ...


@runtime_checkable
class Trains(Protocol):
    """What the loop asks of a task."""

    def batch(self, step: int, share: Share) -> Batch | None:
        """This share of the batch of an update, a function of (seed, step); None if there is nothing left for it."""
        ...

    def epoch(self, step: int) -> int: ...

    def size(self, batch: Any) -> int:
        """Tokens, as speed is measured in them."""
        ...

    def counts(self, batch: Any) -> dict[str, int]:
        """How many predictions each term of the loss is summed over."""
        ...

    def losses(self, model: nn.Module, batch: Any) -> dict[str, Tensor]:
        """Each term of the loss, summed."""
        ...


@dataclass(frozen=True)
class Step:
    """One update, done. `stopping`: somebody has asked that it be the last one for now."""

    number: int
    epoch: int
    losses: dict[str, float]
    tokens: int
    learning_rate: float
    gradient_norm: float
    stopping: bool = False


@dataclass
class Learner:
    """What changes in training: weights, optimiser, average, and how many updates have been made."""

    model: nn.Module
    optimiser: torch.optim.Optimizer
    average: Average
    scaler: Scaler
    updates: int = 0


def learner(model: nn.Module, config: TrainingConfig) -> Learner:
    """The model with a fresh optimiser."""
    device = str(next(model.parameters()).device)
    return Learner(model, adamw(model, config), Average(model, config.average), Scaler(config.precision, device))


class Objective(nn.Module):
    """The model together with its task: from a batch to the terms of the loss."""

    def __init__(self, model: nn.Module, task: Trains) -> None:
        super().__init__()
        self.model = model
        self.task = task

    def forward(self, batch: Any) -> dict[str, Tensor]:
        return self.task.losses(self.model, batch)


def steps(
    learns: Learner,
    task: Trains,
    config: TrainingConfig,
    *,
    seed: int,
    world: World = ALONE,
    asked: Callable[[], bool] = lambda: False,
) -> Iterator[Step]:
    """Updates the learner until config.updates are made. Everything random in a step follows from (seed, step, rank).

    A batch is computed in config.accumulate parts on each process of the world. A term of the loss is its sum over all
    of them divided by its count over all of them, so that the update does not depend on how the batch was shared out.
    """
    parameters = [p for p in learns.model.parameters() if p.requires_grad]
    objective, schedule = world.wrapped(Objective(learns.model, task)), SCHEDULES[config.schedule]
    while learns.updates < config.updates:
        index = learns.updates
        left = factor(schedule, index + 1, config.warmup, config.updates, final=config.final_rate)
        rate = config.learning_rate * left
        for group in learns.optimiser.param_groups:
            group["lr"] = rate
        parts = _parts(task, index, world.shares(config.accumulate))
        counts, size = _counts(task, parts, world)
        torch.manual_seed(derive(seed, "dropout", index, *[world.rank] * (world.rank > 0)))
        learns.model.train()
        learns.optimiser.zero_grad(set_to_none=True)
        sums = dict.fromkeys(counts, 0.0)
        for number, part in enumerate(parts, start=1):
            with nullcontext() if number == len(parts) else world.held_back(objective):
                with learns.scaler.autocast(world.device):
                    terms = objective(part.batch.to(world.device))
                means = [part.weight * world.size * term / max(1, counts[name]) for name, term in terms.items()]
                learns.scaler.backward(torch.stack(means).sum())
            for name, term in terms.items():
                sums[name] += part.weight * float(term.detach())
        norm = learns.scaler.step(learns.optimiser, parameters, clip=config.clip)
        learns.updates += 1
        learns.average.update(learns.updates)
        heard = world.summed({**sums, "stop": float(asked())})
        stopping = heard.pop("stop") > 0
        losses = {name: total / max(1, counts[name]) for name, total in heard.items()}
        yield Step(learns.updates, task.epoch(index), losses, size, rate, norm, stopping)


@dataclass(frozen=True)
class _Part:
    """A part of a batch. Weight 0: only there so that all processes do the same, where a batch is too small to share
    out."""

    batch: Any
    weight: float


def _parts(task: Trains, index: int, shares: Sequence[Share]) -> list[_Part]:
    """What this process is to compute."""
    mine = [_Part(batch, 1.0) for share in shares if (batch := task.batch(index, share)) is not None]
    return mine or [_Part(task.batch(index, Share(0, shares[0].of)), 0.0)]


def _counts(task: Trains, parts: Sequence[_Part], world: World) -> tuple[dict[str, int], int]:
    """What each term of the loss is divided by, and how many tokens the batch has, over all processes."""
    totals: dict[str, float] = {}
    for part in parts:
        numbers = {**task.counts(part.batch), "size": task.size(part.batch)}
        totals = {name: totals.get(name, 0.0) + part.weight * number for name, number in numbers.items()}
    counted = {name: int(number) for name, number in world.summed(totals).items()}
    return counted, counted.pop("size")
