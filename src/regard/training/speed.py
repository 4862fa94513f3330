"""A short trial of a run, as a program: `python -m regard.training.speed SETTINGS.json FOUND.json SECONDS`.

It writes how long an update takes, how many tokens it has, and how much memory the process has needed.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch

from regard.training.start import Nobody, prepare
from regard.training.trial import seconds_an_update


def trial(settings: dict[str, Any], seconds: float) -> dict[str, Any] | None:
    """The figures; None in all processes but the first."""
    run = prepare(settings, Path("no such directory"), Nobody())
    each = seconds_an_update(run.model, run.task, run.config, run.world, within=seconds)
    sizes = [run.task.size(run.task.batch(step)) for step in range(50)]
    if not run.world.leads:
        return None
    tokens = sum(sizes) / len(sizes)
    return {"seconds_an_update": each, "tokens_an_update": tokens, "peak_bytes": peak(run.world.device)}


def peak(device: str) -> int | None:
    """Most memory that was held at once, on the device or by this process; None where nobody keeps count."""
    if device.startswith("cuda"):
        return torch.cuda.max_memory_allocated(device)
    status = Path("/proc/self/status")
    if status.exists():  # Linux's ru_maxrss would also count the program that started this one
        lines = status.read_text(encoding="utf-8").splitlines()
        return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), None)
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes, as macOS counts


if __name__ == "__main__":
    given, found, seconds = sys.argv[1:]
    figures = trial(json.loads(Path(given).read_text(encoding="utf-8")), float(seconds))
    if figures is not None:
        Path(found).write_text(json.dumps(figures), encoding="utf-8")
