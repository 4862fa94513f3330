"""Scenes from JSONL: things with features, who can see whom, and what is to be foretold. A scene a line:

    {"entities": [{"kind": "hunter", "x": 1, "y": 2}, {"kind": "hider", "x": 4, "y": 2}],
     "relation": [[1, 0], [1, 1]],         relation[i][j]: whether i can see j; left out: everybody sees everybody
     "target": ["stay", "run"],            of each entity (null: not known), or one value for the whole
     "walls": [[3, 1, 3, 5]]}              for the picture only: x, y, x, y

An entity has fields with names, or is a list of numbers. "name" is what pictures call it, and is no feature.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool

from regard.config import nearest
from regard.data.lines import joined_digest, lines_of, valid_unicode
from regard.data.tables import CORRECT, SHOWN
from regard.errors import DataError

Value = float | str | None
Field = Mapping[str, Value]
KEYS = ("entities", "relation", "target", "walls")
NAME = "name"
LARGEST = 1e100
"""Numbers stay below it, so that means and squares of them can be computed."""
SHAPE = 'an object with "entities", and "relation" and "target" if wanted'


@dataclass(frozen=True, eq=False)
class Scene:
    """`entities[i]`: the value of each field, numbers as float, true and false as 1 and 0. `target`: of each entity if
    it is a tuple, of the whole if it is not, None if there is none; classes are strings. `plain`: its entities were
    lists, not objects. `place`: where it stands."""

    entities: tuple[Field, ...]
    names: tuple[str, ...]
    relation: Bool[np.ndarray, "N N"] | None = None
    target: tuple[Value, ...] | Value = None
    walls: tuple[tuple[float, ...], ...] = ()
    plain: bool = False
    place: str = ""

    def __len__(self) -> int:
        return len(self.entities)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The first word among the fields of each entity, "" if it has none."""
        return tuple(
            next((value for value in entity.values() if isinstance(value, str)), "") for entity in self.entities
        )

    @property
    def places(self) -> list[tuple[float, float]] | None:
        """x and y of each entity, None if one of them has none."""
        found = [(entity.get("x"), entity.get("y")) for entity in self.entities]
        numbers = [(x, y) for x, y in found if isinstance(x, float) and isinstance(y, float)]
        return numbers if len(numbers) == len(found) else None

    def fault(self, what: str, *, found: str = "", wanted: str = "", do: str = CORRECT) -> DataError:
        """Something that is wrong with it, told with its place."""
        return DataError(f"{self.place}: {what}" if self.place else what, found=found, wanted=wanted, do=do)


@dataclass(frozen=True)
class Scenes:
    """The lines of some files, one after the other; a blank one is None."""

    lines: tuple[Scene | None, ...]
    fingerprint: str

    @cached_property
    def rows(self) -> tuple[Scene, ...]:
        """The scenes."""
        return tuple(scene for scene in self.lines if scene is not None)

    def __len__(self) -> int:
        return len(self.rows)


def read_scenes(paths: Sequence[str]) -> Scenes:
    """All scenes."""
    lines: list[Scene | None] = []
    digests = []
    for path in paths:
        digest = hashlib.sha256()
        lines += scenes_by_line(path, digest.update)
        digests.append(digest.hexdigest())
    if not any(lines):
        raise DataError(f"There is no scene in {' and '.join(paths)}.", wanted=f"a JSON object a line: {SHAPE}")
    return Scenes(tuple(lines), joined_digest(digests))


def scenes_by_line(path: str, update: Callable[[bytes], None] = lambda raw: None) -> Iterator[Scene | None]:
    """The scene of each line, None of a blank one; what is wrong with a line is told with its file and number."""
    for line in lines_of(path, update):
        try:
            scene = scene_of(line.decoded()) if line.raw.strip() else None
        except DataError as fault:
            raise line.blamed(fault) from None
        yield scene and replace(scene, place=f"{path}, line {line.number}")


