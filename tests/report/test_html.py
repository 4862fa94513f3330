"""The page is well formed, needs nothing from outside, and shows texts as they are."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from regard.report import Column, Paragraph, Report, Section, Table, write
from regard.report.html import page
from tests.report.example import NASTY, report

VOID = {"meta", "img", "br"}


class Reader(HTMLParser):
    """Every element with its attributes, and the text of each kind of element; fails where tags do not pair."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.texts.setdefault(tag, []).append("")
        if tag == "br":
            self.handle_data("\n")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.texts[tag][-1] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def text(tmp_path: Path) -> str:
    return write(report(tmp_path), tmp_path / "out").read_text(encoding="utf-8")


def test_the_page_is_well_formed_and_says_its_language_and_title(text: str) -> None:
    read = Reader(text)
    assert read.all("html") == [{"lang": "en"}]
    assert read.texts["title"] == read.texts["h1"] == [NASTY]
    assert read.texts["h2"] == ["1. " + NASTY]


def test_nothing_comes_from_outside(text: str) -> None:
    read = Reader(text)
    assert "http://" not in text
    assert "https://" not in text
    assert "url(" not in text
    assert "@import" not in text
    assert {name for name, _ in read.elements} & {"script", "link", "iframe", "object", "embed", "svg", "a"} == set()
    assert {str(image["src"]).split(";")[0] for image in read.all("img")} == {"data:image/svg+xml"}
    policy = next(meta["content"] for meta in read.all("meta") if meta.get("http-equiv"))
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_texts_come_through_as_they_are(text: str) -> None:
    read = Reader(text)
    assert read.texts["p"] == ["- intro", NASTY, "nrefs:1|case:mixed"]
    assert read.texts["code"] == ["regard <a> ``` b\n"]
    assert read.texts["td"] == ["31.25", "12", NASTY, "31.30 ± 0.9", "–", "two\nlines"]
    assert read.texts["figcaption"] == ["Figure 1", "a dot"]
    assert [str(image["alt"])[:4] for image in read.all("img")] == ["BLEU", NASTY[:4]]
    assert read.all("img")[1]["alt"] == NASTY


def test_tables_have_scoped_headers_scroll_sideways_and_mark_the_best(text: str) -> None:
    read = Reader(text)
    assert [cell["scope"] for cell in read.all("th")] == ["col"] * 4 + ["row"] * 2
    assert read.texts["caption"] == ["Scores < all"]
    assert read.texts["strong"] == ["12", "31.30 ± 0.9"]
    region = next(box for box in read.all("div") if box["class"] == "wide")
    assert (region["role"], region["tabindex"], region["aria-label"]) == ("region", "0", "Scores < all")


def test_the_page_is_made_for_phones_paper_and_dark_rooms(text: str) -> None:
    assert 'name="viewport"' in text
    assert "@media (prefers-color-scheme: dark)" in text
    assert "@media print" in text
    assert "background: #fff" in text  # under the pictures, which are drawn for white
    assert '"Noto Sans CJK SC"' in text


def test_characters_that_no_page_may_hold_are_replaced() -> None:
    rude = Report("t", "", [Section("s", [Paragraph("a\x00\udc80\x1bb"), Table([Column("a\r\nb")], [])])])
    read = Reader(page(rude))
    assert read.texts["p"] == ["a\ufffd\ufffd\ufffdb"]
    assert read.texts["th"] == ["a\nb"]
