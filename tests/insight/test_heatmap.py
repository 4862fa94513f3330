import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from regard.errors import ConfigError, DataError
from regard.insight import TokenRow, Trace, alignment, draw, font_for, positions

from .example import example, softmax


def texts(path: Path) -> list[str]:
    return [node.text or "" for node in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]


def png_size(path: Path) -> tuple[int, int]:
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    return width, height


def english(tokens: int, heads: int = 2, layers: int = 1) -> Trace:
    row = TokenRow.of([f"word{i}" for i in range(tokens)], "en")
    names = [f"encoder.{layer}.self" for layer in range(layers)]
    weights = {name: softmax(i, heads, tokens, tokens) for i, name in enumerate(names)}
    return Trace({"source": row}, weights, dict.fromkeys(names, ("source", "source")), {"model": "demo"})


def test_an_svg_keeps_chinese_as_text_and_titles_both_axes(tmp_path: Path) -> None:
    written = texts(draw(example(), name="decoder.1.cross", head=0, path=tmp_path / "x.svg"))
    assert {"河岸", "边", "。", "</s>", "river", "ba", "nk"} <= set(written)
    assert {"asks: prediction (zh)", "reads from: source (en)", "weight"} <= set(written)
    assert "demo · decoder.1.cross · head 0" in written
    assert "Noto Sans CJK SC" in (tmp_path / "x.svg").read_text(encoding="utf-8")


def test_an_svg_is_the_same_every_time(tmp_path: Path) -> None:
    first, second = (draw(example(), path=tmp_path / name).read_bytes() for name in ("a.svg", "b.svg"))
    assert first == second
    assert b"<dc:date>" not in first


def test_a_layer_shows_all_its_heads_and_everything_shows_all_layers(tmp_path: Path) -> None:
    layer = texts(draw(example(), name="cross", layer=1, path=tmp_path / "layer.svg"))
    assert [text for text in layer if "head" in text] == [f"decoder.1.cross · head {i}" for i in range(3)]
    everything = texts(draw(example(), path=tmp_path / "all.svg"))
    assert len([text for text in everything if "head" in text]) == 6 * 3
    for title in ("asks: source (en)", "asks: target (zh)", "asks: prediction (zh)", "reads from: target (zh)"):
        assert title in everything


def test_words_and_left_out_specials_are_said_in_the_picture(tmp_path: Path) -> None:
    written = texts(
        draw(example().without_specials(), name="cross", layer=0, head="mean", words=True, path=tmp_path / "x.svg")
    )
    assert "bank" in written
    assert "</s>" not in written
    assert any(text.startswith("without specials, words, special tokens got 0.") for text in written)
    assert "demo · decoder.0.cross · mean of 3 heads" in written


def test_an_alignment_is_the_last_cross_attention_unless_told_otherwise(tmp_path: Path) -> None:
    for layer, said in ((None, "decoder.1.cross"), (0, "decoder.0.cross"), ("all", "2 layers")):
        written = texts(alignment(example(), tmp_path / "x.svg", layer=layer))
        assert f"demo · alignment · {said} · mean of 3 heads" in written
        assert {"asks: prediction (zh)", "reads from: source (en)"} <= set(written)


def test_an_alignment_needs_cross_attention(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"(?s)no such cross-attention.*encoder.0.self"):
        alignment(english(3), tmp_path / "x.svg")


def test_a_png_grows_with_its_tokens_but_not_without_bound(tmp_path: Path) -> None:
    small, large, huge = (png_size(draw(english(n), head=0, path=tmp_path / f"{n}.png")) for n in (5, 40, 200))
    assert 200 < small[0] < large[0] < huge[0] < 2000
    assert 200 < small[1] < large[1] < huge[1] < 2000


def test_many_tokens_are_labelled_every_kth_and_the_picture_says_so(tmp_path: Path) -> None:
    written = texts(draw(english(80), head=0, path=tmp_path / "80.svg"))
    assert written.count("word79") == 2
    written = texts(draw(english(160), head=0, path=tmp_path / "160.svg"))
    assert written.count("word0") == 2
    assert "word1" not in written
    assert "reads from: source (en), every second" in written


def test_a_png_with_chinese_is_drawn_with_a_font_that_has_it(tmp_path: Path) -> None:
    if font_for("河岸边。") is None:
        pytest.skip("this machine has no CJK font (apt install fonts-wqy-zenhei)")
    width, height = png_size(draw(example(), name="cross", layer=0, path=tmp_path / "x.png"))
    assert 300 < width < 2000
    assert 300 < height < 2000


def test_strange_tokens_are_drawn_as_they_are(tmp_path: Path) -> None:
    strange = ["$x$", "a\\alpha", "<b>&", "\x00", "a\ud800", "x" * 60, "_^{"]
    row = TokenRow.of(strange)
    trace = Trace({"text": row}, {"x": softmax(0, 1, 7, 7)}, {"x": ("text", "text")})
    written = texts(draw(trace, path=tmp_path / "x.svg"))
    assert {"$x$", "a\\alpha", "<b>&", "\ufffd", "a\ufffd", "x" * 23 + "…", "_^{"} <= set(written)
    png_size(draw(trace, path=tmp_path / "x.png"))


def test_a_picture_of_another_kind_is_refused(tmp_path: Path) -> None:
    for name in ("x.pdf", "x"):
        with pytest.raises(ConfigError, match=r"(?s)suffix.*wanted: \.png or \.svg"):
            draw(example(), path=tmp_path / name)


def test_an_unknown_attention_or_head_is_named_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"(?s)'memory'.*decoder.1.cross"):
        draw(example(), name="memory", path=tmp_path / "x.svg")
    with pytest.raises(ConfigError, match=r"(?s)no head 8.*3 heads"):
        draw(example(), head=8, path=tmp_path / "x.svg")
    with pytest.raises(DataError, match="nothing to draw"):
        draw(
            Trace({"a": TokenRow("", ())}, {"x": np.zeros((1, 0, 0), np.float32)}, {"x": ("a", "a")}),
            path=tmp_path / "x.svg",
        )
    assert not list(tmp_path.iterdir())


def test_a_trace_saves_itself_as_a_picture(tmp_path: Path) -> None:
    assert "demo · 6 attentions" in texts(example().save(tmp_path / "x.svg"))


def test_positions_are_drawn_with_their_axes_named(tmp_path: Path) -> None:
    angles = np.arange(20)[:, None] / 100 ** (np.arange(8) / 8)
    written = texts(positions(np.sin(angles), tmp_path / "x.svg"))
    assert {"position", "dimension", "value"} <= set(written)
    png_size(positions(np.sin(angles), tmp_path / "x.png"))


def test_pictures_can_be_drawn_from_many_threads(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(lambda i: draw(example(), name="cross", layer=0, path=tmp_path / f"{i}.svg"), range(4)))
    assert len({path.read_bytes() for path in paths}) == 1


def test_importing_insight_loads_neither_torch_nor_matplotlib() -> None:
    code = "import sys, regard.insight; print({'torch', 'matplotlib'} & {name.split('.')[0] for name in sys.modules})"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "set()"
