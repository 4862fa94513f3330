"""Which weights are the best so far: those that score best on the validation data."""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from regard import bundle, catalogue
from regard.errors import ConfigError
from regard.training import checkpoint
from regard.training.diagnosis import diagnose
from regard.training.start import Run
from regard.training.tracking import Metrics
from regard.weights import put_weights, weights_of

LESS_IS_BETTER = {"loss", "perplexity"}


def ended(run: Run) -> bool:
    """Whether no validation has been the best for so long that the training is to end early."""
    patience = run.config.training.patience
    return 0 < patience <= run.progress.waited


def validate(run: Run, metrics: Metrics) -> None:
    """Scores the averaged weights, and keeps them if they are the best so far (or if there is nothing to score on)."""
    with run.learner.average.applied():
        figures = _scored(run)
        best = _better(run, figures)
        if best:
            bundle.write_weights(run.out, weights_of(run.model))
    if best:
        score = _score(run, figures)
        run.progress = replace(run.progress, best_score=score, best_update=run.learner.updates, waited=0)
    else:
        run.progress = replace(run.progress, waited=run.progress.waited + 1)
    if figures:
        metrics.add("validation", run.learner.updates, {**figures, "best": best})
        run.watcher.validated(run.learner.updates, figures, best=best)
        _tell(run, metrics)
    if ended(run):
        run.watcher.said(f"{run.progress.waited} validations without a better one: training ends here.")


def record_start(run: Run, metrics: Metrics) -> float:
    """What a loss is to be compared with: written down once."""
    for record in metrics.records():
        if record["kind"] == "start":
            return float(record["unigram_entropy"])
    known: float = run.task.unigram_entropy()
    metrics.add("start", 0, {"unigram_entropy": known})
    return known


def diagnosed(metrics: Metrics) -> list[dict[str, Any]]:
    """What has been found wrong so far."""
    return [record for record in metrics.records() if record["kind"] == "diagnosis"]


def _tell(run: Run, metrics: Metrics) -> None:
    """Each problem once, when it is first seen."""
    told, training = {record["what"] for record in diagnosed(metrics)}, run.config.training
    for found in diagnose(metrics.records(), updates=training.updates, warmup=training.warmup):
        if found.what not in told:
            metrics.add("diagnosis", run.learner.updates, asdict(found))
            run.watcher.said(f"{found.what}: {found.evidence}\n  do this: {found.advice}")


def _scored(run: Run) -> dict[str, Any]:
    """The figures of the validation, empty if there is no data for it."""
    score: Callable[..., dict[str, Any]] = catalogue.find(catalogue.task_entry(run.config.task).validate)
    return score(run.task, run.model, sentences=run.config.training.validate_sentences)


def _score(run: Run, figures: dict[str, Any]) -> float | None:
    """The figure that models are compared by, None if there is none."""
    metric = run.config.training.metric
    if figures and not isinstance(figures.get(metric), float):
        numbers = [name for name, value in figures.items() if isinstance(value, float)]
        raise ConfigError(f"A validation has no figure {metric}.", wanted=", ".join(numbers), do="see training.metric")
    return figures.get(metric)


def _better(run: Run, figures: dict[str, Any]) -> bool:
    score, best = _score(run, figures), run.progress.best_score
    if score is None or best is None:
        return True
    return score < best if run.config.training.metric in LESS_IS_BETTER else score > best


def average_last(run: Run) -> int:
    """Tries the mean of the last checkpoints, and takes it if it is better: then how many they were, otherwise 0."""
    files = checkpoint.kept_files(run.out)[-run.config.training.average_last :]
    if not run.config.training.average_last or len(files) < 2:
        return 0
    put_weights(run.model, checkpoint.mean_weights(files), where=checkpoint.KEPT)
    figures = _scored(run)
    better = bool(figures) and _better(run, figures)
    if better:
        bundle.write_weights(run.out, weights_of(run.model))
    run.watcher.said(f"mean of {len(files)} checkpoints: {figures.get('headline', 'not scored')}{' *' * better}")
    return len(files) if better else 0
