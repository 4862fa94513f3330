"""What is compared: models, data, budget, seeds, and the recipes that each model may try."""

import re
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
class GoldFiles:
    """Gold word alignments of one split: the words, the links, and what the first word is called (None: see
    `read_gold`)."""

    words: str
    links: str
    base: Base | None = None


@dataclass(frozen=True)
class Entry:
    """One who is compared. "luong", "luong:small", or with a name of its own "dot=luong:small"."""

    name: str
    model: Tree

    @classmethod
    def of(cls, text: str) -> "Entry":
        own, _, rest = text.rpartition("=")
        kind, _, preset = rest.partition(":")
        return cls(own or rest.replace(":", "-"), {"name": kind, **({"preset": preset} if preset else {})})


@dataclass(frozen=True)
class Plan:
    """Everything that a comparison depends on; kept in its directory, so that it is not continued as another one.

    `settings` are common to all models, `own` belongs to the entry of that name; both win over recipes, so that what
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
    gold: Mapping[str, GoldFiles] = field(default_factory=dict)
    sentence: str | None = None

    def __post_init__(self) -> None:
        for name in self.names:
            if not re.fullmatch(r"[A-Za-z0-9._-]+", name) or name in (".", ".."):
                raise ConfigError(
                    f"A model cannot be called {name!r}: a directory gets its name.",
                    wanted="letters, digits, . _ - only, such as dot=luong",
                )
        if len(set(self.names)) != len(self.names) or not self.names:
            raise ConfigError(
                "Each model can be compared once under one name.",
                found=", ".join(self.models) or "none",
                wanted="different names, such as dot=luong,general=luong",
            )
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise ConfigError(
                "The seeds must be different.", found=", ".join(map(str, self.seeds)), wanted="such as 1,2,3"
            )
        if not 0 <= self.trials <= len(RECIPES):
            raise ConfigError(
                "There are not so many recipes to try.", found=str(self.trials), wanted=f"0 to {len(RECIPES)} trials"
            )
        if self.parameters is not None and self.parameters < 1:
            raise ConfigError("--parameters must be above 0.", found=str(self.parameters))
        if unknown := set(self.own) - set(self.names):
            raise ConfigError(
                f"There are settings for {', '.join(sorted(unknown))}, which is not compared.",
                found=f"models {', '.join(self.names)}",
                do="name it in --models, or leave its settings out",
            )
        if "updates" in self.settings.get("training", {}):
            raise ConfigError(
                "training.updates contradicts the budget.", do=f"leave it out: {self.budget} are asked for"
            )

    @property
    def entries(self) -> list[Entry]:
        return [Entry.of(model) for model in self.models]

    @property
    def names(self) -> list[str]:
        return [entry.name for entry in self.entries]

    def tree(self, entry: Entry, recipe: Tree, *, seed: int) -> Tree:
        """The settings of one run: the recipe, what is common, what is the model's own."""
        own: Tree = {"model": dict(self.own.get(entry.name, {}))}
        return merge(recipe, self.settings, own, {"model": entry.model, "seed": seed})

    def recipes(self, entry: Entry) -> list[Tree]:
        """The different recipes of a model's trials: what is fixed by the settings is not varied."""
        trees: list[Tree] = []
        found = []
        for recipe in RECIPES[: max(1, self.trials)]:
            tree = self.tree(entry, recipe, seed=self.seeds[0])
            if tree not in trees:
                trees.append(tree)
                found.append(recipe)
        return found

    def record(self) -> dict[str, Any]:
        """As it is kept."""
        return asdict(self)
