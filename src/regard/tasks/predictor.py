"""A trained model of entities: it says of scenes what was asked in training, and shows who looks at whom."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from regard.attention import capture
from regard.config import Tree
from regard.data.batches import group_by_length
from regard.data.scenes import Scene, Value, scene_of
from regard.errors import DataError
from regard.insight import TokenRow, Trace
from regard.insight.map import MAP, Map
from regard.tasks.answers import brief
from regard.tasks.entities import Encoded, SceneBatch, answers, refuse_crowds
from regard.tasks.fields import Fields

BATCH_ENTITIES = 8192
Given = str | Mapping[str, Any] | Scene
"""A scene as JSON, as what JSON says, or as one that was read."""


@dataclass(frozen=True)
class Predicted:
    """What is said of a scene, in the form of its target: a list with a value for each entity, or one value. Of classes
    also how likely each one is."""

    target: list[Value] | Value
    probabilities: list[dict[str, float]] | dict[str, float] | None = None


class Predictor:
    """What `regard.load` gives for a model of entities."""

    def __init__(self, model: nn.Module, fields: Fields, *, relation: str = "given", name: str = "") -> None:
        self.model, self.fields, self.relation, self.name = model.eval(), fields, relation, name
        self.labels = fields.answers.classes

    @classmethod
    def assemble(cls, model: nn.Module, tokenizers: Fields, config: Tree, name: str) -> "Predictor":
        """From the parts of a bundle."""
        return cls(model, tokenizers, relation=config["entities"]["relation"], name=name)

    def predict(self, scenes: Sequence[Given]) -> list[Predicted]:
        """What was asked in training, of each scene; targets that are there are not looked at."""
        if isinstance(scenes, str | Mapping | Scene):
            raise DataError("predict takes a list of scenes.", found="a single scene", do="write [scene]")
        read = [_scene(scene, f"scene {number}") for number, scene in enumerate(scenes, start=1)]
        return [self._said(scores) for scores in self.scores(self.encoded(read))]

    def encoded(self, scenes: Sequence[Scene]) -> Encoded:
        """Scenes as numbers; one that the model cannot take is refused."""
        config: Any = self.model.config
        refuse_crowds(scenes, config.limit, do="leave some out, or train a model with a larger model.limit")
        return Encoded(scenes, self.fields, relation=self.relation)

    @torch.inference_mode()
    def scores(self, encoded: Encoded) -> list[Tensor]:
        """What the model says of each entity (N O), or of the whole (1 O), for each scene."""
        found: dict[int, Tensor] = {}
        if not len(encoded):
            return []
        for rows in group_by_length(encoded.lengths[:, None], BATCH_ENTITIES, np.arange(len(encoded))):
            said = self._answers(encoded.batch(rows))
            sizes = encoded.lengths[rows] if self.fields.answers.of_each else np.ones_like(rows)
            found |= {row: said[place, :size] for place, (row, size) in enumerate(zip(rows, sizes, strict=True))}
        return [found[row] for row in range(len(encoded))]

    @torch.inference_mode()
    def attention(self, scene: Given, second: None = None) -> Trace:
        """Where every head of every layer looks, from each entity, and which of them the pooling counts."""
        if second is not None:
            raise DataError("A scene is looked at alone.", found="a second one", do="leave it out")
        seen = _scene(scene)
        encoded = self.encoded([seen])
        with capture(self.model) as recording:
            said = self._answers(encoded.batch([0]))[0]
        weights = {name: recording.joined(name)[0].float().cpu().numpy() for name in recording.names}
        shown = [brief(value) for value in self.fields.answers.said(said)]
        rows = {"entities": TokenRow.of(seen.names), "said": TokenRow.of(shown)}
        asks = {name: "said" if weights[name].shape[1] == 1 != len(seen) else "entities" for name in weights}
        told = Map.of(seen if self.relation == "given" else replace(seen, relation=None), shown).tree()
        return Trace(
            rows, weights, {name: (asks[name], "entities") for name in weights}, {"model": self.name, MAP: told}
        )

    def _said(self, scores: Tensor) -> Predicted:
        said, shares = self.fields.answers.said(scores), scores.softmax(-1).tolist()
        likely = [dict(zip(self.labels, row, strict=True)) for row in shares] if self.labels else None
        if self.fields.answers.of_each:
            return Predicted(said, likely)
        return Predicted(said[0], likely and likely[0])

    def _answers(self, batch: SceneBatch) -> Tensor:
        """In double precision: in single, the order of the entities tells in the sixth digit of a probability."""
        given = batch.to(self._device())
        weights = {name: tensor.double() for name, tensor in self.model.state_dict().items()}
        given = replace(given, numbers=given.numbers.double())
        return answers(lambda *scene: functional_call(self.model, weights, scene), given).float().cpu()

    def _device(self) -> torch.device:
        return next(self.model.parameters()).device


def _scene(given: Given, place: str = "") -> Scene:
    """Without its target, if it has one. place: which it is, if it does not know where it stands."""
    if isinstance(given, Scene):
        return replace(given, target=None)
    try:
        return replace(scene_of(given), target=None, place=place)
    except DataError as fault:
        raise fault.at(place) from None
