"""Who looks at whom, on a map: lines where there is weight, none where nobody may look."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.data.scenes import scene_of
from regard.errors import ConfigError
from regard.insight import TokenRow, Trace, draw_map, picture_of
from regard.insight.heatmap import draw
from regard.insight.map import MAP, Map
from regard.insight.map_panel import SIGHT, _styles

SCENE: dict[str, Any] = {
    "entities": [
        {"kind": "猎人", "x": 0, "y": 0},
        {"kind": "hider", "x": 4, "y": 0},
        {"kind": "hider", "x": 4, "y": 3, "name": "Ann & <Bo>"},
    ],
    "relation": [[1, 0, 1], [0, 1, 1], [1, 1, 1]],
    "walls": [[2, -1, 2, 1]],
}
WEIGHTS = np.array([[0.3, 0.0, 0.7], [0.0, 0.01, 0.99], [0.5, 0.5, 0.0]], dtype=np.float32)


def trace(scene: dict[str, Any] = SCENE, *, heads: int = 2, pooled: bool = False, said: tuple[str, ...] = ()) -> Trace:
    read = scene_of(scene)
    rows = {"entities": TokenRow.of(read.names), "said": TokenRow.of(said or ("run", "stay", "→"))}
    weights = {f"encoder.{i}.self": np.stack([WEIGHTS] * heads) for i in range(2)}
    axes = dict.fromkeys(weights, ("entities", "entities"))
    if pooled:
        weights["pooling"] = np.array([[[0.2, 0.3, 0.5]]], dtype=np.float32)
        axes["pooling"] = ("said", "entities")
    return Trace(rows, weights, axes, {"model": "hunt", MAP: Map.of(read, rows["said"].labels).tree()})


def lines(path: Path, head: str = "encoder.0.self·head0") -> set[tuple[int, int]]:
    """Which entities have a line (or a ring around themselves) in that panel."""
    ids = [node.get("id", "") for node in ElementTree.parse(path).iter()]
    found = (re.fullmatch(rf"{re.escape(head)}:(\d+)-(\d+)", id) for id in ids)
    return {(int(match[1]), int(match[2])) for match in found if match}


def texts(path: Path) -> list[str]:
    return [node.text or "" for node in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]


def test_there_is_a_line_for_every_weight_and_none_for_a_hidden_pair(tmp_path: Path) -> None:
    drawn = lines(draw_map(trace(), path=tmp_path / "map.svg"))
    assert drawn == {(0, 0), (0, 2), (1, 2), (2, 0), (2, 1)}  # 0 and 1 are hidden from each other; 0.01 is too thin
    assert lines(tmp_path / "map.svg", "encoder.1.self·head1") == drawn


def test_what_is_there_and_what_is_said_can_be_read_in_any_language(tmp_path: Path) -> None:
    written = texts(draw_map(trace(), path=tmp_path / "map.svg", layer=0, head=1))
    assert {"猎人 1", "hider 1", "Ann & <Bo>", "run", "stay", "→"} <= set(written)
    assert {"猎人", "hider", "can see", "wall", "looks at (thick: much)", "encoder.0.self · head 1"} <= set(written)
    assert draw_map(trace(), path=tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_trace_is_the_same_picture(tmp_path: Path) -> None:
    first, second = (draw_map(trace(), path=tmp_path / name).read_bytes() for name in ("a.svg", "b.svg"))
    assert first == second


def test_a_head_that_none_has_is_refused_even_if_all_have_only_one(tmp_path: Path) -> None:
    for heads in (1, 2):
        with pytest.raises(ConfigError, match="no head 7"):
            draw_map(trace(heads=heads, pooled=True, said=("flee",)), path=tmp_path / "x.svg", head=7)


def test_a_head_a_layer_their_mean_or_all_of_them_are_drawn(tmp_path: Path) -> None:
    def titles(**which: Any) -> list[str]:
        found = texts(draw_map(trace(heads=3), path=tmp_path / "x.svg", **which))
        return [text for text in found if text.startswith("encoder")]

    assert titles(layer=1, head=2) == ["encoder.1.self · head 2"]
    assert titles(layer=1) == [f"encoder.1.self · head {i}" for i in range(3)]
    assert titles(layer=0, head="mean") == ["encoder.0.self · mean of 3 heads"]
    assert len(titles()) == 6
    with pytest.raises(ConfigError, match="no head 7"):
        titles(head=7)


def test_a_pooling_shows_how_much_each_counts_and_what_is_said_of_the_whole(tmp_path: Path) -> None:
    written = texts(draw_map(trace(pooled=True, said=("0.75",)), path=tmp_path / "x.svg", name="pooling"))
    assert {"0.20", "0.30", "0.50", "hunt · says 0.75", "pooling"} <= set(written)


def test_entities_without_a_place_stand_in_a_circle_and_without_walls_there_are_none(tmp_path: Path) -> None:
    scene = {"entities": [[1, 2], [3, 4], [5, 6]]}
    told = Map.of(scene_of(scene), ("a",))
    assert np.allclose(np.hypot(*np.array(told.places).T), 1, atol=1e-3)
    written = texts(draw_map(trace(scene), path=tmp_path / "x.svg"))
    assert not {"can see", "wall"} & set(written)


def test_walls_are_left_out_where_somebody_has_no_place() -> None:
    scene = {**SCENE, "entities": [{"kind": "a", "x": 100, "y": 200}, {"kind": "a"}, {"kind": "a", "x": 300, "y": 9}]}
    told = Map.of(scene_of(scene), ("a",))
    assert np.allclose(np.hypot(*np.array(told.places).T), 1, atol=1e-3)
    assert told.walls == ()


def test_a_dotted_line_stands_for_each_pair_that_may_look_be_it_in_one_direction(tmp_path: Path) -> None:
    one_way = {**SCENE, "relation": [[1, 0, 1], [0, 1, 0], [0, 1, 1]], "walls": []}
    text = draw_map(trace(one_way), path=tmp_path / "x.svg", layer=0, head=0).read_text(encoding="utf-8")
    assert text.count(f"stroke: {SIGHT}") == 2 + 1  # of 0 and 2, and of 1 and 2; and in the legend


def test_a_legend_of_many_kinds_stays_on_the_picture(tmp_path: Path) -> None:
    kinds = [f"a kind with a long name, {i:02}" for i in range(12)]
    scene = {"entities": [{"kind": kind, "x": i, "y": i % 3} for i, kind in enumerate(kinds)]}
    read = scene_of(scene)
    rows = {"entities": TokenRow.of(read.names)}
    look = {"encoder.0.self": np.eye(12, dtype=np.float32)[None]}
    told = Trace(rows, look, {"encoder.0.self": ("entities", "entities")}, {MAP: Map.of(read, ()).tree()})
    root = ElementTree.parse(draw_map(told, path=tmp_path / "x.svg")).getroot()
    width = float(root.get("viewBox", "").split()[2])
    legend = next(node for node in root.iter() if node.get("id") == "legend_1")
    starts = [float(node.get("x", "")) for node in legend.iter("{http://www.w3.org/2000/svg}text")]
    assert len(starts) == 13
    assert len(set(starts)) == 2  # columns
    assert max(starts) + 24 * 6 < width  # 24 letters are shown, about 6 points wide


def test_many_kinds_are_told_apart() -> None:
    looks = [(look["color"], look["marker"]) for look in _styles([str(kind) for kind in range(36)]).values()]
    assert len(set(looks)) == 36


def test_a_trace_of_entities_is_drawn_as_a_map_and_one_of_words_as_matrices(tmp_path: Path) -> None:
    words = TokenRow.of(["a", "b", "c"])
    plain = Trace({"source": words}, {"encoder.0.self": WEIGHTS[None]}, {"encoder.0.self": ("source", "source")})
    assert picture_of(plain) is draw
    assert picture_of(trace()) is draw_map
    trace().save(tmp_path / "x.npz")
    again = Trace.load(tmp_path / "x.npz")
    assert lines(again.save(tmp_path / "x.svg")) == lines(trace().save(tmp_path / "y.svg"))
