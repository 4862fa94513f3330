"""One training run, from files to a model directory. It never prints: whoever watches is a `Watcher`."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
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
from regard.training import checkpoint, directory
from regard.training.checkpoint import Progress
from regard.training.curves import draw_curves
from regard.training.distributed import World, join, leave, restarted
from regard.training.loop import Learner, Step, learner, steps
from regard.training.settings import RunConfig, resolve
from regard.training.stopping import StopRequest
from regard.training.tracking import Metrics
from regard.training.trial import seconds_an_update
from regard.weights import weights_of

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


@dataclass(frozen=True)
class Outcome:
    """How a run ended: where it is, how far it came, what it scored (only the first process of several knows)."""

    directory: Path
    updates: int
    finished: bool
    stopped_by: str
    card: dict[str, Any]


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
    tree = _from_another(tree)
    config = resolve(tree)
    world = join(_device(config.training.device))
    again = restarted()
    saved = world.told(lambda: directory.claim(out, resume=resume or again, overwrite=overwrite and not again))
    if saved is not None:
        config = resolve(world.told(lambda: directory.agree(out, saved, tree)))
    watcher = watcher if world.leads else Nobody()
    keep_freed_memory()
    torch.set_num_threads(config.training.threads or torch.get_num_threads())
    resolved = {"threads": torch.get_num_threads(), "device": torch.device(world.device).type}
    config = replace(config, training=config.training.model_copy(update=resolved))
    entry, like = catalogue.task_entry(config.task), _like(out if saved is not None else config.init)
    tokenizers = catalogue.find(entry.tokenizers).load(like, config.tree()) if like else None
    build = partial(catalogue.find(entry.task), config.settings, model=config.model, seed=config.seed)
    task = world.in_turn(lambda: build(tokenizers=tokenizers, watch=watcher.counted))
    torch.manual_seed(derive(config.seed, "init"))
    model = bundle.build_model(config.tree(), task.tokenizers.model_sizes())
    if config.init and saved is None:
        bundle.read_weights(Path(config.init), model)
    model = model.to(world.device)
    run = Run(config, out, task, learner(model, config.training), world, watcher, tree, saved is not None)
    if minutes and run.resumed:
        watcher.said("--minutes is left aside: a resumed run keeps its number of updates")
    return _within(run, minutes) if minutes and not run.resumed else run


def _from_another(tree: Tree) -> Tree:
    """The settings of a run that begins with a trained model, which brings its task, its sizes and its tokenizer."""
    if not tree.get("init"):
        return tree
    trained = bundle.read_config(Path(str(tree["init"])))
    asked, is_now = tree.get("model", {}).get("name", trained["model"]["name"]), trained["model"]["name"]
    if asked != is_now:
        raise ConfigError(f"{tree['init']} is a {is_now}, not a {asked}.", do="leave --model out, or --init")
    langs = {"data": {"langs": trained["data"]["langs"]}} if any(trained["data"]["langs"]) else {}
    return merge({key: trained[key] for key in ("task", "model", "tokenizer")}, langs, tree)


def _like(place: Path | str) -> Path | None:
    return Path(place) if place else None


def train(run: Run) -> Outcome:
    """Trains to the end, or until asked to stop; what is on disk can be resumed or used at any moment."""
    with directory.locked(run.out) if run.world.leads else nullcontext():
        run.world.told(lambda: _begin(run))
        if run.resumed:
            run.progress = checkpoint.restore(run.world.told(lambda: checkpoint.read(run.out)), run.learner)
        metrics = Metrics(run.out)
        if run.world.leads:
            metrics.rewind(run.progress.updates)
        run.watcher.started(facts(run))
        with StopRequest() as stop:
            finished = _train(run, metrics, stop)
        card = _finish(run) if finished and run.world.leads else {}
        if run.world.leads:
            draw_curves(metrics.records(), run.out / "curves.svg")
    leave()
    return Outcome(run.out, run.learner.updates, finished, stop.requested or "SIGTERM", card)


def _begin(run: Run) -> None:
    if run.resumed:
        directory.check_data(run.out, run.task.fingerprints())
    else:
        directory.begin(run.out, run.config.tree(), run.asked, run.task)


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


def _train(run: Run, metrics: Metrics, stop: StopRequest) -> bool:
    training, world = run.config.training, run.world
    before, began = run.progress.seconds, time.perf_counter()
    made = steps(run.learner, run.task, training, seed=run.config.seed, world=world, asked=lambda: bool(stop.requested))
    for step in made:
        seconds = before + time.perf_counter() - began
        run.progress = replace(run.progress, updates=step.number, seconds=seconds)
        run.watcher.stepped(step, seconds)
        last = step.number == training.updates
        if world.leads:
            if last or step.number % training.log_every == 0:
                metrics.add("train", step.number, _record(step, seconds))
            if last or step.number % training.validate_every == 0:
                _validate(run, metrics)
            if last or step.stopping or step.number % training.save_every == 0:
                checkpoint.save(run.out, run.learner, run.progress)
        if step.stopping and not last:
            if world.leads and not (run.out / bundle.WEIGHTS).exists():  # so that there is something to look at
                with run.learner.average.applied():
                    bundle.write_weights(run.out, weights_of(run.model))
            by = stop.requested or "another process"
            run.watcher.said(f"Stopped after update {step.number} by {by}; --resume goes on from there.")
            return False
    return True


def _validate(run: Run, metrics: Metrics) -> None:
    """Scores the averaged weights, and keeps them if they are the best so far (or if there is nothing to score on)."""
    validate: Callable[..., dict[str, Any]] = catalogue.find(catalogue.task_entry(run.config.task).validate)
    with run.learner.average.applied():
        figures = validate(run.task, run.model, sentences=run.config.training.validate_sentences)
        score = figures.get("score")
        best = score is None or run.progress.best_score is None or score > run.progress.best_score
        if best:
            bundle.write_weights(run.out, weights_of(run.model))
            run.progress = replace(run.progress, best_score=score, best_update=run.learner.updates)
    if figures:
        metrics.add("validation", run.learner.updates, {**figures, "best": best})
        run.watcher.validated(run.learner.updates, figures, best=best)


def _finish(run: Run) -> dict[str, Any]:
    """Scores the best model, and writes its card."""
    run.watcher.said("scoring the best model …")
    evaluate = catalogue.find(catalogue.task_entry(run.config.task).evaluate)
    card = {
        "task": run.config.task,
        "model": run.config.model_name,
        "verb": run.task.verb,
        "parameters": parameters(run.model),
        "seed": run.config.seed,
        "updates": run.learner.updates,
        "best_update": run.progress.best_update,
        "train_seconds": round(run.progress.seconds, 1),
        **run.task.card(),
        "scores": evaluate(bundle.load(run.out), run.task),
    }
    bundle.write_card(run.out, card)
    return card


def _within(run: Run, minutes: float) -> Run:
    """The same run with as many updates as fit the time, measured on a copy; part of it is kept for validation."""
    each = seconds_an_update(run.model, run.task, run.config, run.world, within=min(10.0, 6.0 * minutes))
    updates = max(10, int(0.85 * 60 * minutes / each))
    run.watcher.said(f"{each:.3f} s an update: {minutes:g} minutes are {updates:,} updates.")
    chosen = {"updates": updates, "warmup": min(run.config.training.warmup, max(1, updates // 5))}
    return replace(run, config=replace(run.config, training=run.config.training.model_copy(update=chosen)))


def _record(step: Step, seconds: float) -> dict[str, Any]:
    return {
        **{name: round(value, 6) for name, value in step.losses.items()},
        "epoch": step.epoch,
        "tokens": step.tokens,
        "learning_rate": step.learning_rate,
        "gradient_norm": round(step.gradient_norm, 6),
        "seconds": round(seconds, 2),
    }


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
