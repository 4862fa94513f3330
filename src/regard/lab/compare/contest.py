"""The contest: sizes are made equal, recipes tried, the best one trained to the end, all of it reported."""

import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from regard import bundle
from regard.config import Tree, merge
from regard.errors import BundleError
from regard.files import write_text
from regard.lab.compare.figures import FIGURES
from regard.lab.compare.jobs import Job, Watch, run_all
from regard.lab.compare.plan import TRIAL_SHARE, Budget, Plan, folder, name
from regard.lab.compare.sizes import WIDTHS, count, fit
from regard.lab.compare.summary import Trial, summary
from regard.report import write
from regard.training.run import prepare
from regard.training.settings import resolve

KEPT = "compare.json"
MAY_CHANGE = {"models", "seeds", "sentence"}
"""What a later call may ask otherwise: models and seeds that are finished stay as they are."""


def compare(plan: Plan, out: Path, *, jobs: int, watch: Watch, say: Callable[[str], None]) -> Path:
    """Trains what is not trained yet, scores it, and writes the report; gives the path of its page."""
    sized = _sized(plan, out, say)
    threads = max(1, _cores() // jobs)
    trials = {model: _trials(plan, model, sized, out, threads) for model in plan.models}
    if plan.trials > 1:
        run_all((job for tried in trials.values() for job in tried), jobs, watch, say)
    finals, recipes = [], {}
    for model in plan.models:
        recipes[model] = _judged(plan, model, trials[model])
        best = max(recipes[model], key=lambda trial: trial.score)
        for seed in plan.seeds:
            tree = _tree(plan, model, best.recipe, sized, threads, seed)
            finals.append(Job(out / "runs" / folder(model) / f"seed-{seed}", tree, plan.budget, plan, final=True))
    run_all(finals, jobs, watch, say)
    results = {
        model: [bundle.read_json(out / "runs" / folder(model) / f"seed-{seed}" / FIGURES) for seed in plan.seeds]
        for model in plan.models
    }
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    return write(summary(plan, recipes, results, out, command=command), out)


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
    then, now = kept["plan"], json.loads(json.dumps(plan.record()))
    for model in set(now["own"]) - set(map(name, kept["sizes"])):
        del now["own"][model]  # a model that joins brings its own settings
    then["own"] = {model: own for model, own in then["own"].items() if model in map(name, plan.models)}
    other = [key for key, value in now.items() if key not in MAY_CHANGE and then.get(key) != value]
    if other:
        raise BundleError(
            f"{out} holds a comparison with other settings.",
            found=", ".join(f"{key}={then.get(key)}" for key in other),
            do="ask for the same to go on with it (models and seeds may be added), or choose another --out",
        )
    return kept


def _tokens_per_update(task: Any, sample: int = 100) -> float:
    return float(sum(task.size(task.batch(step)) for step in range(sample)) / sample)


def _trials(plan: Plan, model: str, sized: dict[str, Any], out: Path, threads: int) -> list[Job]:
    budget = _in_updates(plan.budget.part(TRIAL_SHARE), sized)
    return [
        Job(
            out / "runs" / folder(model) / f"trial-{number}",
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
    judged = []
    for recipe, job in zip(recipes, jobs, strict=True):
        card = bundle.read_card(job.out) or {"updates": 0, "train_seconds": 0.0}
        score = card["scores"]["val"]["bleu"] if "scores" in card else 0.0
        judged.append(Trial(recipe, score, card["updates"], card["train_seconds"]))
    return judged


def _cores() -> int:
    """As many as this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Nobody:
    """Watches nothing."""

    def started(self, facts: dict[str, Any]) -> None: ...
    def stepped(self, step: Any, seconds: float) -> None: ...
    def validated(self, update: int, metrics: dict[str, Any], *, best: bool) -> None: ...
    def said(self, text: str) -> None: ...
