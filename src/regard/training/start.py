"""The beginning of a run: settings, data, tokenizers, model. Nothing is written yet."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch
from torch import nn

from regard import bundle, catalogue
from regard.config import Tree, merge
from regard.errors import ConfigError
from regard.memory import keep_freed_memory
from regard.seeds import derive
from regard.training import directory
from regard.training.checkpoint import Progress
from regard.training.distributed import World, join, restarted
from regard.training.fitting import available, fitting_tokens
from regard.training.loop import Learner, Step, learner
from regard.training.settings import RunConfig, TrainingConfig, resolve
from regard.training.trial import seconds_an_update
from regard.weights import begin_with

T = TypeVar("T")


@runtime_checkable
class Watcher(Protocol):
    """Who is told what happens."""

    def started(self, facts: dict[str, Any]) -> None: ...
    def stepped(self, step: Step, seconds: float) -> None: ...
    def validated(self, update: int, metrics: dict[str, Any], *, best: bool) -> None: ...
    def said(self, text: str) -> None: ...
    def counted(self, items: Iterable[T], *, total: int, what: str) -> Iterator[T]: ...


class Nobody:
    """A watcher that does not look: the one of all processes but the first."""

    def started(self, facts: dict[str, Any]) -> None: ...
    def stepped(self, step: Step, seconds: float) -> None: ...
    def validated(self, update: int, metrics: dict[str, Any], *, best: bool) -> None: ...
    def said(self, text: str) -> None: ...

    def counted(self, items: Iterable[T], *, total: int, what: str) -> Iterator[T]:
        return iter(items)


@dataclass
class Run:
    """The parts of a run. `asked`: the settings as the user gave them; `resumed`: whether it goes on."""

    config: RunConfig
    out: Path
    task: Any
    learner: Learner
    world: World
    watcher: Watcher
    asked: Tree
    resumed: bool
    progress: Progress = field(default_factory=Progress)

    @property
    def model(self) -> nn.Module:
        return self.learner.model


def prepare(
    tree: Tree,
    out: Path,
    watcher: Watcher,
    *,
    resume: bool = False,
    overwrite: bool = False,
    minutes: float | None = None,
) -> Run:
    """Reads the data, trains the tokenizer (a resumed run has one), builds the model. Writes nothing."""
    begun = bundle.trained(str(tree["init"])) if tree.get("init") else None
    tree = asked = _from_another(tree, begun) if begun else tree
    config = resolve(tree)
    world = join(_device(config.training.device))
    again = restarted()
    saved = world.told(lambda: directory.claim(out, resume=resume or again, overwrite=overwrite and not again))
    if saved is not None:
        config = resolve(world.told(lambda: directory.agree(out, saved, tree)))
    _check_precision(config.training.precision, world.device)
    watcher = watcher if world.leads else Nobody()
    keep_freed_memory()
    torch.set_num_threads(config.training.threads or torch.get_num_threads())
    if config.tree().get("batch", {}).get("tokens") == "auto":
        tree = world.told(lambda: _fitted(tree, config, world, watcher))
        config = resolve(tree)
    resolved = {"threads": torch.get_num_threads(), "device": torch.device(world.device).type}
    config = replace(
        config,
        training=config.training.model_copy(update=resolved),
        distributed=config.distributed.model_copy(update={"processes": world.size}),
    )
    entry = catalogue.task_entry(config.task)
    kind = catalogue.find(entry.tokenizers)
    tokenizers = kind.load(out, config.tree()) if saved is not None else None
    if begun and saved is None:
        tokenizers = begun.tokenizers(kind, config.tree())
    build = partial(catalogue.find(entry.task), config.settings, model=config.model, seed=config.seed)
    task = world.in_turn(lambda: build(tokenizers=tokenizers, watch=watcher.counted))
    config = replace(config, training=in_updates(config.training, task))
    torch.manual_seed(derive(config.seed, "init"))
    model = bundle.build_model(config.tree(), task.tokenizers.model_sizes())
    if begun and saved is None:
        other = _asked(tokenizers) != _asked(task.tokenizers)
        _begin(model, begun, watcher, anew=getattr(model, "asks", "") if other else "")
    model = model.to(world.device)
    run = Run(config, out, task, learner(model, config.training), world, watcher, asked, saved is not None)
    if minutes and run.resumed:
        watcher.said("--minutes is left aside: a resumed run keeps its number of updates")
    return _within(run, minutes) if minutes and not run.resumed else run


def _check_precision(precision: str, device: str) -> None:
    if precision != "float32" and device == "cpu":
        raise ConfigError(f"training.precision={precision} is for GPUs.", do="leave it out to train on a CPU")


def _from_another(tree: Tree, begun: bundle.Trained) -> Tree:
    """The settings of a run that begins with a trained model, which brings its sizes, its tokenizer, and its task if
    no other is asked for."""
    is_now = begun.settings["model"]["name"]
    asked = tree.get("model", {}).get("name", is_now)
    if asked != is_now:
        raise ConfigError(f"{begun.place} is a {is_now}, not a {asked}.", do="leave --model out, or --init")
    did = str(begun.settings["task"])
    task = str(tree.get("task", did))
    if catalogue.model_entry(is_now, task).config != catalogue.model_entry(is_now, did).config:
        raise ConfigError(
            f"{begun.place} is a {is_now} for {did}; one for {task} is built otherwise.",
            do="leave --init out, or give a model that was trained for it",
        )
    known = catalogue.find(catalogue.task_entry(task).task).config_class.model_fields
    brought = {key: value for key, value in begun.settings.items() if key != "embedding" or key in known}
    return merge(brought, tree)


def _asked(tokenizers: Any) -> object:
    """What a model is asked, as its tokenizers know it: classes, say. Same shapes may mean something else."""
    return getattr(tokenizers, "asked", None)


def _begin(model: nn.Module, begun: bundle.Trained, watcher: Watcher, *, anew: str) -> None:
    """Puts the weights of a trained model into a new one; what only the new one has is told."""
    if new := begin_with(model, begun.tensors(), where=begun.place, anew=anew):
        watcher.said(f"begins with {begun.place}; new: {', '.join(new)}")


def _fitted(tree: Tree, config: RunConfig, world: World, watcher: Watcher) -> Tree:
    """The settings with a number of tokens that fits into memory."""
    limit = config.training.memory * 1e9 or available(world.device)
    tokens = fitting_tokens(tree, limit / world.size, torch.get_num_threads(), watcher.said)
    return merge(tree, {"batch": {"tokens": tokens}})


def facts(run: Run) -> dict[str, Any]:
    """What is about to be trained on what."""
    return {
        "model": run.config.model_name,
        "parameters": parameters(run.model),
        "data": run.task.describe(),
        "skipped": run.task.skipped(),
        "updates": run.config.training.updates,
        "done": run.progress.updates,
        "device": run.world.device,
        "processes": run.world.size,
        "threads": run.config.training.threads,
    }


def parameters(model: nn.Module) -> int:
    """How many numbers are learned."""
    return sum(parameter.numel() for parameter in model.parameters())


def in_updates(training: TrainingConfig, task: Any) -> TrainingConfig:
    """The settings with a number of updates where one of epochs was asked for. What was left open goes by it: an epoch
    is validated at its end, if not more often."""
    if not training.epochs:
        return training
    epoch = _updates_an_epoch(task)
    updates = max(1, round(training.epochs * epoch))
    often = min(500, epoch)
    left_open = {"warmup": min(400, max(1, updates // 5)), "validate_every": often, "save_every": often}
    given = {name: value for name, value in training.model_dump().items() if name in training.model_fields_set}
    return TrainingConfig.parse({**left_open, **given, "updates": updates, "epochs": 0.0}, where="training")


def _updates_an_epoch(task: Any) -> int:
    beyond = 1
    while task.epoch(beyond) == 0:
        beyond *= 2
    return bisect_left(range(beyond + 1), 1, key=task.epoch)


def _within(run: Run, minutes: float) -> Run:
    """The same run with as many updates as fit the time, measured on a copy; part of it is kept for validation."""
    each = seconds_an_update(run.model, run.task, run.config, run.world, within=min(10.0, 6.0 * minutes))
    updates = max(10, int(0.85 * 60 * minutes / each))
    run.watcher.said(f"{each:.3f} s an update: {minutes:g} minutes are {updates:,} updates.")
    chosen = {"updates": updates, "warmup": min(run.config.training.warmup, max(1, updates // 5))}
    return replace(run, config=replace(run.config, training=run.config.training.model_copy(update=chosen)))


def _device(wanted: str) -> str:
    if wanted != "auto":
        try:
            if torch.device(wanted).type not in ("cpu", "cuda", "mps", "xpu"):
                raise RuntimeError("tensors there hold nothing")
            torch.empty(0, device=wanted)
        except (RuntimeError, AssertionError) as error:
            raise ConfigError(
                f"The device {wanted!r} cannot be used.", found=str(error), do="use device=auto"
            ) from None
        return wanted
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
