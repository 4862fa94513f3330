"""A coloured text: what is dark is what has a great value, in pictures and in pages."""

import re
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from matplotlib import colormaps
from matplotlib.colors import to_hex

from regard.errors import ConfigError, DataError
from regard.insight import Coloured, Part, draw_coloured, font_for
from regard.insight.parts import PALETTE

SVG = "{http://www.w3.org/2000/svg}"
TEXT = "The cat 猫\nslept."
PARTS = (
    Part(0, 3, 0.0, "0 bits"),
    Part(3, 7, 2.0),
    Part(7, 8, 1.0),
    Part(8, 9, 1.5, "<first>"),
    Part(8, 9, 3.0, "second"),
    Part(9, 10, 8.0),
    Part(10, 15, 20.0),
    Part(15, 16, 4.0),
)
EXAMPLE = Coloured(TEXT, PARTS, most=8.0, heading=("model · surprise", "3 bits"), legend="bits", language="en")


def test_parts_that_share_a_character_are_one() -> None:
    assert [(part.start, part.end, part.value) for part in EXAMPLE.joined()] == [
        (0, 3, 0.0), (3, 7, 2.0), (7, 8, 1.0), (8, 9, 4.5), (9, 10, 8.0), (10, 15, 20.0), (15, 16, 4.0),
    ]  # fmt: skip
    assert EXAMPLE.joined()[3].note == "<first>; second"
    assert EXAMPLE.shares() == [0.0, 0.25, 0.125, 0.5625, 1.0, 1.0, 0.5]
    assert EXAMPLE.shares_by_character()[3:9] == [0.25] * 4 + [0.125, 0.5625]
    overlapping = Coloured("abc", [Part(0, 0, 9.0), Part(0, 2, 1.0), Part(1, 3, 2.0)], most=4.0)
    assert overlapping.joined() == [Part(0, 3, 3.0)]


def test_a_svg_has_every_word_where_it_stands_and_a_box_behind_it(tmp_path: Path) -> None:
    tree = ElementTree.parse(draw_coloured(EXAMPLE, tmp_path / "x.svg"))
    found = {node.text: node for node in tree.iter(f"{SVG}text")}
    assert {"model · surprise", "3 bits", "bits", "The", "cat", "猫", "↵", "slept", "."} <= set(found)

    def place(word: str) -> tuple[float, float]:
        style = found[word].attrib
        x, y = style.get("x"), style.get("y")
        if x is None or y is None:
            moved = re.findall(r"-?\d+\.?\d*", style["transform"])
            x, y = moved[-2:] if "translate" in style["transform"] else moved[:2]
        return float(x), float(y)

    assert place("The")[1] == place("cat")[1] == place("猫")[1] < place("slept")[1]
    assert place("The")[0] < place("cat")[0] < place("猫")[0] < place("↵")[0]
    assert place("The")[0] == pytest.approx(place("slept")[0], abs=0.5)
    filled = re.findall(r"fill: (#[0-9a-f]{6})", (tmp_path / "x.svg").read_text(encoding="utf-8"))
    for share in EXAMPLE.shares():
        assert to_hex(colormaps[PALETTE](share)) in filled


def test_a_png_grows_with_its_text(tmp_path: Path) -> None:
    if font_for("猫") is None:
        pytest.skip("no Chinese font on this machine")

    def size(coloured: Coloured) -> tuple[int, int]:
        content = draw_coloured(coloured, tmp_path / "x.png").read_bytes()
        width, height = struct.unpack(">II", content[16:24])
        return width, height

    short = size(EXAMPLE)
    long = size(Coloured(TEXT * 60, PARTS, most=8.0, heading=EXAMPLE.heading))
    assert short[0] == long[0]
    assert long[1] > 5 * short[1]


def test_a_picture_is_the_same_every_time(tmp_path: Path) -> None:
    for suffix in ("svg", "html"):
        one, other = (draw_coloured(EXAMPLE, tmp_path / f"{name}.{suffix}").read_bytes() for name in "ab")
        assert one == other


def test_a_page_holds_the_text_coloured_and_nothing_from_outside(tmp_path: Path) -> None:
    content = draw_coloured(EXAMPLE, tmp_path / "x.html").read_text(encoding="utf-8")
    assert '<html lang="en">' in content
    assert "http://" not in content
    assert "https://" not in content
    spans = re.findall(r'<span class="c(\d+)" title="([^"]*)">([^<]*)</span>', content)
    assert [text for _, _, text in spans] == ["The", " cat", " ", "猫", "↵\n", "slept", "."]
    assert [int(level) for level, _, _ in spans] == [round(31 * share) for share in EXAMPLE.shares()]
    assert spans[3][1] == "&lt;first&gt;; second"


def test_a_text_with_tags_is_text(tmp_path: Path) -> None:
    coloured = Coloured("<script>alert(1)</script>\x00", [Part(0, 8, 1.0)], most=2.0, heading=("<b>",))
    content = draw_coloured(coloured, tmp_path / "x.html").read_text(encoding="utf-8")
    assert "<script>" not in content
    assert "<b>" not in content
    assert "&lt;script&gt;" in content
    assert "\x00" not in content
    assert "$x$" in draw_coloured(Coloured("$x$", [], most=1.0), tmp_path / "x.svg").read_text(encoding="utf-8")


def test_what_cannot_be_drawn_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"found: .gif\n  wanted: .png or .svg or .html"):
        draw_coloured(EXAMPLE, tmp_path / "x.gif")
    with pytest.raises(ConfigError, match=r"too long for a picture.\n  found: 20,001 characters[\s\S]*html"):
        draw_coloured(Coloured("a" * 20_001, [], most=1.0), tmp_path / "x.svg")
    with pytest.raises(DataError, match="no text to draw"):
        draw_coloured(Coloured(" \n", [], most=1.0), tmp_path / "x.svg")
    assert list(tmp_path.iterdir()) == []
