"""A report with every kind of block, and with every character that could do harm."""

from pathlib import Path

from regard.report import Cell, Code, Column, Paragraph, Picture, Plot, Report, Section, Series, Table

NASTY = 'a|b <script>alert("1")</script> & *c* `d` [e](f) \\ 河岸'
DOT = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><circle cx="4" cy="4" r="4"/></svg>'


def table() -> Table:
    columns = [Column("system"), Column("BLEU", ".2f", "max"), Column("seconds", ".0f", "min"), Column("remark")]
    rows = [["one", 31.254, 12, NASTY], ["two", Cell(31.3, "31.30 ± 0.9"), None, "two\nlines"]]
    return Table(columns, rows, caption="Scores < all", notes=["nrefs:1|case:mixed"])


def plot() -> Plot:
    series = [
        Series("with", [30.0, 29.0, None], [28.0, 27.0, None], [32.0, 31.0, None]),
        Series("ohne_$x$", [25, 15, 9]),
    ]
    return Plot("lines", ["1–10", "11–20", "21+"], series, "words in the source", "BLEU", "Figure 1")


def report(folder: Path) -> Report:
    picture = folder / "dot (1).svg"
    picture.write_bytes(DOT)
    blocks = [Paragraph(NASTY), table(), plot(), Picture(picture, NASTY, "a dot"), Code("regard <a> ``` b\n")]
    return Report(NASTY, "- intro", [Section("1. " + NASTY, blocks)], data={"bleu": [31.254, 31.3], "text": NASTY})
