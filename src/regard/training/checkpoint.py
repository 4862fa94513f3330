"""A checkpoint: everything needed to go on as if nothing had happened, in one file that is replaced in one move.

It holds the weights, the optimiser's moments, the averaged weights, the number of updates and the best score. Batches,
dropout and the learning rate are functions of (seed, update), so there is no random state to carry.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regard.errors import BundleError
from regard.training.loop import Learner
from regard.weights import read_tensors, weights_of, write_tensors

FILE = "checkpoint.safetensors"


@dataclass(frozen=True)
class Progress:
    """How far a run is, and which validation was the best so far."""

    updates: int = 0
    best_score: float | None = None
    best_update: int = 0
    seconds: float = 0.0
    best_metrics: dict[str, Any] | None = None


def save(directory: Path, learner: Learner, progress: Progress) -> None:
    """Replaces the checkpoint of a run."""
    write_tensors(directory / FILE, _tensors(learner), json.dumps(asdict(progress)))


def restore(directory: Path, learner: Learner) -> Progress:
    """Puts the checkpoint of a run into the learner."""
    path = directory / FILE
    tensors, note = read_tensors(path)
    _begin_moments(learner)
    mine = _tensors(learner)
    if {n: t.shape for n, t in mine.items()} != {n: t.shape for n, t in tensors.items()}:
        raise BundleError(
            f"{path} belongs to another model or other settings.",
            do="resume with the settings the run was started with, or start anew with --overwrite",
        )
    with torch.no_grad():
        for name, tensor in mine.items():
            tensor.copy_(tensors[name])
    progress = Progress(**json.loads(note))
    learner.updates = progress.updates
    return progress


def _tensors(learner: Learner) -> dict[str, Tensor]:
    names: dict[Tensor, str] = {parameter: name for name, parameter in learner.model.named_parameters()}
    tensors = {f"model.{name}": parameter for name, parameter in weights_of(learner.model).items()}
    tensors |= {f"average.{name}": tensor for name, tensor in learner.average.weights.items()}
    for parameter, moments in learner.optimiser.state.items():
        tensors |= {f"optimiser.{names[parameter]}.{kind}": tensor for kind, tensor in moments.items()}
    return tensors


def _begin_moments(learner: Learner) -> None:
    """Makes the optimiser create its moments, with an update that changes nothing, so that they can be filled."""
    rates = [group["lr"] for group in learner.optimiser.param_groups]
    for parameter in learner.model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    for group in learner.optimiser.param_groups:
        group["lr"] = 0.0
    learner.optimiser.step()
    learner.optimiser.zero_grad(set_to_none=True)
    for group, rate in zip(learner.optimiser.param_groups, rates, strict=True):
        group["lr"] = rate
