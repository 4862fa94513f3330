"""The contest: sizes are made equal, recipes tried, the best one trained to the end, all of it reported."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard import bundle, catalogue
from regard.config import Tree, leaves, merge
from regard.errors import BundleError, LimitError
from regard.files import write_text
from regard.lab.compare import material
from regard.lab.compare.figures import FIGURES
from regard.lab.compare.jobs import FAILED, Job, Watchers, run_all
from regard.lab.compare.plan import TRIAL_SHARE, Budget, Entry, Plan
from regard.lab.compare.sizes import WIDTHS, count, fit
from regard.lab.compare.summary import Trial, summary
from regard.report import write
from regard.training.settings import resolve
from regard.training.tracking import Metrics

KEPT = "compare.json"
MAY_CHANGE = {("models",), ("seeds",), ("sentence",)}
"""What a later call may ask otherwise: models and seeds that are finished stay as they are."""


@dataclass(frozen=True)
class Contest:
    """A plan, where it is carried out, how many runs at a time, and what was found out at the beginning."""

    plan: Plan
    out: Path
    jobs: int
    sizes: dict[str, Tree]
    tokens_per_update: float

    def trials(self, entry: Entry) -> list[Job]:
        """A short run for each recipe, none if there is nothing to choose."""
        recipes = self.plan.recipes(entry)
        budget = self.plan.budget.part(TRIAL_SHARE)
        runs = [self._job(entry, f"trial-{i}", recipe, budget) for i, recipe in enumerate(recipes, start=1)]
        return runs if len(runs) > 1 else []

    def finals(self, entry: Entry, recipe: Tree) -> list[Job]:
        """A long run for each seed, with the chosen recipe."""
        return [self._job(entry, f"seed-{seed}", recipe, self.plan.budget, seed) for seed in self.plan.seeds]

    def _job(self, entry: Entry, run: str, recipe: Tree, budget: Budget, seed: int | None = None) -> Job:
        """The test set is not among the data of a run: only the finished model meets it, in `measure`."""
        tree = self.plan.tree(entry, recipe, seed=self.plan.seeds[0] if seed is None else seed)
        data = {key: value for key, value in tree["data"].items() if key != "test"}
        training: Tree = {"threads": max(1, _cores() // self.jobs), **tree.get("training", {})}
        if budget.tokens is not None:
            budget = Budget(updates=max(1, round(budget.tokens / self.tokens_per_update)))
        if budget.updates is not None:
            training["updates"] = budget.updates
        settings = merge(tree, {"model": self.sizes[entry.name], "training": training})
        return Job(
            self.out / "runs" / entry.name / run, {**settings, "data": data}, budget, self.plan, seed is not None
        )


def compare(
    plan: Plan, out: Path, *, jobs: int, watch: Watchers, say: Callable[[str], None], command: str = ""
) -> Path:
    """Trains what is not trained yet, scores it, and writes the report; gives the path of its page."""
    contest = _begin(plan, out, jobs, say)
    trials = {entry.name: contest.trials(entry) for entry in plan.entries}
    tried = [job for runs in trials.values() for job in runs]
    say(
        f"{len(tried)} trials and {len(plan.models) * len(plan.seeds)} long runs ({plan.budget} each), {jobs} at a time"
    )
    run_all(tried, jobs, watch, say)
    judged = {entry.name: _judged(plan.recipes(entry), trials[entry.name]) for entry in plan.entries}
    finals = {entry.name: contest.finals(entry, _best(judged[entry.name])) for entry in plan.entries}
    run_all([job for runs in finals.values() for job in runs], jobs, watch, say)
    results = {
        name: [bundle.read_json(job.out / FIGURES) for job in runs if not (job.out / FAILED).exists()]
        for name, runs in finals.items()
    }
    return write(summary(plan, judged, results, out, jobs=jobs, command=command), out)


def claim(out: Path) -> None:
    """Makes the directory ours before anything is written into it; refuses one that holds other things."""
    if (out / KEPT).exists():
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BundleError(f"{out} is not empty.", do="choose another --out; a comparison goes on in its own")
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / KEPT, "{}\n")


def _begin(plan: Plan, out: Path, jobs: int, say: Callable[[str], None]) -> Contest:
    """Everything is read and checked, and the widths of each model found; what is found is kept."""
    for entry in plan.entries:
        resolve(plan.tree(entry, {}, seed=plan.seeds[0]))  # faults of settings before anything is written
    kept = bundle.read_json(out / KEPT) if (out / KEPT).exists() else {}
    _agree(plan, kept, out)
    say("reading the data …")
    data = material.check(plan)
    if kept and kept["data"] != data:
        raise BundleError(
            f"The data has changed since the comparison in {out} began.",
            found=", ".join(what for what in data if kept["data"].get(what) != data[what]),
            do="put the old data back, or choose another --out",
        )
    claim(out)
    sizes = kept.get("sizes", {})
    if new := [entry for entry in plan.entries if entry.name not in sizes]:
        task = _task(plan)
        vocabulary = task.tokenizers.model_sizes()
        last = plan.tree(plan.entries[-1], {}, seed=plan.seeds[0])
        wanted = kept.get("parameters") or plan.parameters or count(last, vocabulary)
        sizes |= {entry.name: _widths(plan, entry, wanted, vocabulary) for entry in new}
        speed = sum(task.size(task.batch(step)) for step in range(100)) / 100
        record = plan.record()
        record["own"] = {**kept.get("plan", {}).get("own", {}), **record["own"]}
        kept = {"plan": record, "data": data, "parameters": wanted, "sizes": sizes, "tokens_per_update": speed}
        write_text(out / KEPT, json.dumps(kept, indent=2, ensure_ascii=False) + "\n")
    return Contest(plan, out, jobs, sizes, kept["tokens_per_update"])


def _agree(plan: Plan, kept: dict[str, Any], out: Path) -> None:
    """A comparison goes on as it began; models and seeds may join."""
    if not kept:
        if out.exists():
            claim(out)
        return
    then, now = kept["plan"], json.loads(json.dumps(plan.record()))
    now["own"] = {name: own for name, own in now["own"].items() if name in kept["sizes"]}
    then["own"] = {name: own for name, own in then["own"].items() if name in plan.names}
    before, after = dict(leaves(then)), dict(leaves(now))
    keys = [key for key in sorted(before.keys() | after.keys()) if key not in MAY_CHANGE]
    if other := [key for key in keys if before.get(key) != after.get(key)]:
        raise BundleError(
            f"{out} holds a comparison with other settings.",
            found=", ".join(f"{'.'.join(key)}={before.get(key)}, now {after.get(key)}" for key in other),
            do="ask for the same to go on with it (models and seeds may be added), or choose another --out",
        )


def _task(plan: Plan) -> Any:
    """The data as a run sees it."""
    config = resolve(plan.tree(plan.entries[-1], {}, seed=plan.seeds[0]))
    return catalogue.find(catalogue.task_entry(config.task).task)(config.settings, model=config.model, seed=config.seed)


def _widths(plan: Plan, entry: Entry, wanted: int, vocabulary: dict[str, Any]) -> Tree:
    """The widths at which a model has as many parameters as wanted; none where a width was asked for."""
    tree = plan.tree(entry, {}, seed=plan.seeds[0])
    if "width" in tree["model"]:
        return {}
    fitted = fit(tree, wanted, vocabulary)["model"]
    return {key: fitted[key] for key in WIDTHS if key in fitted}


def _judged(recipes: list[Tree], jobs: list[Job]) -> list[Trial]:
    """What each trial scored on the validation set."""
    trials = []
    for recipe, job in zip(recipes, jobs, strict=False):
        if (job.out / FAILED).exists():
            trials.append(Trial(recipe))
            continue
        card, records = bundle.read_card(job.out), Metrics(job.out).records()
        loss = min(record["loss"] for record in records if record["kind"] == "validation")
        trials.append(Trial(recipe, card["scores"]["val"]["bleu"], loss, card["updates"], card["train_seconds"]))
    return trials or [Trial(recipes[0])]


def _best(trials: list[Trial]) -> Tree:
    """The recipe of the best trial."""
    if len(trials) > 1 and all(trial.failed for trial in trials):
        raise LimitError("Every recipe has diverged.", do="lower the rates with training.learning_rate=5e-4")
    return max(trials, key=Trial.rank).recipe


def _cores() -> int:
    """As many as this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
