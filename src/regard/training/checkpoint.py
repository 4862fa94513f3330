"""A checkpoint: everything needed to go on as if nothing had happened, in one file that is replaced in one move.
Earlier ones are kept beside it if that is asked for.

It holds the weights, the optimiser's moments, the averaged weights, the number of updates and the best score. Batches,
dropout and the learning rate are functions of (seed, update), so there is no random state to carry.
"""

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from regard.errors import BundleError
from regard.training.loop import Learner
from regard.weights import read_tensors, weights_of, write_tensors

FILE, KEPT = "checkpoint.safetensors", "checkpoints"
Contents = tuple[dict[str, Tensor], str]
"""The tensors, and a note in JSON."""


@dataclass(frozen=True)
class Progress:
    """How far a run is, and which validation was the best so far."""

    updates: int = 0
    best_score: float | None = None
    best_update: int = 0
    waited: int = 0
    """Validations since the best one."""
    seconds: float = 0.0
    guess_loss: float = 0.0
    """The loss of one who knows only how frequent each answer is; 0 where training began with a model."""
    first_losses: Sequence[float] = ()
    last_losses: Sequence[float] = ()


def save(directory: Path, learner: Learner, progress: Progress, *, keep: int = 1) -> None:
    """Replaces the checkpoint of a run. keep: how many there shall be, this one among them."""
    note = {**asdict(progress), "scaler": learner.scaler.state()}
    write_tensors(directory / FILE, _tensors(learner), json.dumps(note))
    if keep > 1:
        kept = directory / KEPT / f"{progress.updates:08}.safetensors"
        kept.parent.mkdir(exist_ok=True)
        temporary = kept.with_suffix(".tmp")
        temporary.unlink(missing_ok=True)
        _link(directory / FILE, temporary)
        temporary.replace(kept)
        for old in kept_files(directory)[:-keep]:
            old.unlink()


def kept_files(directory: Path) -> list[Path]:
    """The checkpoints that were kept, the latest last."""
    return sorted((directory / KEPT).glob("*.safetensors"))


def mean_weights(files: Sequence[Path]) -> dict[str, Tensor]:
    """The weights of a model, averaged over checkpoints."""
    total: dict[str, Tensor] = {}
    for path in files:
        for name, tensor in read_tensors(path)[0].items():
            if name.startswith("model."):
                total[name] = total[name] + tensor.double() if name in total else tensor.double()
    return {name.removeprefix("model."): (tensor / len(files)).float() for name, tensor in total.items()}


def _link(old: Path, new: Path) -> None:
    """A second name for the file; a copy where the file system has no such thing."""
    try:
        os.link(old, new)
    except OSError:
        shutil.copyfile(old, new)


def read(directory: Path) -> Contents:
    """The checkpoint of a run."""
    return read_tensors(directory / FILE)


def restore(contents: Contents, learner: Learner) -> Progress:
    """Puts a checkpoint into the learner."""
    tensors, note = contents
    mine = _weights(learner)
    theirs = {name: tensor for name, tensor in tensors.items() if not name.startswith("optimiser.")}
    if {name: t.shape for name, t in mine.items()} != {name: t.shape for name, t in theirs.items()}:
        raise BundleError(
            f"{FILE} belongs to another model or other settings.",
            do="resume with the settings the run was started with, or start anew with --overwrite",
        )
    with torch.no_grad():
        for name, tensor in mine.items():
            tensor.copy_(theirs[name])
    for name, parameter in learner.model.named_parameters():
        stem = f"optimiser.{name}."
        moments = {key.removeprefix(stem): tensor for key, tensor in tensors.items() if key.startswith(stem)}
        if moments:
            learner.optimiser.state[parameter] = {
                kind: tensor if kind == "step" else tensor.to(parameter.device) for kind, tensor in moments.items()
            }
    noted = json.loads(note)
    learner.scaler.restore(noted.pop("scaler", {}))
    progress = Progress(**noted)
    learner.updates = progress.updates
    return progress


def _weights(learner: Learner) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {f"model.{name}": tensor for name, tensor in weights_of(learner.model).items()}
    return tensors | {f"average.{name}": tensor for name, tensor in learner.average.weights.items()}


def _tensors(learner: Learner) -> dict[str, Tensor]:
    names: dict[Tensor, str] = {parameter: name for name, parameter in learner.model.named_parameters()}
    tensors = _weights(learner)
    for parameter, moments in learner.optimiser.state.items():
        tensors |= {f"optimiser.{names[parameter]}.{kind}": tensor for kind, tensor in moments.items()}
    return tensors
