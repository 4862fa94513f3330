"""What is asked of scenes: a class or a number, of each entity or of the whole."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.scenes import Scene, Value
from regard.errors import DataError
from regard.tasks.features import FARTHEST, about, listed, standard

UNKNOWN = -1
ALIKE = 10.0
"""Numbers whose mean is within so many deviations, and whose deviation is within so many times, are of one size."""


@dataclass(frozen=True)
class Answers:
    """`classes` in their order, none for a number, which then has a mean and a scale. `of_each`: of every entity."""

    of_each: bool
    classes: tuple[str, ...] = ()
    mean: float = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, scenes: Sequence[Scene]) -> "Answers":
        """What the targets of the training data are."""
        kinds: dict[tuple[bool, type], Scene] = {}
        for scene in scenes:
            for value in _known(scene):
                kinds.setdefault((isinstance(scene.target, tuple), type(value)), scene)
        if not kinds:
            wanted = '"target": one for each entity, or one for the whole'
            raise scenes[0].fault("no scene has a target", wanted=wanted, do="add targets to the training data")
        if len(kinds) > 1:
            (first, before), (other, here) = list(kinds.items())[:2]
            raise here.fault(
                "the targets differ in kind",
                found=f"{_kind(*other)} here, {_kind(*first)} in {before.place}",
                wanted='the same in all scenes; classes are words, "3" among them',
            )
        ((of_each, kind),) = kinds
        values = [value for scene in scenes for value in _known(scene)]
        if kind is not str:
            return cls(of_each, (), *standard(values))
        classes = tuple(sorted(set(map(str, values))))
        if len(classes) < 2:
            found = f"{classes[0]!r} in all of them"
            raise DataError("The targets have only one class.", found=found, wanted="at least two different ones")
        return cls(of_each, classes)

    @property
    def outputs(self) -> int:
        return len(self.classes) or 1

    def fits(self, other: "Answers") -> bool:
        """Whether what the other asks can be answered in these terms: no new classes, or numbers of about this size."""
        if (self.of_each, bool(self.classes)) != (other.of_each, bool(other.classes)):
            return False
        near = abs(other.mean - self.mean) <= ALIKE * self.scale and 1 / ALIKE <= other.scale / self.scale <= ALIKE
        return set(other.classes) <= set(self.classes) if self.classes else near

    def encode(self, scene: Scene) -> np.ndarray:
        """Numbers of classes, UNKNOWN where there is none; or numbers in standard deviations, NaN where there is none.
        One for each entity, or a single one."""
        if scene.target is not None and isinstance(scene.target, tuple) != self.of_each:
            wanted = _kind(self.of_each, str if self.classes else float)
            raise scene.fault("the target is of another kind than in the training data", wanted=wanted)
        size = len(scene) if self.of_each else 1
        values = scene.target if isinstance(scene.target, tuple) else (scene.target,) * size
        return np.array([self._encoded(scene, value) for value in values])

    def decode(self, value: float) -> float:
        """A number as the data has it."""
        return self.mean + self.scale * value

    def said(self, scores: Float[Tensor, "M O"]) -> list[Value]:
        """The likeliest classes, or the numbers."""
        if self.classes:
            return [self.classes[place] for place in scores.argmax(-1).tolist()]
        return [self.decode(value) for value in scores[:, 0].tolist()]

    def _encoded(self, scene: Scene, value: Value) -> float | int:
        if value is None:
            return UNKNOWN if self.classes else np.nan
        if isinstance(value, str) != bool(self.classes):
            raise scene.fault(
                "the target is of another kind than in the training data",
                found=repr(value),
                wanted=f"one of {listed(self.classes)}" if self.classes else "a number",
            )
        if not self.classes:
            away = (float(value) - self.mean) / self.scale
            if abs(away) > FARTHEST:
                what, wanted = "a target is too far from those of the training data", about(self.mean, self.scale)
                raise scene.fault(what, found=repr(value), wanted=wanted)
            return away
        if value not in self.classes:
            raise scene.fault(
                f"the class {value!r} does not occur in the training data",
                wanted=listed(self.classes),
                do="correct the target, or train with examples of it",
            )
        return self.classes.index(str(value))


def known(labels: Tensor) -> Tensor:
    """Where there is a target."""
    return ~labels.isnan() if labels.is_floating_point() else labels != UNKNOWN


def brief(value: Value) -> str:
    """An answer where there is little room."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.2f}" if value == 0 or 0.01 <= abs(value) < 1e6 else f"{value:.3g}"


def filler(labels: Sequence[np.ndarray]) -> Tensor:
    """Rows of targets as one rectangle, with none behind the shorter ones."""
    nothing = torch.nan if labels[0].dtype.kind == "f" else UNKNOWN
    block = np.full((len(labels), max(map(len, labels))), nothing, dtype=np.float32 if nothing != UNKNOWN else np.int64)
    for row, values in zip(block, labels, strict=True):
        row[: len(values)] = values
    return torch.from_numpy(block)


def _known(scene: Scene) -> list[Value]:
    values = scene.target if isinstance(scene.target, tuple) else (scene.target,)
    return [value for value in values if value is not None]


def _kind(of_each: bool, kind: type) -> str:
    return f"{'classes' if kind is str else 'numbers'} of {'each entity' if of_each else 'the whole'}"
