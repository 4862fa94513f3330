"""Scenes are read as they were meant, and what is wrong with a line is told with its place."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.data.scenes import read_scenes, scene_of, scenes_by_line
from regard.errors import DataError

TWO = [{"kind": "cat", "x": 1}, {"kind": "dog", "x": 2.5}]
SCENE = {"entities": TWO, "relation": [[1, 0], [1, 1]], "target": ["sit", None]}


def written(path: Path, *rows: Any) -> str:
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_a_scene_is_what_it_says() -> None:
    scene = scene_of({**SCENE, "walls": [[0, 0, 1, 5]]})
    assert scene.entities == ({"kind": "cat", "x": 1.0}, {"kind": "dog", "x": 2.5})
    assert scene.relation is not None
    assert np.array_equal(scene.relation, [[True, False], [True, True]])
    assert scene.target == ("sit", None)
    assert scene.walls == ((0.0, 0.0, 1.0, 5.0),)
    assert scene_of(json.dumps(SCENE)).entities == scene.entities


def test_arrays_say_the_same_as_lists() -> None:
    scene = scene_of({"entities": np.array([[1, 2.5], [3, 4]]), "relation": np.eye(2), "target": np.array([1, 2])})
    assert scene.entities == ({"1": 1.0, "2": 2.5}, {"1": 3.0, "2": 4.0})
    assert scene.relation is not None
    assert np.array_equal(scene.relation, np.eye(2, dtype=bool))
    assert scene.target == (1.0, 2.0)
    assert scene_of({"entities": [{"x": np.float32(1.5), "y": np.int64(2)}]}).places == [(1.5, 2.0)]


def test_relation_and_target_may_be_left_out() -> None:
    scene = scene_of({"entities": TWO})
    assert scene.relation is None
    assert scene.target is None


def test_entities_may_be_lists_of_numbers() -> None:
    scene = scene_of({"entities": [[1, 2.5], [True, -3]]})
    assert scene.entities == ({"1": 1.0, "2": 2.5}, {"1": 1.0, "2": -3.0})
    assert scene.names == ("1", "2")


def test_an_entity_is_called_by_its_name_or_by_its_kind_and_number() -> None:
    named = {"name": "小红", "kind": "cat"}
    scene = scene_of({"entities": [{"kind": "cat"}, {"kind": "dog"}, named, {"kind": "cat"}]})
    assert scene.names == ("cat 1", "dog 1", "小红", "cat 3")
    assert scene.entities[2] == {"kind": "cat"}  # the name is no feature


def test_places_are_there_if_all_have_them() -> None:
    assert scene_of({"entities": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]}).places == [(1.0, 2.0), (3.0, 4.0)]
    assert scene_of({"entities": [{"x": 1, "y": 2}, {"x": 3}]}).places is None


@pytest.mark.parametrize(("given", "meant"), [(True, "true"), (0.25, 0.25), (3, 3.0), ("win", "win"), (None, None)])
def test_a_target_of_the_whole_is_a_class_or_a_number(given: Any, meant: Any) -> None:
    assert scene_of({"entities": TWO, "target": given}).target == meant


WRONG: dict[str, tuple[Any, list[str]]] = {
    "not JSON": ('{"entities": [', ["not JSON", "column"]),
    "no object": ([1, 2], ["a scene is a JSON object", "[1, 2]"]),
    "no entities": ({"target": 1}, ["needs entities", "no entities"]),
    "none of them": ({"entities": []}, ["needs entities", "at least one"]),
    "a key with a slip": ({**SCENE, "relations": 1}, ["no key 'relations'", "did you mean relation?"]),
    "an entity that is a word": ({"entities": ["cat"]}, ["entity 1 cannot be read", '"cat"', "a list of numbers"]),
    "lists and objects": ({"entities": [[1], {"x": 1}]}, ["differ in kind", "1 numbers and objects"]),
    "lists of unequal length": ({"entities": [[1], [1, 2]]}, ["differ in kind", "1 numbers and 2 numbers"]),
    "a field that is a list": ({"entities": [{"x": [1]}]}, ["x of entity 1 cannot be used", "[1]"]),
    "not a number": ('{"entities": [{"x": NaN}]}', ["x of entity 1", "NaN"]),
    "a number of 400 digits": (f'{{"entities": [{{"x": 1{"0" * 400}}}]}}', ["x of entity 1", "below 1e+100"]),
    "a target of 400 digits": (f'{{"entities": [[1]], "target": -1{"0" * 400}}}', ["the target cannot be used"]),
    "an endless number": ('{"entities": [{"x": 1e999}]}', ["x of entity 1", "Infinity"]),
    "an empty word": ({"entities": [{"kind": ""}]}, ["kind of entity 1"]),
    "a name that is a number": ({"entities": [{"name": 3, "x": 1}]}, ["name of an entity", "3"]),
    "too few rows": ({"entities": TWO, "relation": [[1, 1]]}, ["relation does not fit", "1 rows", "2 rows of 2"]),
    "a short row": ({"entities": TWO, "relation": [[1, 1], [1]]}, ["relation does not fit", "[1] as row 2"]),
    "a relation of weights": ({"entities": TWO, "relation": [[1, 0.5], [1, 1]]}, ["not of 0 and 1", "0.5"]),
    "a relation that is a word": ({"entities": TWO, "relation": "all"}, ["no list of rows", '"all"', "2 rows of 2"]),
    "a relation that is an object": ({"entities": TWO, "relation": {"a": 1}}, ["no list of rows", '{"a": 1}']),
    "half a character in a word": ('{"entities": [{"kind": "a\\ud800"}]}', ["kind of entity 1", "surrogate", "ud800"]),
    "half a character in a name": ('{"entities": [{"name": "a\\ud800", "x": 1}]}', ["a name is not valid Unicode"]),
    "half a character in a field": ('{"entities": [{"a\\ud800": 1}]}', ["a field is not valid Unicode"]),
    "half a character in a target": ('{"entities": [[1]], "target": "\\udfff"}', ["the target is not valid Unicode"]),
    "a field without a name": ({"entities": [{"": 1}]}, ["a field of entity 1 has no name"]),
    "a field twice": ('{"entities": [{"x": 1, "x": 5}]}', ["the key 'x' stands twice", "each key once"]),
    "a target twice": ('{"entities": [[1]], "target": 1, "target": 2}', ["the key 'target' stands twice"]),
    "too few targets": ({"entities": TWO, "target": ["sit"]}, ["target does not fit", "1 for 2 entities"]),
    "a target that is an object": ({"entities": TWO, "target": {"a": 1}}, ["the target cannot be used"]),
    "a wall without an end": ({"entities": TWO, "walls": [[1, 2, 3]]}, ["walls cannot be read", "[x, y, x, y]"]),
    "a wall without end": (f'{{"entities": [[1]], "walls": [[0, 0, 0, 1{"0" * 400}]]}}', ["walls cannot be read"]),
    "a wall of digits": ({"entities": TWO, "walls": ["1234"]}, ["walls cannot be read", "1234"]),
    "walls that are an object": ({"entities": TWO, "walls": {}}, ["walls cannot be read"]),
    "walls that are a number": ({"entities": TWO, "walls": 3}, ["walls cannot be read", "3"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_line_is_told_with_its_place(tmp_path: Path, name: str) -> None:
    row, words = WRONG[name]
    path = written(tmp_path / "scenes.jsonl", SCENE, row)
    with pytest.raises(DataError) as caught:
        read_scenes([path])
    assert str(caught.value).startswith(f"{path}, line 2: ")
    assert [word for word in words if word not in str(caught.value)] == []
    assert caught.value.do


def test_a_file_without_scenes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no scene in .*empty\.jsonl"):
        read_scenes([written(tmp_path / "empty.jsonl", "")])


def test_blank_lines_are_passed_over_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", SCENE, "", SCENE)
    scenes = read_scenes([path])
    assert [scene.place for scene in scenes.rows] == [f"{path}, line 1", f"{path}, line 3"]
    assert [line is None for line in scenes.lines] == [False, True, False]
    assert [scene is None for scene in scenes_by_line(path)] == [False, True, False]


def test_several_files_and_packed_ones_are_read(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", SCENE)
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress(Path(path).read_bytes()))
    both = read_scenes([path, str(packed)])
    assert len(both) == 2
    assert both.fingerprint != read_scenes([path]).fingerprint == read_scenes([str(packed)]).fingerprint
