"""The little world: rays meet walls where they should, and targets follow from what is seen."""

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.corpora.sight import line_of_sight
from regard.data.corpora.world import GOALS, MOVES, STAY, scenes, write_world
from regard.data.scenes import read_scenes, scene_of
from regard.errors import DataError, RegardError

FEW = tuple(islice(scenes(1), 150))
points = st.tuples(*[st.integers(0, 12)] * 2)


def meets(p: tuple[int, ...], q: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether two segments that are not parallel meet: the ends of each lie on both sides of the other (in whole
    numbers, by the sign of the area of three points)."""

    def side(o: tuple[int, ...], u: tuple[int, ...], v: tuple[int, ...]) -> int:
        return int(np.sign((u[0] - o[0]) * (v[1] - o[1]) - (u[1] - o[1]) * (v[0] - o[0])))

    return side(p, q, a) * side(p, q, b) <= 0 and side(a, b, p) * side(a, b, q) <= 0


@settings(max_examples=200, deadline=None)
@given(p=points, q=points, a=points, b=points)
def test_a_wall_hides_exactly_when_it_is_crossed(
    p: tuple[int, int], q: tuple[int, int], a: tuple[int, int], b: tuple[int, int]
) -> None:
    seen = line_of_sight(np.array([p, q], dtype=float), np.array([[*a, *b]], dtype=float))
    parallel = (q[0] - p[0]) * (b[1] - a[1]) == (q[1] - p[1]) * (b[0] - a[0])
    assert seen[0, 1] == seen[1, 0] == (parallel or not meets(p, q, a, b))
    assert seen[0, 0]
    assert seen[1, 1]


def test_without_walls_everybody_sees_everybody() -> None:
    assert line_of_sight(np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 1.0]]), np.zeros((0, 4))).all()


def test_the_relation_is_the_line_of_sight_past_the_walls_that_are_told() -> None:
    for scene in FEW:
        places = np.array([[entity["x"], entity["y"]] for entity in scene["entities"]])
        assert line_of_sight(places, np.array(scene["walls"])).astype(int).tolist() == scene["relation"]
    hidden = [1 - np.mean(scene["relation"]) for scene in FEW]
    assert 0.15 < np.mean(hidden) < 0.6  # walls matter, and do not hide everything


def test_everybody_goes_by_the_nearest_foe_in_sight() -> None:
    said = 0
    for scene in FEW:
        for i, (one, target) in enumerate(zip(scene["entities"], scene["target"], strict=True)):
            foes = [
                (abs(complex(other["x"] - one["x"], other["y"] - one["y"])), other)
                for j, other in enumerate(scene["entities"])
                if other["kind"] != one["kind"] and scene["relation"][i][j]
            ]
            if not foes:
                assert target == STAY
            elif target is not None:
                said += 1
                foe = min(foes, key=lambda found: found[0])[1]
                sign = 1 if one["kind"] == "hunter" else -1
                x, y = sign * (foe["x"] - one["x"]), sign * (foe["y"] - one["y"])
                assert target == (("→" if x > 0 else "←") if abs(x) > abs(y) else ("↑" if y > 0 else "↓"))
    assert said > 300


def test_the_moves_are_about_equally_frequent() -> None:
    targets = [target for scene in FEW for target in scene["target"]]
    shares = [targets.count(move) / len(targets) for move in (*MOVES, STAY)]
    assert min(shares) > 0.08
    assert max(shares) < 0.4


def test_the_chance_is_the_share_of_hiders_that_no_hunter_sees() -> None:
    for scene in islice(scenes(2, "chance"), 50):
        kinds = [entity["kind"] for entity in scene["entities"]]
        hiders = [i for i, kind in enumerate(kinds) if kind == "hider"]
        hunters = [i for i, kind in enumerate(kinds) if kind == "hunter"]
        free = sum(not any(scene["relation"][hunter][hider] for hunter in hunters) for hider in hiders)
        assert scene["target"] == pytest.approx(free / len(hiders), abs=1e-4)


@pytest.mark.parametrize("goal", GOALS)
def test_the_same_seed_is_the_same_world_and_another_is_another(goal: str) -> None:
    first, again, other = (list(islice(scenes(seed, goal), 3)) for seed in (1, 1, 2))
    assert first == again != other


def test_what_is_held_out_does_not_depend_on_how_much_is_trained_on(tmp_path: Path) -> None:
    for name, train in (("small", 3), ("large", 9)):
        files = write_world(tmp_path / name, train=train, val=4, test=5)
        assert [len(read_scenes(files[split])) for split in ("train", "val", "test")] == [train, 4, 5]
    for split in ("val", "test"):
        small, large = ((tmp_path / name / f"{split}.jsonl").read_bytes() for name in ("small", "large"))
        assert small == large
    lines = [line for split in files for line in Path(files[split][0]).read_text(encoding="utf-8").splitlines()]
    assert len(set(lines)) == len(lines)


def test_the_world_does_not_write_over_what_somebody_else_has_written(tmp_path: Path) -> None:
    write_world(tmp_path, train=1, val=1, test=1)
    write_world(tmp_path, train=1, val=1, test=1)  # the same again is no loss
    mine = tmp_path / "test.jsonl"
    mine.write_text("mine\n")
    before = (tmp_path / "train.jsonl").read_bytes()
    with pytest.raises(DataError, match=r"test\.jsonl is there already(.|\n)*--overwrite"):
        write_world(tmp_path, train=2, val=1, test=1)
    assert mine.read_text() == "mine\n"
    assert (tmp_path / "train.jsonl").read_bytes() == before  # all or nothing
    for overwrite in (False, True):
        with pytest.raises(RegardError, match=r"[Cc](annot be used|ould not write)"):
            write_world(tmp_path / ("x" * 300), train=1, val=1, test=1, overwrite=overwrite)
    write_world(tmp_path, train=2, val=1, test=1, overwrite=True)
    assert len(read_scenes([str(mine)])) == 1


def test_a_scene_of_the_world_is_read_as_it_was_written() -> None:
    scene = scene_of(json.dumps(FEW[0]))
    assert scene.kinds == tuple(entity["kind"] for entity in FEW[0]["entities"])
    assert scene.relation is not None
    assert scene.relation.astype(int).tolist() == FEW[0]["relation"]
    assert scene.target == tuple(FEW[0]["target"])
    assert scene.walls == tuple(map(tuple, FEW[0]["walls"]))
