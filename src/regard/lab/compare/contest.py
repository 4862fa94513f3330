"""The contest: trials, then the long runs, each in a process of its own, several at a time if asked for."""

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from regard import bundle
from regard.config import Tree, merge
from regard.errors import BundleError, RegardError
from regard.files import write_text
from regard.lab.compare.figures import FIGURES, measure
from regard.lab.compare.plan import TRIAL_SHARE, Budget, Plan, name
from regard.lab.compare.sizes import WIDTHS, count, fit
from regard.lab.compare.summary import Trial, summary
from regard.report import write
from regard.training import directory
from regard.training.run import Watcher, prepare, train
from regard.training.settings import resolve

KEPT = "compare.json"
MAY_CHANGE = {"models", "seeds", "sentence", "own"}
"""What a later call may ask otherwise: models and seeds that are finished stay as they are."""

Watch = Callable[[str], Watcher]
"""From the name of a run to who watches it; a function that another process can import."""


@dataclass(frozen=True)
class Job:
    """One run: where, with which settings, how long, and whether it is scored on the test set."""

    out: Path
    tree: Tree
    budget: Budget
    plan: Plan
    final: bool

    @property
    def label(self) -> str:
        return f"{self.out.parent.name}/{self.out.name}"

    @property
    def done(self) -> bool:
        return (self.out / (FIGURES if self.final else bundle.CARD)).exists()


