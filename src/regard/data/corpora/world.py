"""The little world: hunters and hiders in a square with walls. Who sees no foe cannot know of one.

A scene is what a user would write for a game of their own: things with features (`entities`), who can see whom
(`relation`), and what is to be foretold (`target`). The walls are told for the picture only. No feature says where they
are, so what they hide can be known from the relation alone.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from regard.data.corpora.sight import line_of_sight
from regard.errors import DataError
from regard.files import write_text
from regard.seeds import derive

Scene = dict[str, Any]
SIDE = 10.0
HUNTERS, HIDERS, WALLS = (1, 3), (2, 4), (3, 5)
"""Fewest and most of them in a scene."""
LENGTHS = (2.5, 5.0)
APART = 1.0
"""How far any two are from each other at least, and half of it from a wall's line."""
MOVES = ("→", "↑", "←", "↓")
STAY = "·"
CLEAR, SLANT = 0.5, 8.0
"""A move is told only if it is clear: the nearest foe in sight is nearer than the second by so much, and its direction
so many degrees from the diagonal between two moves."""
Goal = Callable[[list[str], np.ndarray, np.ndarray], Any]


def moves(kinds: list[str], places: np.ndarray, seen: np.ndarray) -> list[str | None]:
    """Of each one: a hunter runs to the nearest hider that it sees, a hider away from the nearest hunter that it sees;
    who sees none stays. None where the choice is not clear."""
    return [_move(i, kinds, places, seen) for i in range(len(kinds))]


def chance(kinds: list[str], places: np.ndarray, seen: np.ndarray) -> float:
    """Of the whole scene: the hiders' chance to win, that is the share of them that no hunter sees."""
    hidden = [not seen[_foes(i, kinds), i].any() for i, kind in enumerate(kinds) if kind == "hider"]
    return round(sum(hidden) / len(hidden), 4)


GOALS: Mapping[str, Goal] = {"moves": moves, "chance": chance}
"""What is to be foretold: something of each one, or one number of the whole."""


def scenes(seed: int, goal: str = "moves") -> Iterator[Scene]:
    """Scenes without end, the same for the same seed."""
    number = 0
    while True:
        yield _scene(np.random.default_rng(derive(seed, "world", number)), GOALS[goal])
        number += 1


def write_world(
    directory: Path,
    seed: int = 1,
    *,
    goal: str = "moves",
    train: int = 4000,
    val: int = 500,
    test: int = 1000,
    overwrite: bool = False,
) -> dict[str, list[str]]:
    """train.jsonl, val.jsonl and test.jsonl, and where they are; however many there are to train on, those held out are
    the same. Files of these names that say something else are left alone, unless they may be replaced."""
    endless = scenes(seed, goal)
    texts = {}
    for split, count in {"val": val, "test": test, "train": train}.items():
        lines = (json.dumps(scene, ensure_ascii=False) + "\n" for scene in islice(endless, count))
        texts[directory / f"{split}.jsonl"] = "".join(lines)
    for path, text in texts.items():
        if _says_something_else(path, text) and not overwrite:
            raise DataError(
                f"{path} is there already, and says something else.", do="choose another --out, or --overwrite"
            )
    for path, text in texts.items():
        write_text(path, text)
    return {path.stem: [str(path)] for path in texts}


def _says_something_else(path: Path, text: str) -> bool:
    try:
        return path.exists() and not (path.is_file() and path.read_bytes() == text.encode())
    except OSError as error:
        raise DataError(f"{path} cannot be used: {error.strerror}.", do="choose another --out") from None


def _scene(random: np.random.Generator, goal: Goal) -> Scene:
    hunters, hiders = (int(random.integers(low, high + 1)) for low, high in (HUNTERS, HIDERS))
    walls = _walls(random)
    places = _places(random, hunters + hiders, walls)
    kinds = [str(kind) for kind in random.permutation(["hunter"] * hunters + ["hider"] * hiders)]
    seen = line_of_sight(places, walls)
    entities = [{"kind": kind, "x": x, "y": y} for kind, (x, y) in zip(kinds, places.tolist(), strict=True)]
    relation = seen.astype(int).tolist()
    return {"entities": entities, "relation": relation, "target": goal(kinds, places, seen), "walls": walls.tolist()}


def _walls(random: np.random.Generator) -> np.ndarray:
    """Upright and level ones, anywhere in the square."""
    count = int(random.integers(WALLS[0], WALLS[1] + 1))
    lengths = random.uniform(*LENGTHS, count)
    upright = random.integers(0, 2, count).astype(bool)
    along = random.uniform(0, SIDE - lengths)
    aside = random.uniform(0.15 * SIDE, 0.85 * SIDE, count)
    level = np.stack([along, aside, along + lengths, aside], axis=1)
    return np.round(np.where(upright[:, None], level[:, [1, 0, 3, 2]], level), 2)


def _places(random: np.random.Generator, count: int, walls: np.ndarray) -> np.ndarray:
    """Places that are neither too near to each other nor to a wall."""
    found: list[np.ndarray] = []
    while len(found) < count:
        place = np.round(random.uniform(0.4, SIDE - 0.4, 2), 2)
        near = any(np.hypot(*(place - other)) < APART for other in found)
        if not near and min((_distance(place, wall) for wall in walls), default=SIDE) >= APART / 2:
            found.append(place)
    return np.stack(found)


def _distance(place: np.ndarray, wall: np.ndarray) -> float:
    """From a place to the nearest point of a wall."""
    a, along = wall[:2], wall[2:] - wall[:2]
    share = np.clip((place - a) @ along / (along @ along), 0, 1)
    return float(np.hypot(*(place - a - share * along)))


def _foes(i: int, kinds: list[str]) -> np.ndarray:
    return np.array([j for j, kind in enumerate(kinds) if kind != kinds[i]], dtype=int)


def _move(i: int, kinds: list[str], places: np.ndarray, seen: np.ndarray) -> str | None:
    foes = _foes(i, kinds)
    ways = (places[foes] - places[i])[seen[i, foes]]
    if not len(ways):
        return STAY
    distances = np.hypot(*ways.T)
    first, *others = np.argsort(distances)
    clear = not others or distances[others[0]] - distances[first] >= CLEAR
    way = ways[first] if kinds[i] == "hunter" else -ways[first]
    quarter, rest = divmod(np.degrees(np.arctan2(way[1], way[0])) + 45, 90)
    return MOVES[int(quarter) % 4] if clear and SLANT <= rest <= 90 - SLANT else None