def scene_of(given: str | Mapping[str, Any]) -> Scene:
    """A scene from its JSON, or from what that says; instead of lists, arrays will do."""
    row = _parsed(given) if isinstance(given, str) else given
    if not isinstance(row, Mapping):
        raise DataError("a scene is a JSON object", found=_shown(row), wanted=SHAPE, do=CORRECT)
    if strange := [key for key in row if key not in KEYS]:
        raise DataError(f"a scene has no key {strange[0]!r}", wanted=", ".join(KEYS), do=nearest(str(strange[0]), KEYS))
    told = {key: value.tolist() if hasattr(value, "tolist") else value for key, value in row.items()}
    entities, names = _entities(told.get("entities"))
    return Scene(
        entities,
        names,
        relation=_relation(told.get("relation"), len(entities)),
        target=_target(told.get("target"), len(entities)),
        walls=_walls(told.get("walls")),
        plain=not isinstance(told["entities"][0], Mapping),
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise DataError("not JSON", found=f"{error.msg} at column {error.colno}", wanted=SHAPE, do=CORRECT) from None
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, a thousand nested lists
        raise DataError("not readable JSON", found=str(error)[:SHOWN], do=CORRECT) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """What JSON calls an object; a key that stands there twice would hide a value."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise DataError(f"the key {key!r} stands twice in one object", wanted="each key once", do=CORRECT)
        found[key] = value
    return found


def _entities(given: Any) -> tuple[tuple[Field, ...], tuple[str, ...]]:
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        found = "no entities" if given is None or given == [] else _shown(given)
        raise DataError("a scene needs entities", found=found, wanted="a list of at least one", do=CORRECT)
    entities = tuple(_entity(number, entity) for number, entity in enumerate(given, start=1))
    sizes = {len(entity) for entity in given if not isinstance(entity, Mapping)}
    if sizes and (len(sizes) > 1 or any(isinstance(entity, Mapping) for entity in given)):
        kinds = sorted({"objects" if isinstance(entity, Mapping) else f"{len(entity)} numbers" for entity in given})
        wanted = "all of them objects, or all of them lists of as many numbers"
        raise DataError("the entities of a scene differ in kind", found=" and ".join(kinds), wanted=wanted, do=CORRECT)
    return entities, _names(given, entities)


def _entity(number: int, given: Any) -> Field:
    """Its fields; those of a list are called "1", "2" …"""
    if isinstance(given, Mapping):
        fields = {valid_unicode("a field", str(key)): value for key, value in given.items() if key != NAME}
        if "" in fields:
            raise DataError(f"a field of entity {number} has no name", found=_shown(given), wanted="names", do=CORRECT)
    elif isinstance(given, Sequence) and not isinstance(given, str):
        fields = {str(place): value for place, value in enumerate(given, start=1)}
    else:
        wanted = 'an object such as {"kind": "hunter", "x": 1.5}, or a list of numbers'
        raise DataError(f"entity {number} cannot be read", found=_shown(given), wanted=wanted, do=CORRECT)
    return {field: _value(f"{field} of entity {number}", value) for field, value in fields.items()}


def _value(what: str, given: Any) -> Value:
    given = given.item() if isinstance(given, np.generic) else given
    if isinstance(given, int | float) and abs(given) < LARGEST:
        return float(given)
    if (isinstance(given, str) and given) or given is None:
        return given and valid_unicode(what, given)
    wanted = f"a number below {LARGEST:g}, a word, true or false"
    raise DataError(f"{what} cannot be used", found=_shown(given), wanted=wanted, do=CORRECT)


def _names(given: Sequence[Any], entities: Sequence[Field]) -> tuple[str, ...]:
    """What each is called: its name or, without one, its kind and which of that kind it is."""
    counts: dict[str, int] = {}
    names = []
    for told, kind in zip(given, Scene(tuple(entities), ()).kinds, strict=True):
        name = told.get(NAME) if isinstance(told, Mapping) else None
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise DataError("the name of an entity is not text", found=_shown(name), wanted="a string", do=CORRECT)
        counts[kind] = counts.get(kind, 0) + 1
        names.append(valid_unicode("a name", name.strip()) if name else f"{kind} {counts[kind]}".strip())
    return tuple(names)


def _relation(given: Any, size: int) -> Bool[np.ndarray, "N N"] | None:
    if given is None:
        return None
    wanted = f"{size} rows of {size} numbers, 1 where the entity of the row can see that of the column, 0 where not"
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise DataError("the relation is no list of rows", found=_shown(given), wanted=wanted, do=CORRECT)
    rows = given
    lengths = [len(row) if isinstance(row, Sequence) and not isinstance(row, str) else -1 for row in rows]
    if lengths != [size] * size:
        wrong = next((place for place, length in enumerate(lengths, start=1) if length != size), None)
        row = f"{len(rows)} rows" if len(rows) != size else f"{_shown(rows[(wrong or 1) - 1])} as row {wrong}"
        raise DataError("the relation does not fit the entities", found=row, wanted=wanted, do=CORRECT)
    if strange := [value for row in rows for value in row if value not in (0, 1)]:
        raise DataError("the relation is not of 0 and 1", found=_shown(strange[0]), wanted=wanted, do=CORRECT)
    return np.array(rows, dtype=bool)


def _target(given: Any, size: int) -> tuple[Value, ...] | Value:
    if not isinstance(given, Sequence) or isinstance(given, str):
        return _answer("the target", given)
    if len(given) != size:
        found = f"{len(given)} for {size} entities"
        raise DataError("the target does not fit the entities", found=found, wanted="one for each", do=CORRECT)
    return tuple(_answer(f"the target of entity {number}", value) for number, value in enumerate(given, start=1))


def _answer(what: str, given: Any) -> Value:
    """A class (true and false are classes, too) or a number."""
    return str(given).lower() if isinstance(given, bool) else _value(what, given)


def _walls(given: Any) -> tuple[tuple[float, ...], ...]:
    walls = [] if given is None else given
    try:
        if not isinstance(walls, Sequence) or any(isinstance(wall, str) for wall in walls):
            raise TypeError
        lines = tuple(tuple(float(end) for end in wall) for wall in walls)
    except (TypeError, ValueError, OverflowError):
        lines = ((),)
    if any(len(line) != 4 or not all(abs(end) < LARGEST for end in line) for line in lines):
        wanted = "a list of [x, y, x, y], from one end to the other"
        raise DataError("the walls cannot be read", found=_shown(given), wanted=wanted, do=CORRECT)
    return lines


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:SHOWN]
