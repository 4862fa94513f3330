"""What a training will take, from a few updates that are really made."""

from typing import Any

from regard.training.speed import peak
from regard.training.start import Run, parameters
from regard.training.trial import seconds_an_update

FLOAT = 4
CHECKPOINT = 4 * FLOAT
"""Bytes for each parameter: weights, their average, and two moments of the optimiser."""


def estimates(run: Run, updates_an_epoch: int, cached: int, trial: float) -> dict[str, Any]:
    """Sizes, and with a trial of so many seconds also time and memory, as JSON. cached: bytes of tokens on disk."""
    count, training = parameters(run.model), run.config.training
    found = {
        "model": run.config.model_name,
        "parameters": count,
        "updates": training.updates,
        "epochs": round(training.updates / updates_an_epoch, 2),
        "device": run.world.device,
        "threads": training.threads,
        "disk_bytes": count * (FLOAT + (training.keep + 1) * CHECKPOINT) + cached,
    }
    if trial:
        each = seconds_an_update(run.model, run.task, run.config, run.world, within=trial)
        found |= {
            "seconds_an_update": round(each, 4),
            "seconds_an_epoch": round(each * updates_an_epoch, 1),
            "seconds": round(each * training.updates, 1),
            "memory_bytes": peak(run.world.device),
        }
    return found
