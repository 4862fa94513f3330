from pathlib import Path

import pytest

from regard.errors import RegardError
from regard.insight import MissingFontError, draw, font_for, fonts

from .example import example


@pytest.fixture
def no_system_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "system_fonts", lambda: ())


def test_plain_text_is_drawn_with_the_font_that_matplotlib_brings() -> None:
    assert font_for("the river, ≥ 0.5 – für") == fonts.default_font()
    assert font_for("") == fonts.default_font()


@pytest.mark.usefixtures("no_system_fonts")
def test_without_a_font_for_it_chinese_has_none() -> None:
    assert font_for("河岸") is None


@pytest.mark.usefixtures("no_system_fonts")
def test_a_png_without_a_font_says_what_to_install_and_that_svg_needs_none(tmp_path: Path) -> None:
    with pytest.raises(MissingFontError) as caught:
        draw(example(), path=tmp_path / "x.png")
    assert isinstance(caught.value, RegardError)
    for said in ("河", ".svg", "fonts-noto-cjk", "fonts-wqy-zenhei", "google-noto-sans-cjk-fonts"):
        assert said in str(caught.value)
    assert not (tmp_path / "x.png").exists()


def test_a_font_that_is_found_has_every_character() -> None:
    found = font_for("河岸边")
    if found is None:
        pytest.skip("this machine has no CJK font (apt install fonts-wqy-zenhei)")
    assert found.suffix in {".ttf", ".ttc", ".otf"}
    assert {ord(c) for c in "河岸边"} <= fonts._characters(found)


def test_regular_faces_of_known_families_come_first() -> None:
    paths = [Path(n) for n in ("a.ttf", "NotoSansCJK-Bold.ttc", "NotoSansCJK-Regular.ttc", "wqy-zenhei.ttc")]
    ordered = [path.name for path in sorted(paths, key=fonts._preference)]
    assert ordered == ["NotoSansCJK-Regular.ttc", "NotoSansCJK-Bold.ttc", "wqy-zenhei.ttc", "a.ttf"]


def test_a_broken_font_file_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.ttf"
    broken.write_bytes(b"no font")
    monkeypatch.setattr(fonts, "system_fonts", lambda: (broken,))
    assert font_for("河岸") is None
