"""What GitHub would show is what was said; the oracle is a CommonMark parser with tables."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from regard.report import Code, Column, Paragraph, Report, Section, Table, write
from regard.report.document import Block, clean
from regard.report.markdown import text as markdown
from tests.report.example import NASTY, report

SHOWN = {"softbreak": "\n", "hardbreak": "\n", "html_inline": "\n"}
WILD = st.text(alphabet=st.sampled_from("ab1. -+=#|*_`~[]()<>!&\\$:;\n\"'河/@^{}"), max_size=30) | st.text(max_size=20)


def parsed(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


def shown(token: Token) -> str:
    """The text of a token as a reader sees it; <br> is the only HTML that we write."""
    assert all(child.content == "<br>" for child in token.children or [] if child.type == "html_inline")
    return "".join(SHOWN.get(child.type, child.content) for child in token.children or [])


def contents(text: str, inside: str) -> list[str]:
    """The texts of all elements of a kind."""
    tokens = parsed(text)
    return [shown(tokens[i + 1]) for i, token in enumerate(tokens) if token.type == f"{inside}_open"]


def images(text: str) -> list[tuple[str, str]]:
    """Address and alternative text of each picture."""
    found = [child for token in parsed(text) for child in token.children or [] if child.type == "image"]
    return [(str(one.attrs["src"]), "".join(child.content for child in one.children or [])) for one in found]


def of(*blocks: Block) -> str:
    return markdown(Report("t", "", [Section("s", blocks)]))


def flat(text: str) -> str:
    return " ".join(clean(text).split())


@pytest.fixture
def text(tmp_path: Path) -> str:
    write(report(tmp_path), tmp_path / "out")
    return (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


def test_the_whole_report_comes_through(text: str) -> None:
    assert contents(text, "heading") == [NASTY, "1. " + NASTY]
    assert contents(text, "paragraph")[:3] == ["- intro", NASTY, "Scores < all"]
    assert contents(text, "th") == ["system", "BLEU", "seconds", "remark"]
    assert contents(text, "td") == ["one", "31.25", "12", NASTY, "two", "31.30 ± 0.9", "–", "two\nlines"]
    assert contents(text, "strong") == []  # bold is inside a cell
    assert [token.content for token in parsed(text) if token.type == "fence"] == ["regard <a> ``` b\n"]


def test_the_best_is_bold_and_numbers_are_on_the_right(text: str) -> None:
    lines = text.split("\n")
    assert "| :-- | --: | --: | :-- |" in lines
    assert any("| **31.30 ± 0.9** | – |" in line for line in lines)


def test_pictures_are_files_beside_the_report(text: str, tmp_path: Path) -> None:
    addresses, alts = zip(*images(text), strict=True)
    assert list(addresses) == ["pictures/01-bleu-by-words-in-the-source.svg", "pictures/02-dot-1.svg"]
    assert all((tmp_path / "out" / address).is_file() for address in addresses)
    assert alts[1] == NASTY


@settings(deadline=None)
@given(WILD)
def test_no_text_in_a_cell_breaks_a_table(wild: str) -> None:
    table = Table([Column("a"), Column("b")], [["x", wild], [wild, "y"]])
    lines = "\n".join(flat(line) for line in clean(wild).split("\n"))
    assert [cell.strip() for cell in contents(of(table), "td")] == ["x", lines.strip(), lines.strip(), "y"]


@settings(deadline=None)
@given(WILD)
def test_no_paragraph_becomes_anything_else(wild: str) -> None:
    found = contents(of(Paragraph("before"), Paragraph(wild), Paragraph("after")), "paragraph")
    assert found == ["before", *([flat(wild)] if flat(wild) else []), "after"]


@settings(deadline=None)
@given(WILD)
def test_no_heading_loses_anything(wild: str) -> None:
    assert contents(markdown(Report(wild, "", [])), "heading") == [flat(wild)]


@settings(deadline=None)
@given(WILD)
def test_code_stays_as_it_is(wild: str) -> None:
    tokens = [token.content for token in parsed(of(Code(wild), Paragraph("after"))) if token.type == "fence"]
    assert tokens == [clean(wild).rstrip("\n") + "\n"]
