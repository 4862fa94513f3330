"""What is known of entities, as numbers: which fields they have, which words occur there, how large numbers are."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from jaxtyping import Float32, Int64

from regard.config import nearest
from regard.data.scenes import Scene, Value
from regard.errors import DataError

SHOWN = 10
ROUNDING = 1e-14
FARTHEST = 1e9
"""Standard deviations from the mean; beyond it, the squares in a network outgrow its numbers."""


@dataclass(frozen=True)
class Number:
    """A field with numbers: what they are on average, how far from it. `optional`: some entities do not have it."""

    name: str
    mean: float
    scale: float
    optional: bool = False

    @property
    def columns(self) -> int:
        return 2 if self.optional else 1

    def encode(self, value: Value) -> list[float]:
        """In standard deviations from the mean; where it may be missing, also whether it is there."""
        known = 0.0 if value is None else (float(value) - self.mean) / self.scale
        return [known, float(value is not None)] if self.optional else [known]


@dataclass(frozen=True)
class Word:
    """A field with words, and those that occur."""

    name: str
    values: tuple[str, ...]
    optional: bool = False

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Which of them a word is."""
        return {value: number for number, value in enumerate(self.values)}


@dataclass(frozen=True)
class Features:
    """The fields of entities, in alphabetical order."""

    numbers: tuple[Number, ...]
    words: tuple[Word, ...]

    @classmethod
    def of(cls, scenes: Sequence[Scene], *, without: Sequence[str] = ()) -> "Features":
        """Those that occur in the scenes, but for some."""
        _refuse_ragged(scenes)
        fields = sorted({name for scene in scenes for entity in scene.entities for name in entity})
        if strange := [name for name in without if name not in fields]:
            raise DataError(
                f"No entity has a field {strange[0]}, so it cannot be left out.", do=nearest(strange[0], fields)
            )
        numbers, words = [], []
        for name in fields:
            found = _column(scenes, name) if name not in without else []
            known = [value for value in found if value is not None]
            optional = len(known) < len(found)
            if known and isinstance(known[0], str):
                words.append(Word(name, tuple(sorted(set(map(str, known)))), optional))
            elif known:
                numbers.append(Number(name, *standard(known), optional))
        if not numbers and not words:
            raise DataError("The entities have no features.", found=", ".join(fields) or "no field", do="add some")
        return cls(tuple(numbers), tuple(words))

    @cached_property
    def fields(self) -> dict[str, Number | Word]:
        """By their names."""
        found: list[Number | Word] = [*self.numbers, *self.words]
        return {field.name: field for field in found}

    @property
    def columns(self) -> int:
        """Numbers an entity is told by; one of nothing where it has none."""
        return max(1, sum(number.columns for number in self.numbers))

    @property
    def categories(self) -> int:
        """Different words of all fields."""
        return sum(len(word.values) for word in self.words)

    def encode(self, scene: Scene) -> tuple[Float32[np.ndarray, "N F"], Int64[np.ndarray, "N C"]]:
        """The numbers, and the words by their place among all of them, from 1; 0 is none."""
        numbers = np.zeros((len(scene), self.columns), dtype=np.float32)
        categories = np.zeros((len(scene), len(self.words)), dtype=np.int64)
        for row in range(len(scene)):
            self._check(scene, row)
            told = [column for number in self.numbers for column in number.encode(scene.entities[row].get(number.name))]
            if max(map(abs, told), default=0.0) > FARTHEST:
                self._refuse_far(scene, row)
            numbers[row, : len(told)] = told
            categories[row] = list(self._places(scene, row))
        return numbers, categories

    def _places(self, scene: Scene, row: int) -> Iterator[int]:
        before = 1
        for word in self.words:
            value = scene.entities[row].get(word.name)
            if value is not None and value not in word.numbers:
                raise scene.fault(
                    f"the {word.name} of entity {row + 1} does not occur in the training data",
                    found=repr(value),
                    wanted=listed(word.values),
                    do="correct it, or train with examples of it",
                )
            yield 0 if value is None else before + word.numbers[str(value)]
            before += len(word.values)

    def _check(self, scene: Scene, row: int) -> None:
        """That it has the fields of the training data, and no others, and each of its kind."""
        entity, known = scene.entities[row], self.fields
        for name, field in known.items():
            value, kind = entity.get(name), str if isinstance(field, Word) else float
            if value is None and not field.optional:
                there = [told for told in entity if entity[told] is not None]
                raise scene.fault(f"entity {row + 1} has no {name}", found=listed(there), wanted=listed(known))
            if value is not None and not isinstance(value, kind):
                wanted = listed(field.values) if isinstance(field, Word) else "a number, as in the training data"
                raise scene.fault(
                    f"the {name} of entity {row + 1} is of another kind", found=repr(value), wanted=wanted
                )

    def _refuse_far(self, scene: Scene, row: int) -> None:
        for number in self.numbers:
            value = scene.entities[row].get(number.name)
            if abs(number.encode(value)[0]) > FARTHEST:
                raise scene.fault(
                    f"the {number.name} of entity {row + 1} is too far from those of the training data",
                    found=repr(value),
                    wanted=about(number.mean, number.scale),
                )

    def unknown(self, scene: Scene, *, without: Sequence[str] = ()) -> None:
        """Refuses fields that the training data does not have, unless they say nothing."""
        known = {*self.fields, *without}
        for row, entity in enumerate(scene.entities, start=1):
            if strange := [name for name, value in entity.items() if value is not None and name not in known]:
                what = f"entity {row} has a field {strange[0]} that the training data does not have"
                raise scene.fault(what, do=nearest(strange[0], known))


def standard(values: Iterable[Value]) -> tuple[float, float]:
    """Mean and standard deviation; 1 where all are equal but for rounding (three times 0.1 deviate by 1e-17)."""
    array = np.array([float(value or 0.0) for value in values], dtype=np.float64)
    scale, rounding = float(array.std()), ROUNDING * float(np.abs(array).max())
    return float(array.mean()), scale if scale > rounding else max(1.0, rounding)


def about(mean: float, scale: float) -> str:
    """What numbers are usual."""
    return f"about {mean:.6g}, give or take {scale:.6g}"


def listed(values: Iterable[str]) -> str:
    """The first of them."""
    names = list(values)
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def _refuse_ragged(scenes: Sequence[Scene]) -> None:
    """Lists of numbers say by their places what they mean, so they have as many numbers in all scenes."""
    plain = [scene for scene in scenes if scene.plain]
    for first, scene in pairwise(plain):
        if len(scene.entities[0]) != len(first.entities[0]):
            raise scene.fault(
                "the entities have another number of numbers than before",
                found=f"{len(scene.entities[0])} here, {len(first.entities[0])} in {first.place}",
                wanted="as many in all scenes; or objects, whose fields may be missing",
            )


def _column(scenes: Sequence[Scene], name: str) -> list[Value]:
    """A field of all entities; it has words everywhere, or numbers everywhere."""
    found: list[Value] = []
    kinds: dict[type, Scene] = {}
    for scene in scenes:
        for entity in scene.entities:
            value = entity.get(name)
            found.append(value)
            if value is not None:
                kinds.setdefault(type(value), scene)
            if len(kinds) > 1:
                first = next(iter(kinds.values())).place
                do = "write all of them as numbers, or all as words"
                raise scene.fault(f"{name} is {value!r} here, and of another kind before", found=first, do=do)
    return found
