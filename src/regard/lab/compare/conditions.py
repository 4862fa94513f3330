"""Under which conditions a comparison was made: at what price, with which recipes, and how to repeat it."""

from collections.abc import Mapping
from dataclasses import dataclass

from regard import bundle
from regard.config import Tree
from regard.lab.compare.plan import TRIAL_SHARE, Plan
from regard.lab.compare.results import Results, known, mean_of
from regard.report import Code, Column, Paragraph, Section, Table


@dataclass(frozen=True)
class Trial:
    """A recipe and what it scored on the validation set; one that has diverged has made no updates."""

    recipe: Tree
    score: float = 0.0
    loss: float = 0.0
    updates: int = 0
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        return self.updates == 0

    def rank(self) -> tuple[bool, float, float]:
        """High is good: by BLEU, and by loss where BLEU does not tell them apart yet."""
        return not self.failed, self.score, -self.loss


def price(results: Results, jobs: int) -> Section:
    columns = [
        Column("model"),
        Column("parameters", ",d"),
        Column("updates", ",.0f"),
        Column("training, minutes", ".1f"),
        Column("trains, target tokens/s", ",.0f", best="max"),
        Column("translates, sentences/s", ",.1f", best="max"),
        Column("translates, tokens/s", ",.0f", best="max"),
        Column("peak memory, MB", ",.0f", best="min"),
    ]
    rows = [
        [
            model,
            figures[0]["parameters"],
            mean_of(figures, "updates"),
            mean_of(figures, "train_seconds") / 60,
            mean_of(figures, "train_tokens_per_second") if known(figures, "train_tokens_per_second") else None,
            mean_of(figures, "sentences_per_second"),
            mean_of(figures, "tokens_per_second"),
            max(one["peak_memory_bytes"] for one in figures) / 1e6 if known(figures, "peak_memory_bytes") else None,
        ]
        for model, figures in results.items()
    ]
    first = next(iter(results.values()))[0]
    at_once = f"{jobs} runs at a time" if jobs > 1 else "one run at a time"
    notes = [f"{at_once}, {first['threads']} thread(s) each; translation with beam {first['beam']}, in batches."]
    return Section("Size and speed", [Table(columns, rows, notes=notes)])


def recipes(trials: Mapping[str, list[Trial]]) -> Section | None:
    if not any(len(tried) > 1 for tried in trials.values()):
        return None
    rows: list[list[str | float]] = []
    for model, tried in trials.items():
        best = max(tried, key=Trial.rank)
        for trial in tried:
            settings = ", ".join(f"{s}.{k}={v:g}" for s, pairs in trial.recipe.items() for k, v in pairs.items())
            mark = "chosen" if trial is best else "diverged" if trial.failed else ""
            rows.append([model, settings, trial.updates, trial.seconds / 60, trial.score, mark])
    columns = [
        Column("model"), Column("recipe"), Column("updates", ",d"), Column("minutes", ".1f"),
        Column("BLEU on val", ".2f"), Column(""),
    ]  # fmt: skip
    text = f"Each model tried the same recipes, each with {TRIAL_SHARE:.0%} of the budget; the best on val was trained."
    return Section("Recipes that were tried", [Paragraph(text), Table(columns, rows)])


def how(plan: Plan, command: str) -> Section:
    files = plan.settings["data"]
    lines = [f"{split}: {', '.join(files[split])}" for split in ("train", "val", "test")]
    versions = ", ".join(f"{package} {version}" for package, version in bundle.versions().items())
    return Section("How to repeat it", [Code(command), Code("\n".join([*lines, versions]))])
