"""Attention while it is learned: at each validation, where the model looks in a few sentences of the task's choice.

They are kept as ordinary traces, `probes/00000500/1.npz` and so on: `regard.insight.Trace.load` reads them.
"""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from regard import catalogue
from regard.attention import Attends
from regard.errors import BundleError
from regard.insight import Trace
from regard.training.directory import PROBES
from regard.training.start import Run

KEPT = 100
"""How many validations are kept at most: from the first to the last, evenly spread."""


@runtime_checkable
class Probed(Protocol):
    """A task that has sentences to watch attention on; its verbs then have `attention`."""

    def probes(self) -> Sequence[Sequence[str]]:
        """What `attention` is called with, always the same; nothing if there is nothing to choose from."""
        ...


def updates(run: Path | str) -> list[int]:
    """The updates after which the attention of a run was kept."""
    return sorted(int(folder.name) for folder in (Path(run) / PROBES).glob("*") if folder.name.isdigit())


def read(run: Path | str, update: int | None = None) -> list[Trace]:
    """Where the model of a run looked after that many updates, the last ones that were kept if none are given: a trace
    for each probe sentence, the shortest first."""
    kept = updates(run)
    if not kept:
        raise BundleError(
            f"{run} has no probe sentences.",
            do="give the directory of a run with validation data and a model that attends",
        )
    update = kept[-1] if update is None else update
    if update not in kept:
        raise BundleError(f"No attention was kept at update {update}.", wanted=", ".join(map(str, kept)))
    return [Trace.load(path) for path in sorted(_folder(Path(run), update).glob("*.npz"))]


def write(run: Run) -> None:
    """Keeps where the averaged weights look now; nothing if there are no sentences, or the model does not attend."""
    sentences = run.task.probes() if isinstance(run.task, Probed) else ()
    if not sentences or not any(isinstance(module, Attends) for module in run.model.modules()):
        return
    update, verbs = run.learner.updates, catalogue.find(catalogue.task_entry(run.config.task).verbs)
    folder = _folder(run.out, update)
    temporary = folder.with_suffix(".tmp")
    for path in (folder, temporary):
        shutil.rmtree(path, ignore_errors=True)
    with run.learner.average.applied():
        model = verbs.assemble(run.model, run.task.tokenizers, run.config.tree(), run.out.resolve().name)
        for number, sentence in enumerate(sentences, start=1):
            _compact(model.attention(*sentence), update).save(temporary / f"{number}.npz")
    temporary.rename(folder)
    every = run.config.training.validate_every
    for old in updates(run.out):
        if old != update and not _stays(old, update, every):
            shutil.rmtree(_folder(run.out, old))


def rewind(run: Run) -> None:
    """Forgets what was kept after the update that a resumed run goes on from."""
    for folder in (run.out / PROBES).glob("*"):
        if not folder.name.isdigit() or int(folder.name) > run.progress.updates:
            shutil.rmtree(folder)


def _compact(trace: Trace, update: int) -> Trace:
    """Weights to three digits or so: half as many bytes on the disk."""
    weights = {name: array.astype(np.float16).astype(np.float32) for name, array in trace.weights.items()}
    return replace(trace, weights=weights, meta={**trace.meta, "update": update})


def _stays(old: int, update: int, every: int) -> bool:
    """Whether the validation after `old` updates is kept when the run is at `update`: all of them at first, then every
    second one, then every fourth … so that a run that was resumed keeps what an unbroken one keeps."""
    step = 1
    while ceil(update / every / step) >= KEPT:
        step *= 2
    return old % every == 0 and (old // every - 1) % step == 0


def _folder(run: Path, update: int) -> Path:
    return run / PROBES / f"{update:08}"
