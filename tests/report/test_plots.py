"""Plots name their axes and every series, leave gaps where nothing is known, and can be told apart without colour."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from regard.report import Plot, Series
from regard.report.plots import COLOURS, HATCHES, MARKERS, draw_plot
from tests.report.example import plot


def words(path: Path) -> list[str]:
    return [str(node.text) for node in ElementTree.parse(path).iter() if node.tag.endswith("}text")]


@pytest.mark.parametrize("kind", ["lines", "bars"])
def test_axes_and_series_are_named(tmp_path: Path, kind: str) -> None:
    found = words(draw_plot(Plot(kind, plot().x, plot().series, "词 words", "BLEU"), tmp_path / "p.svg"))
    assert {"词 words", "BLEU", "with", "ohne_$x$", "1–10", "11–20", "21+"} <= set(found)


def test_numbers_on_the_x_axis_keep_their_distance(tmp_path: Path) -> None:
    found = words(
        draw_plot(Plot("lines", [0, 100, 1000], [Series("a", [3.0, 2.0, 1.0])], "update", "loss"), tmp_path / "p.svg")
    )
    assert "100" not in found
    assert {"0", "200", "1000"} <= set(found)


def test_long_names_side_by_side_are_broken_into_lines(tmp_path: Path) -> None:
    names = ["one head", "one head, trained once more", "unbreakable-as-it-stands", "short\nby itself"]
    found = words(draw_plot(Plot("bars", names, [Series("a", [1.0] * 4)], "", "loss"), tmp_path / "p.svg"))
    lines = ["one head", "one head,", "trained once", "more", "unbreakable-as-it-stands", "short", "by itself"]
    assert [word for word in found if word in lines] == lines


@pytest.mark.parametrize("kind", ["lines", "bars"])
@pytest.mark.parametrize("series", [[], [Series("none", [None, None], [None, None], [None, None])]])
def test_a_plot_of_nothing_is_empty_axes(tmp_path: Path, kind: str, series: list[Series]) -> None:
    assert "x" in words(draw_plot(Plot(kind, ["a", "b"], series, "x", "y"), tmp_path / "p.svg"))


def test_more_series_than_colours_can_be_drawn(tmp_path: Path) -> None:
    series = [Series(f"s{i}", [float(i), 1.0]) for i in range(9)]
    found = words(draw_plot(Plot("lines", ["a", "b"], series, "x", "y"), tmp_path / "p.svg"))
    assert {f"s{i}" for i in range(9)} <= set(found)


def test_every_colour_has_its_own_shape() -> None:
    assert len(COLOURS) == len(set(COLOURS)) == len(set(MARKERS)) == len(set(HATCHES))


def test_rude_labels_still_make_an_xml_file(tmp_path: Path) -> None:
    rude = Plot("bars", ["a\x00<b>", "&"], [Series("\udc80]]>", [1.0, 2.0])], "x\x1b", "y")
    assert "a\ufffd<b>" in words(draw_plot(rude, tmp_path / "p.svg"))


@pytest.mark.parametrize(("connected", "pieces"), [(False, 2), (True, 1)])
def test_a_line_leaves_a_gap_or_goes_on_over_it(tmp_path: Path, connected: bool, pieces: int) -> None:
    values = [1.0, 2.0, None, 3.0, 4.0]
    gap = Plot("lines", [1, 2, 3, 4, 5], [Series("a", values)], "x", "y", connected=connected)
    nodes = list(ElementTree.parse(draw_plot(gap, tmp_path / "p.svg")).iter())
    lines = [node for node in nodes if COLOURS[0].lower() in node.get("style", "") and node.get("clip-path")]
    assert [line.get("d", "").count("M") for line in lines] == [pieces]
