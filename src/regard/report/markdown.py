"""A report as GitHub Markdown; its pictures are files beside it."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from regard.report.document import Block, Code, Paragraph, Picture, Pictures, Report, Section, Table, clean

RULES = {"left": ":--", "right": "--:", "center": ":-:"}


def text(report: Report) -> str:
    """The whole file. Plots must have become pictures, in a folder beside it."""
    parts = [f"# {_inline(report.title)}\n"]
    parts += [_paragraph(Paragraph(report.intro))] if report.intro else []
    parts += map(_section, report.sections)
    return "\n".join(parts)


def _section(section: Section) -> str:
    return "\n".join([f"## {_inline(section.title)}\n", *map(_block, section.blocks)])


def _block(block: Block) -> str:
    return WRITERS[type(block)](block)


def _paragraph(paragraph: Paragraph) -> str:
    return _line(paragraph.text) + "\n"


def _code(code: Code) -> str:
    content = clean(code.text).rstrip("\n")
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", content)), default=0))
    return f"{fence}\n{content}\n{fence}\n"


def _picture(picture: Picture) -> str:
    caption = f"\n{_line(picture.caption)}\n" if picture.caption else ""
    return f"{_image(picture)}\n{caption}"


def _image(picture: Picture) -> str:
    return f"![{_inline(picture.alt)}]({quote(f'{picture.file.parent.name}/{picture.file.name}')})"


def _pictures(pictures: Pictures) -> str:
    """A table of one row: GitHub then shows them side by side."""
    captions = [_inline(picture.caption) for picture in pictures.pictures]
    images = [_image(picture) for picture in pictures.pictures]
    lines = [captions, [RULES["center"]] * len(captions), images]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _table(table: Table) -> str:
    best = table.best()
    rows = [
        [f"**{_cell(text)}**" if (i, j) in best else _cell(text) for j, text in enumerate(texts)]
        for i, texts in enumerate(table.texts())
    ]
    head = [_cell(column.title) for column in table.columns]
    lines = [head, [RULES[align] for align in table.aligns()], *rows]
    caption = f"{_line(table.caption)}\n\n" if table.caption else ""
    notes = "".join(f"\n{_line(note)}\n" for note in table.notes)
    return caption + "".join(f"| {' | '.join(cells)} |\n" for cells in lines) + notes


WRITERS: dict[type, Callable[[Any], str]] = {
    Paragraph: _paragraph,
    Code: _code,
    Table: _table,
    Picture: _picture,
    Pictures: _pictures,
}


def _line(text: str) -> str:
    """A text that begins a line of its own, where a list or a heading could begin."""
    return re.sub(r"^(?:([-+=])|(\d+)([.)])(?= |$))", r"\2\\\1\3", _inline(text))


def _cell(text: str) -> str:
    return "<br>".join(_inline(line) for line in clean(text).split("\n"))


def _inline(text: str) -> str:
    """A text on one line in which nothing is Markdown or HTML; `$` would start mathematics on GitHub."""
    text = re.sub(r"([\\`*_\[\]|~$#])", r"\\\1", " ".join(clean(text).split()))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