def compare(plan: Plan, out: Path, *, jobs: int, watch: Watch, say: Callable[[str], None]) -> Path:
    """Trains what is not trained yet, scores it, and writes the report; gives the path of its page."""
    sized = _sized(plan, out, say)
    threads = max(1, _cores() // jobs)
    trials = {model: _trials(plan, model, sized, out, threads) for model in plan.models}
    if plan.trials > 1:
        _run_all((job for tried in trials.values() for job in tried), jobs, watch, say)
    finals, recipes = [], {}
    for model in plan.models:
        recipes[model] = _judged(plan, model, trials[model])
        best = max(recipes[model], key=lambda trial: trial.score)
        for seed in plan.seeds:
            tree = _tree(plan, model, best.recipe, sized, threads, seed)
            finals.append(Job(out / "runs" / name(model) / f"seed-{seed}", tree, plan.budget, plan, final=True))
    _run_all(finals, jobs, watch, say)
    results = {
        model: [bundle.read_json(out / "runs" / name(model) / f"seed-{seed}" / FIGURES) for seed in plan.seeds]
        for model in plan.models
    }
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    return write(summary(plan, recipes, results, out, command=command), out)


def work(job: Job, watch: Watch) -> bool:
    """One run from wherever it is to its end; False if it was asked to stop before."""
    saved = directory.claim(job.out, resume=True, overwrite=False)
    config = resolve(directory.agree(job.out, saved, {}) if saved else job.tree)
    resumed = saved is not None
    run = prepare(config, job.out, watch(job.label), minutes=None if resumed else job.budget.minutes, resume=resumed)
    outcome = train(run, asked=job.tree, resume=resumed)
    if outcome.finished and job.final:
        measure(job.out, job.plan, memory=_peak())
    return outcome.finished


def _sized(plan: Plan, out: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """What was found out at the beginning and is kept: each model's widths and, for a budget of tokens, the updates."""
    before = _kept(plan, out)
    if before is not None and all(model in before["sizes"] for model in plan.models):
        return before
    say("reading the data …")
    reference = plan.tree(plan.models[-1], {}, seed=plan.seeds[0])
    run = prepare(resolve(reference), out, _Nobody())
    vocabulary = run.task.tokenizers.model_sizes()
    wanted = before["parameters"] if before else plan.parameters or count(reference, vocabulary)
    sizes = before["sizes"] if before else {}
    for model in plan.models:
        if model not in sizes:
            tree = plan.tree(model, {}, seed=plan.seeds[0])
            fitted = fit(tree, wanted, vocabulary)["model"]
            sizes[model] = {key: fitted[key] for key in WIDTHS if key in fitted}
    kept = {
        "plan": plan.record(),
        "parameters": wanted,
        "sizes": sizes,
        "tokens_per_update": _tokens_per_update(run.task),
    }
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / KEPT, json.dumps(kept, indent=2, ensure_ascii=False) + "\n")
    return kept


def _kept(plan: Plan, out: Path) -> dict[str, Any] | None:
    if not (out / KEPT).exists():
        if out.exists() and any(path.name != "data" for path in out.iterdir()):
            raise BundleError(f"{out} is not empty.", do="choose another --out; a comparison goes on in its own")
        return None
    kept = bundle.read_json(out / KEPT)
    now = json.loads(json.dumps(plan.record()))
    other = [key for key, value in now.items() if key not in MAY_CHANGE and kept["plan"].get(key) != value]
    if other:
        raise BundleError(
            f"{out} holds a comparison with other settings.",
            found=", ".join(f"{key}={kept['plan'].get(key)}" for key in other),
            do="ask for the same to go on with it (models and seeds may be added), or choose another --out",
        )
    return kept


def _tokens_per_update(task: Any, sample: int = 100) -> float:
    return float(sum(task.size(task.batch(step)) for step in range(sample)) / sample)


def _trials(plan: Plan, model: str, sized: dict[str, Any], out: Path, threads: int) -> list[Job]:
    budget = _in_updates(plan.budget.part(TRIAL_SHARE), sized)
    return [
        Job(
            out / "runs" / name(model) / f"trial-{number}",
            _tree(plan, model, recipe, sized, threads, plan.seeds[0], budget),
            budget,
            plan,
            final=False,
        )
        for number, recipe in enumerate(plan.recipes(model), start=1)
    ]


def _tree(
    plan: Plan, model: str, recipe: Tree, sized: dict[str, Any], threads: int, seed: int, budget: Budget | None = None
) -> Tree:
    """The settings of a run. The test set is not among its data: only the finished model meets it, in `measure`."""
    budget = budget or _in_updates(plan.budget, sized)
    updates = {} if budget.updates is None else {"updates": budget.updates}
    tree = plan.tree(model, recipe, seed=seed)
    data = {key: value for key, value in tree["data"].items() if key != "test"}
    common: Tree = {"training": {"threads": threads, **updates}}
    return {**merge(common, tree, {"model": sized["sizes"][model]}), "data": data}


def _in_updates(budget: Budget, sized: dict[str, Any]) -> Budget:
    """A budget of tokens as one of updates."""
    if budget.tokens is None:
        return budget
    return Budget(updates=max(1, round(budget.tokens / sized["tokens_per_update"])))


def _judged(plan: Plan, model: str, jobs: list[Job]) -> list[Trial]:
    """What each trial scored on the validation set; if nothing was tried, the first recipe counts as chosen."""
    recipes = plan.recipes(model)
    if plan.trials <= 1:
        return [Trial(recipes[0], 0.0, 0, 0.0)]
    cards = [bundle.read_card(job.out) for job in jobs]
    return [
        Trial(recipe, card["scores"]["val"]["bleu"], card["updates"], card["train_seconds"])
        for recipe, card in zip(recipes, cards, strict=True)
    ]


def _run_all(jobs: Iterable[Job], at_once: int, watch: Watch, say: Callable[[str], None]) -> None:
    """Those that are not done yet, each in a fresh process: memory is measured there, and nothing is carried over."""
    left = [job for job in jobs if not job.done]
    if not left:
        return
    with ProcessPoolExecutor(at_once, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        futures = {pool.submit(work, job, watch): job for job in left}
        try:
            for number, future in enumerate(as_completed(futures), start=1):
                if not future.result():
                    raise KeyboardInterrupt
                say(f"{futures[future].label} is done ({number} of {len(left)})")
        except BaseException as error:
            pool.shutdown(wait=True, cancel_futures=True)
            if isinstance(error, RegardError | KeyboardInterrupt):
                raise
            raise RegardError("A run has ended before its time.", found=repr(error)[:300]) from error


def _cores() -> int:
    """As many as this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _peak() -> int:
    """Most memory that this process has held, in bytes."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held if sys.platform == "darwin" else 1024 * held


class _Nobody:
    """Watches nothing."""

    def started(self, facts: dict[str, Any]) -> None: ...
    def stepped(self, step: Any, seconds: float) -> None: ...
    def validated(self, update: int, metrics: dict[str, Any], *, best: bool) -> None: ...
    def said(self, text: str) -> None: ...
