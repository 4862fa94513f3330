"""One training run, from files to a model directory. It never prints: whoever watches is a `Watcher`."""

import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from regard import bundle, catalogue
from regard.errors import LimitError
from regard.training import checkpoint, directory, probes, records
from regard.training.curves import draw_curves
from regard.training.distributed import leave
from regard.training.divergence import divergence, noted, sound
from regard.training.loop import Step, steps
from regard.training.start import Run, facts, parameters
from regard.training.stopping import StopRequest
from regard.training.tracking import Metrics
from regard.training.validation import average_last, diagnosed, ended, record_start, validate
from regard.weights import weights_of


@dataclass(frozen=True)
class Outcome:
    """How a run ended: where it is, how far it came, what it scored (only the first process of several knows)."""

    directory: Path
    updates: int
    finished: bool
    stopped_by: str
    card: dict[str, Any]


def train(run: Run) -> Outcome:
    """Trains to the end, or until asked to stop; what is on disk can be resumed or used at any moment."""
    with directory.locked(run.out) if run.world.leads else nullcontext():
        run.world.told(lambda: _begin(run))
        if run.resumed:
            run.progress = checkpoint.restore(run.world.told(lambda: checkpoint.read(run.out)), run.learner)
        with records.session(run) as session, Metrics(run.out, tensorboard=run.config.training.tensorboard) as metrics:
            if run.world.leads:
                metrics.rewind(run.progress.updates)
                probes.rewind(run)
            guess_loss = run.world.told(lambda: record_start(run, metrics))
            run.progress = replace(run.progress, guess_loss=0.0 if run.config.init else guess_loss)
            run.watcher.started(facts(run))
            with StopRequest() as stop:
                session.finished = _train(run, metrics, stop)
            card = _finish(run, metrics) if session.finished and run.world.leads else {}
            if run.world.leads:
                draw_curves(metrics.records(), run.out / "curves.svg")
    leave()
    return Outcome(run.out, run.learner.updates, session.finished, stop.requested or "SIGTERM", card)


def _begin(run: Run) -> None:
    if run.resumed:
        directory.check_data(run.out, run.task.fingerprints())
        bundle.write_config(run.out, run.config.tree())
    else:
        directory.begin(run.out, run.config.tree(), run.asked, run.task)


def _train(run: Run, metrics: Metrics, stop: StopRequest) -> bool:
    """False if it was asked to stop before its end."""
    training, world = run.config.training, run.world
    before, began = run.progress.seconds, time.perf_counter()
    made = steps(run.learner, run.task, training, seed=run.config.seed, world=world, asked=lambda: bool(stop.requested))
    over = ended(run)
    while not over and (step := next(made, None)):
        seconds = before + time.perf_counter() - began
        run.progress = noted(replace(run.progress, updates=step.number, seconds=seconds), sum(step.losses.values()))
        _stop_if_lost(run, metrics)
        run.watcher.stepped(step, seconds)
        last = step.number == training.updates
        if world.leads and (last or step.number % training.log_every == 0):
            metrics.add("train", step.number, _record(step, seconds))
        if last or step.number % training.validate_every == 0:
            if world.leads:
                validate(run, metrics)
                probes.write(run)
            over = world.told(lambda: ended(run))
        due = last or over or step.stopping or step.number % training.save_every == 0
        if world.leads and due and sound(run.progress):
            checkpoint.save(run.out, run.learner, run.progress, keep=training.keep)
        if step.stopping and not last and not over:
            if world.leads and not (run.out / bundle.WEIGHTS).exists():  # so that there is something to look at
                with run.learner.average.applied():
                    bundle.write_weights(run.out, weights_of(run.model))
            by = stop.requested or "another process"
            where = "there" if sound(run.progress) else "the last checkpoint: the loss is too high for another one"
            run.watcher.said(f"Stopped after update {step.number} by {by}; it can go on from {where}.")
            return False
    return True


def _stop_if_lost(run: Run, metrics: Metrics) -> None:
    if found := divergence(run.progress):
        if run.world.leads:
            metrics.add("diagnosis", run.progress.updates, asdict(found))
        raise LimitError(f"{found.evidence}: {found.what}.", do=found.advice)


def _finish(run: Run, metrics: Metrics) -> dict[str, Any]:
    """Scores the best model, and writes its card."""
    averaged = average_last(run)
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
        **({"mean_of_checkpoints": averaged} if averaged else {}),
        "train_seconds": round(run.progress.seconds, 1),
        **run.task.card(),
        "diagnoses": diagnosed(metrics),
        "scores": evaluate(bundle.load(run.out), run.task),
    }
    bundle.write_card(run.out, card)
    return card


def _record(step: Step, seconds: float) -> dict[str, Any]:
    return {
        "loss": round(sum(step.losses.values()), 6),
        **{name: round(value, 6) for name, value in step.losses.items()},
        "epoch": step.epoch,
        "tokens": step.tokens,
        "learning_rate": step.learning_rate,
        "gradient_norm": round(step.gradient_norm, 6),
        "seconds": round(seconds, 2),
    }
