"""A report as one HTML page that needs nothing else: style and pictures are inside it.

The page forbids itself to load anything (its content security policy), and pictures are data URIs in <img>, where a
browser runs no script and fetches nothing.
"""

from base64 import b64encode
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from regard.report.document import Block, Code, Paragraph, Picture, Pictures, Report, Section, Table, clean

TYPES = {".svg": "image/svg+xml", ".png": "image/png"}
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
SHORT = 24  # a cell of so many characters stays on one line; the table scrolls sideways instead


def page(report: Report) -> str:
    """The whole page. Plots must have become pictures."""
    parts = [_paragraph(Paragraph(report.intro))] if report.intro else []
    parts += map(_section, report.sections)
    style = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="{_text(report.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="regard">
<title>{_text(report.title)}</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{_text(report.title)}</h1>
{"".join(parts)}</main>
</body>
</html>
"""


def _section(section: Section) -> str:
    return f"<section>\n<h2>{_text(section.title)}</h2>\n{''.join(map(_block, section.blocks))}</section>\n"


def _block(block: Block) -> str:
    return WRITERS[type(block)](block)


def _paragraph(paragraph: Paragraph) -> str:
    return f"<p>{_text(paragraph.text)}</p>\n"


def _code(code: Code) -> str:
    return f'<pre tabindex="0"><code>{_text(code.text)}</code></pre>\n'


def _picture(picture: Picture) -> str:
    kind, content = TYPES[picture.file.suffix.lower()], b64encode(picture.file.read_bytes()).decode("ascii")
    caption = f"<figcaption>{_text(picture.caption)}</figcaption>\n" if picture.caption else ""
    return f'<figure>\n<img src="data:{kind};base64,{content}" alt="{_text(picture.alt)}">\n{caption}</figure>\n'


def _pictures(pictures: Pictures) -> str:
    return f'<div class="row">\n{"".join(map(_picture, pictures.pictures))}</div>\n'


def _table(table: Table) -> str:
    best, aligns = table.best(), table.aligns()
    head = "".join(
        f'<th scope="col" class="{align}">{_lines(column.title)}</th>'
        for column, align in zip(table.columns, aligns, strict=True)
    )
    rows = []
    for i, texts in enumerate(table.texts()):
        cells = []
        for j, (text, align) in enumerate(zip(texts, aligns, strict=True)):
            tag, scope = ("td", "") if j else ("th", ' scope="row"')
            content = f"<strong>{_lines(text)}</strong>" if (i, j) in best else _lines(text)
            short = " short" if len(text) <= SHORT else ""
            cells.append(f'<{tag}{scope} class="{align}{short}">{content}</{tag}>')
        rows.append(f"<tr>{''.join(cells)}</tr>\n")
    caption = f"<caption>{_text(table.caption)}</caption>\n" if table.caption else ""
    label = _text(table.caption or "table")
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{label}">\n<table>\n{caption}'
        f"<thead>\n<tr>{head}</tr>\n</thead>\n<tbody>\n{''.join(rows)}</tbody>\n</table>\n</div>\n"
        + "".join(f'<p class="note">{_text(note)}</p>\n' for note in table.notes)
    )


WRITERS: dict[type, Callable[[Any], str]] = {
    Paragraph: _paragraph,
    Code: _code,
    Table: _table,
    Picture: _picture,
    Pictures: _pictures,
}


def _text(text: str) -> str:
    return escape(clean(text), quote=True)


def _lines(text: str) -> str:
    return "<br>".join(_text(line) for line in clean(text).split("\n"))
