"""Scenes of entities: what is asked of each of them, or of the whole, from what each can see."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int, Shaped
from pydantic import Field
from torch import Tensor, nn

from regard.config import Tree
from regard.data.batches import WHOLE, BatchConfig, Order, Share
from regard.data.scenes import Scene, read_scenes
from regard.errors import ConfigError, DataError, LimitError
from regard.sections import Section
from regard.tasks.answers import Answers, filler, known
from regard.tasks.features import Features
from regard.tasks.fields import Fields
from regard.watching import Watch, unwatched

PROBES = 4


class SceneFiles(Section):
    """Where the scenes are: JSONL, one file or several of each."""

    train: tuple[str, ...] = ()
    val: tuple[str, ...] = ()
    test: tuple[str, ...] = ()


class SceneConfig(Section):
    """How scenes are read."""

    relation: Literal["given", "all"] = Field(
        "given", description="who may look at whom: as the data says, or all at all, to see what the relation is worth"
    )
    without: tuple[str, ...] = Field((), description="fields of entities that are no features, such as x, y")


class SceneBatchConfig(BatchConfig):
    """How much goes into one update."""

    tokens: Annotated[int, Field(gt=0)] | Literal["auto"] = Field(
        1024, description="most entities of a batch, padding included; auto: as many as fit into memory"
    )


class EntitiesTaskConfig(Section):
    """The sections that this task adds to a run."""

    data: SceneFiles = SceneFiles()
    batch: SceneBatchConfig = SceneBatchConfig()
    entities: SceneConfig = SceneConfig()


@dataclass(frozen=True)
class SceneBatch:
    """Scenes, padded behind their entities. labels: of each entity, or one (M = 1) of the whole; see `known`."""

    numbers: Float[Tensor, "B N F"]
    categories: Int[Tensor, "B N C"]
    lengths: Int[Tensor, "B"]
    relation: Bool[Tensor, "B N N"]
    labels: Shaped[Tensor, "B M"]

    def to(self, device: torch.device | str) -> "SceneBatch":
        moved = {field.name: getattr(self, field.name).to(device, non_blocking=True) for field in fields(self)}
        return SceneBatch(**moved)

    @property
    def known(self) -> Bool[Tensor, "B M"]:
        """Where there is something to learn."""
        return known(self.labels)


class Encoded:
    """Scenes as numbers."""

    def __init__(self, scenes: Sequence[Scene], spelling: Fields, *, relation: str = "given") -> None:
        for scene in scenes:
            spelling.features.unknown(scene, without=spelling.without)
        self.features = [spelling.features.encode(scene) for scene in scenes]
        self.relations = [_relation(scene, relation) for scene in scenes]
        self.labels = [spelling.answers.encode(scene) for scene in scenes]
        self.lengths = np.array([len(scene) for scene in scenes], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.features)

    def batch(self, rows: Sequence[int] | np.ndarray) -> SceneBatch:
        """Some of them."""
        lengths = self.lengths[rows]
        size = int(lengths.max())
        numbers, categories = (
            _padded([self.features[row][part] for row in rows], (size, self.features[0][part].shape[1]))
            for part in (0, 1)
        )
        relation = _padded([self.relations[row] for row in rows], (size, size))
        labels = filler([self.labels[row] for row in rows])
        return SceneBatch(numbers, categories, torch.from_numpy(lengths), relation, labels)


def answers(model: Callable[..., Tensor], batch: SceneBatch) -> Float[Tensor, "B M O"]:
    """What the model says: of each entity, or (M = 1) of the whole."""
    said: Tensor = model(batch.numbers, batch.categories, batch.lengths, batch.relation)
    return said if said.dim() == 3 else said[:, None]


def loss(said: Float[Tensor, "B M O"], batch: SceneBatch) -> Float[Tensor, ""]:
    """Cross-entropy of classes, or squared error of numbers in standard deviations; summed over what is known."""
    said, labels = said[batch.known].float(), batch.labels[batch.known]
    if labels.is_floating_point():
        return F.mse_loss(said[:, 0], labels, reduction="sum")
    return F.cross_entropy(said, labels, reduction="sum")


class EntitiesTask:
    """What a training run needs to know of it."""

    config_class = EntitiesTaskConfig
    verb = "predict"
    recipe: ClassVar[Tree] = {"epochs": 20.0, "learning_rate": 3e-3}
    """What it trains well with."""

    @staticmethod
    def continued(model: Section) -> Tree:
        """What it trains well with from a model that is trained already."""
        return {"epochs": 10.0, "learning_rate": 1e-3}

    def __init__(
        self,
        config: EntitiesTaskConfig,
        *,
        model: Section,
        seed: int,
        tokenizers: Fields | None = None,
        watch: Watch = unwatched,
    ) -> None:
        self.config, self.seed = config, seed
        if not config.data.train:
            raise DataError("No training data was given.", do="add --train scenes.jsonl: a scene a line")
        files = {"train": config.data.train, "val": config.data.val, "test": config.data.test}
        self.scenes = {split: read_scenes(paths) for split, paths in files.items() if paths}
        limited: Any = model
        for scenes in self.scenes.values():
            refuse_crowds(scenes.rows, limited.limit, do="raise model.limit, or leave some out")
        self.tokenizers = _fields(self.scenes["train"].rows, config.entities.without, tokenizers)
        relation = config.entities.relation
        self.encoded = {
            split: Encoded(scenes.rows, self.tokenizers, relation=relation) for split, scenes in self.scenes.items()
        }
        for split, encoded in self.encoded.items():
            if not any(known(torch.from_numpy(labels)).any() for labels in encoded.labels):
                raise self.scenes[split].rows[0].fault(f"no scene of the {split} data has a target", do="add targets")
        self._order = Order(self.encoded["train"].lengths[:, None], config.batch.budget, seed)

    def batch(self, step: int, share: Share = WHOLE) -> SceneBatch | None:
        """The batch of an update, a function of (seed, step) alone, or this share of it; None if it has no row."""
        rows = self._order[step][share.part :: share.of]
        return self.encoded["train"].batch(rows) if len(rows) else None

    def epoch(self, step: int) -> int:
        return self._order.epoch(step)

    def losses(self, model: nn.Module, batch: SceneBatch) -> dict[str, Tensor]:
        return {self._term: loss(answers(model, batch), batch)}

    def counts(self, batch: SceneBatch) -> dict[str, int]:
        return {self._term: int(batch.known.sum())}

    @property
    def _term(self) -> str:
        return "classes" if self.tokenizers.answers.classes else "numbers"

    def size(self, batch: SceneBatch) -> int:
        """Entities: what speed is measured in."""
        return int(batch.lengths.sum())

    def unigram_entropy(self) -> float:
        """The loss of one who knows only how frequent each class is, or what numbers are on average."""
        labels = torch.from_numpy(np.concatenate(self.encoded["train"].labels))
        labels = labels[known(labels)]
        if labels.is_floating_point():
            return float(labels.var(correction=0))
        shares = torch.bincount(labels).double() / len(labels)
        return float(-(shares * shares.clamp_min(1e-12).log()).sum())

    def probes(self) -> list[tuple[Scene]]:
        """The scenes whose attention every run keeps: the first of the validation data."""
        return [(scene,) for scene in self.scenes["val"].rows[:PROBES]] if "val" in self.scenes else []

    def describe(self) -> str:
        """The data in a line."""
        spelling = self.tokenizers
        what = f"{len(spelling.answers.classes)} classes" if spelling.answers.classes else "a number"
        names = list(spelling.features.fields)
        return (
            f"{len(self.scenes['train']):,} scenes of {int(self.encoded['train'].lengths.sum()):,} entities with "
            f"{', '.join(names[:10])}; {what} of {'each' if spelling.answers.of_each else 'the whole'}; "
            f"{self._order.updates_per_epoch:,} updates an epoch"
        )

    def card(self) -> dict[str, Any]:
        """What the model card says of the data."""
        return {"labels": list(self.tokenizers.answers.classes), "data": self.fingerprints()}

    def fingerprints(self) -> dict[str, str]:
        """What the data was: a run is not resumed on other data."""
        return {split: scenes.fingerprint for split, scenes in self.scenes.items()}

    def skipped(self) -> list[str]:
        return []


def _fields(scenes: Sequence[Scene], without: Sequence[str], given: Fields | None) -> Fields:
    """Those of the model to begin with, if there is one; what it was asked stays where that is enough."""
    asked = Answers.of(scenes)
    if given is None:
        return Fields(Features.of(scenes, without=without), asked, tuple(without))
    if without and set(without) != set(given.without):
        raise ConfigError(
            "entities.without cannot be changed: the features are those of the model to begin with.",
            found=", ".join(without),
            wanted=", ".join(given.without) or "nothing",
            do="leave it out, or --init",
        )
    return Fields(given.features, given.answers if given.answers.fits(asked) else asked, given.without)


def refuse_crowds(scenes: Sequence[Scene], limit: int, *, do: str) -> None:
    """Scenes with more entities than a model can take."""
    for scene in scenes:
        if len(scene) > limit:
            raise LimitError(
                f"{scene.place or 'a scene'}: more entities than the model can take",
                found=f"{len(scene)}",
                wanted=f"at most {limit}",
                do=do,
            )


def _relation(scene: Scene, which: str) -> Bool[np.ndarray, "N N"]:
    if which == "all" or scene.relation is None:
        return np.ones((len(scene), len(scene)), dtype=bool)
    return scene.relation


def _padded(rows: Sequence[np.ndarray], shape: tuple[int, int]) -> Tensor:
    block = np.zeros((len(rows), *shape), dtype=rows[0].dtype)
    for place, row in zip(block, rows, strict=True):
        place[: row.shape[0], : row.shape[1]] = row
    return torch.from_numpy(block)
