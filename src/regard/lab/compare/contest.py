"""The contest: sizes are made equal, recipes tried, the best one trained to the end, all of it reported."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard import bundle, catalogue
from regard.config import Tree, merge
from regard.errors import BundleError, ConfigError, DataError, LimitError
from regard.files import write_text
from regard.lab.compare import directory, material
from regard.lab.compare.conditions import Trial
from regard.lab.compare.figures import FIGURES
from regard.lab.compare.jobs import FAILED, Job, Watchers
from regard.lab.compare.plan import TRIAL_SHARE, Budget, Entry, Plan
from regard.lab.compare.sizes import WIDTHS, count, fit
from regard.lab.compare.summary import DIVERGED, summary
from regard.lab.processes import run_all
from regard.report import write
from regard.training.launch import cores
from regard.training.settings import RunConfig, resolve
from regard.training.tracking import Metrics


@dataclass(frozen=True)
class Contest:
    """A plan, where it is carried out, how many runs at a time, and what was found out at the beginning."""

    plan: Plan
    out: Path
    jobs: int
    sizes: dict[str, Tree]
    tokens_per_update: float
    watch: Watchers

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
        training: Tree = {"threads": max(1, cores() // self.jobs), **tree.get("training", {})}
        if budget.tokens is not None:
            budget = Budget(updates=max(1, round(budget.tokens / self.tokens_per_update)))
        if budget.updates is not None:
            training["updates"] = budget.updates
        settings = merge(tree, {"model": self.sizes[entry.name], "training": training})
        out, final = self.out / "runs" / entry.name / run, seed is not None
        return Job(out, {**settings, "data": data}, budget, self.plan, final, self.watch)


def compare(
    plan: Plan, out: Path, *, jobs: int, watch: Watchers, say: Callable[[str], None], command: str = ""
) -> Path:
    """Trains what is not trained yet, scores it, and writes the report; gives the path of its page."""
    contest = _begin(plan, out, jobs, watch, say)
    trials = {entry.name: contest.trials(entry) for entry in plan.entries}
    tried = [job for runs in trials.values() for job in runs]
    say(
        f"{len(tried)} trials and {len(plan.models) * len(plan.seeds)} long runs ({plan.budget} each), {jobs} at a time"
    )
    run_all(tried, jobs, say)
    judged = {entry.name: _judged(plan.recipes(entry), trials[entry.name]) for entry in plan.entries}
    finals = {entry.name: contest.finals(entry, _best(judged[entry.name])) for entry in plan.entries}
    run_all([job for runs in finals.values() for job in runs], jobs, say)
    results = {
        name: [_figures(job) for job in runs if not (job.out / FAILED).exists()] for name, runs in finals.items()
    }
    return write(summary(plan, judged, results, out, jobs=jobs, command=command), out)


def _begin(plan: Plan, out: Path, jobs: int, watch: Watchers, say: Callable[[str], None]) -> Contest:
    """Everything is read and checked, and the widths of each model found; what is found is kept."""
    for entry in plan.entries:
        _resolved(plan, entry)  # faults of settings before anything is written
    kept = directory.read(out)
    if kept:
        directory.agree(plan, kept, out)
    say("reading the data …")
    data = material.check(plan)
    if kept and (changed := [what for what in data if kept["data"].get(what) != data[what]]):
        raise BundleError(
            f"The data has changed since the comparison in {out} began.",
            found=", ".join(changed),
            do="put the old data back, or choose another --out",
        )
    sizes = kept.get("sizes", {})
    if new := [entry for entry in plan.entries if entry.name not in sizes]:
        task = _task(plan, new, kept)
        vocabulary = task.tokenizers.model_sizes()
        last = plan.tree(plan.entries[-1], {}, seed=plan.seeds[0])
        wanted = kept.get("parameters") or plan.parameters or count(last, vocabulary)
        sizes |= {entry.name: _widths(plan, entry, wanted, vocabulary) for entry in new}
        speed = sum(task.size(task.batch(step)) for step in range(100)) / 100
        kept = {
            "plan": directory.joined(plan, kept),
            "data": data,
            "pairs": len(task.train_pairs),
            "parameters": wanted,
            "sizes": sizes,
            "tokens_per_update": kept.get("tokens_per_update", speed),
        }
        directory.claim(out)
        write_text(out / directory.KEPT, json.dumps(kept, indent=2, ensure_ascii=False) + "\n")
    return Contest(plan, out, jobs, sizes, kept["tokens_per_update"], watch)


def _resolved(plan: Plan, entry: Entry) -> RunConfig:
    return resolve(plan.tree(entry, {}, seed=plan.seeds[0]))


def _task(plan: Plan, entries: list[Entry], kept: Tree) -> Any:
    """The data as every run sees it; refused if the limits of the models leave them different pairs."""
    tasks: dict[int, Any] = {}
    pairs = {"those before": kept["pairs"]} if "pairs" in kept else {}
    for entry in entries:
        model: Any = _resolved(plan, entry).model
        if model.limit not in tasks:
            tasks[model.limit] = _built(plan, entry)
        pairs[entry.name] = len(tasks[model.limit].train_pairs)
    if len(set(pairs.values())) > 1:
        raise ConfigError(
            "The models would not be trained on the same pairs: some are too long for some of them.",
            found=", ".join(f"{name} {seen:,} pairs" for name, seen in pairs.items()),
            do="give every model the same limit, with model.limit or models.NAME.limit",
        )
    return next(iter(tasks.values()))


def _built(plan: Plan, entry: Entry) -> Any:
    """The task of one model; what is too long for a limit of its own is told with its name."""
    config = _resolved(plan, entry)
    build = catalogue.find(catalogue.task_entry(config.task).task)
    try:
        return build(config.settings, model=config.model, seed=config.seed)
    except DataError as fault:
        if "limit" not in plan.own.get(entry.name, {}):
            raise
        do = fault.do.replace("model.limit", f"models.{entry.name}.limit")
        raise DataError(f"{entry.name}: {fault.what}", found=fault.found, wanted=fault.wanted, do=do) from None


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
        with directory.advised(job.out):
            card, records = bundle.read_card(job.out), Metrics(job.out).records()
        loss = min(record["loss"] for record in records if record["kind"] == "validation")
        trials.append(Trial(recipe, card["scores"]["val"]["bleu"], loss, card["updates"], card["train_seconds"]))
    return trials or [Trial(recipes[0])]


def _figures(job: Job) -> Tree:
    with directory.advised(job.out):
        return bundle.read_json(job.out / FIGURES)


def _best(trials: list[Trial]) -> Tree:
    """The recipe of the best trial."""
    if len(trials) > 1 and all(trial.failed for trial in trials):
        raise LimitError("Every recipe has diverged.", do=DIVERGED)
    return max(trials, key=Trial.rank).recipe
