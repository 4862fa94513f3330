"""What is compared: models, data, budget, seeds, and the recipes that each model may try."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from regard.config import Tree, merge
from regard.errors import ConfigError
from regard.evaluation.alignment import Base

TRIAL_SHARE = 0.2
"""How much of the budget of a model each of its trials gets."""

RECIPES: tuple[Tree, ...] = (
    {"training": {"learning_rate": 2e-3}},
    {"training": {"learning_rate": 1e-3}},
    {"training": {"learning_rate": 4e-3}},
    {"training": {"learning_rate": 2e-3}, "model": {"dropout": 0.3}},
    {"training": {"learning_rate": 1e-3}, "model": {"dropout": 0.3}},
    {"training": {"learning_rate": 4e-3}, "model": {"dropout": 0.3}},
)
"""What is tried, in this order, the same for every model; the first is used as it is if nothing is tried."""


@dataclass(frozen=True)
class Budget:
    """How long each model is trained: exactly one of minutes, updates, target tokens."""

    minutes: float | None = None
    updates: int | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        given = {name: value for name, value in asdict(self).items() if value is not None}
        if len(given) != 1 or not all(0 < value < 1e15 for value in given.values()):
            raise ConfigError(
                "The models need one budget.",
                found=", ".join(f"--{name} {value}" for name, value in given.items()) or "none",
                wanted="one of --minutes, --updates, --tokens, above 0",
            )

    def part(self, share: float) -> "Budget":
        """A part of it."""
        if self.minutes is not None:
            return Budget(minutes=self.minutes * share)
        if self.updates is not None:
            return Budget(updates=max(1, int(self.updates * share)))
        return Budget(tokens=max(1, int((self.tokens or 0) * share)))

    def __str__(self) -> str:
        name, value = next((name, value) for name, value in asdict(self).items() if value is not None)
        return f"{value:,g} {name}" if name == "minutes" else f"{value:,} {'target ' * (name == 'tokens')}{name}"


@dataclass(frozen=True)
class Links:
    """Gold word alignments of one split: the words, the links, and whether words count from 0 or 1."""

    words: str
    gold: str
    base: Base = 0


@dataclass(frozen=True)
class Plan:
    """Everything that a comparison depends on; kept in its directory, so that it is not continued as another one.

    `settings` are common to all models, `own` belongs to the model of that name; both win over recipes, so that what
    was asked for is not tried away.
    """

    models: tuple[str, ...]
    settings: Tree
    budget: Budget
    own: Mapping[str, Tree] = field(default_factory=dict)
    seeds: tuple[int, ...] = (1,)
    trials: int = 3
    parameters: int | None = None
    challenges: str | None = None
    links: Mapping[str, Links] = field(default_factory=dict)
    sentence: str | None = None

    def __post_init__(self) -> None:
        names = [name(model) for model in self.models]
        if len(set(names)) != len(names) or not names:
            raise ConfigError("Each model can be compared once.", found=", ".join(self.models), wanted="different ones")
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise ConfigError("The seeds must be different.", found=", ".join(map(str, self.seeds)))
        if not 0 <= self.trials <= len(RECIPES):
            raise ConfigError(
                "There are not so many recipes to try.", found=str(self.trials), wanted=f"0 to {len(RECIPES)} trials"
            )
        if unknown := set(self.own) - set(names):
            raise ConfigError(
                f"There are settings for {', '.join(sorted(unknown))}, which is not compared.",
                found=f"models {', '.join(names)}",
                do="name it in --models, or leave its settings out",
            )

    def tree(self, model: str, recipe: Tree, *, seed: int) -> Tree:
        """The settings of one run: the recipe, what is common, what is the model's own."""
        kind, _, preset = model.partition(":")
        named: Tree = {"name": kind, **({"preset": preset} if preset else {})}
        own: Tree = {"model": dict(self.own.get(kind, {}))}
        return merge(recipe, self.settings, own, {"model": named, "seed": seed})

    def recipes(self, model: str) -> list[Tree]:
        """The different recipes of a model's trials: what is fixed by the settings is not varied."""
        trees: list[Tree] = []
        found = []
        for recipe in RECIPES[: max(1, self.trials)]:
            tree = self.tree(model, recipe, seed=self.seeds[0])
            if tree not in trees:
                trees.append(tree)
                found.append(recipe)
        return found

    def record(self) -> dict[str, Any]:
        """As it is kept."""
        return asdict(self)


def name(model: str) -> str:
    """ "luong:small" without its preset."""
    return model.partition(":")[0]


def folder(model: str) -> str:
    """Where the runs of a model are."""
    return model.replace(":", "-")
