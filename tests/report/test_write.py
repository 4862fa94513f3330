"""A report is four things on the disk, always the same bytes for the same document."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from regard.errors import DataError
from regard.report import Picture, Pictures, Report, Section, write, write_page
from tests.report.example import DOT, NASTY, report
from tests.report.test_html import Reader
from tests.report.test_markdown import contents, images


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def only(folder: Path, picture: Picture) -> Report:
    return Report("t", "", [Section("s", [picture])])


def test_a_report_is_a_page_a_text_numbers_and_pictures(tmp_path: Path) -> None:
    assert write(report(tmp_path), tmp_path / "out") == tmp_path / "out" / "report.html"
    pictures = ["pictures/01-bleu-by-words-in-the-source.svg", "pictures/02-dot-1.svg"]
    assert list(files(tmp_path / "out")) == [*pictures, "report.html", "report.json", "report.md"]
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8")) == {
        "bleu": [31.254, 31.3],
        "text": NASTY,
    }


def test_the_same_document_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two", "two"):  # the last over what is there
        write(report(tmp_path), tmp_path / name)
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_what_else_lies_in_the_directory_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    write(Report("t", "", []), tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_picture_that_was_drawn_into_the_report_is_not_copied(tmp_path: Path) -> None:
    drawn = tmp_path / "pictures" / "here.svg"
    drawn.parent.mkdir()
    drawn.write_bytes(DOT)
    write(only(tmp_path, Picture(drawn, "a dot")), tmp_path)
    assert [path.name for path in drawn.parent.iterdir()] == ["here.svg"]
    assert "![a dot](pictures/here.svg)" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_pictures_side_by_side_are_numbered_and_keep_their_texts(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.svg").write_bytes(DOT)
    pair = Pictures([Picture(tmp_path / name / "same.svg", f"{name}|a", f"{name}|c") for name in ("one", "two")])
    read = Reader(write(Report("t", "", [Section("s", [pair])]), tmp_path / "out").read_text(encoding="utf-8"))
    assert sorted(path.name for path in (tmp_path / "out" / "pictures").iterdir()) == ["01-same.svg", "02-same.svg"]
    assert [image["alt"] for image in read.all("img")] == ["one|a", "two|a"]
    assert read.texts["figcaption"] == ["one|c", "two|c"]
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert images(text) == [("pictures/01-same.svg", "one|a"), ("pictures/02-same.svg", "two|a")]
    assert all(caption in "".join(contents(text, "th") + contents(text, "td")) for caption in ("one|c", "two|c"))


@pytest.mark.parametrize("name", ["missing.svg", "picture.gif", "pictures/missing.svg", "pictures/picture.gif"])
def test_a_picture_that_cannot_be_shown_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "pictures").mkdir()
    for folder in (tmp_path, tmp_path / "pictures"):
        (folder / "picture.gif").write_bytes(b"GIF89a")
    with pytest.raises(DataError, match="A report cannot show this picture") as caught:
        write(only(tmp_path, Picture(tmp_path / name, "x")), tmp_path)
    assert name in str(caught.value)
    assert not (tmp_path / "report.html").exists()


@dataclass(frozen=True)
class Point:
    x: float
    y: tuple[int, ...]


def test_data_may_hold_dataclasses_and_numpy_and_what_is_no_number_becomes_null(tmp_path: Path) -> None:
    data = {
        "point": Point(math.nan, (1, 2)),
        "array": np.array([1.5, np.inf]),
        "one": np.int64(3),
        4: Path("a"),
        "t": True,
    }
    write(Report("t", "", [], data), tmp_path)
    found = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert found == {"point": {"x": None, "y": [1, 2]}, "array": [1.5, None], "one": 3, "4": "a", "t": True}


def test_half_a_character_survives_in_the_data(tmp_path: Path) -> None:
    write(Report("t", "", [], {"file": "a\udc80\x7f河"}), tmp_path)
    assert json.loads((tmp_path / "report.json").read_bytes()) == {"file": "a\udc80\x7f河"}


@pytest.mark.parametrize(
    ("data", "message"), [({"a": {1, 2}}, "must be plain"), ({"a": {("b", "c"): 1}}, "a key that JSON")]
)
def test_data_that_json_cannot_hold_is_refused_before_anything_is_written(
    tmp_path: Path, data: dict[str, object], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        write(Report("t", "", [], data), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_page_alone_is_one_file_with_its_plots_inside(tmp_path: Path) -> None:
    assert write_page(report(tmp_path), tmp_path / "out" / "page.html") == tmp_path / "out" / "page.html"
    assert list(files(tmp_path / "out")) == ["page.html"]
    write(report(tmp_path), tmp_path / "whole")
    assert (tmp_path / "out" / "page.html").read_bytes() == (tmp_path / "whole" / "report.html").read_bytes()
