"""One way to write a report: a document of numbers and pictures → report.html, report.md, report.json.

A report looks the same whoever writes it, and the same document always gives the same bytes.
"""

from regard.report.document import (
    Cell,
    Code,
    Column,
    Paragraph,
    Picture,
    Pictures,
    Plot,
    Report,
    Section,
    Series,
    Table,
)
from regard.report.write import write, write_page

__all__ = [
    "Cell",
    "Code",
    "Column",
    "Paragraph",
    "Picture",
    "Pictures",
    "Plot",
    "Report",
    "Section",
    "Series",
    "Table",
    "write",
    "write_page",
]
