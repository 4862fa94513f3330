"""Formulas without a script from elsewhere: a ```math block becomes MathML, which browsers draw themselves.

Each line of the block is one formula in LaTeX. (GitHub draws such blocks, too.)
"""

import re
from typing import Any

from latex2mathml.converter import convert

FENCE = re.compile(r"^( *)```math\n(.+?)\n *```$", re.MULTILINE | re.DOTALL)


def on_page_markdown(markdown: str, **_: Any) -> str:
    return FENCE.sub(_drawn, markdown)


def _drawn(match: re.Match[str]) -> str:
    indent, lines = match.groups()
    formulas = [convert(line.strip().removesuffix("\\\\"), display="block") for line in lines.splitlines()]
    return "\n".join(f"{indent}{line}" for line in ['<div class="formula">', *formulas, "</div>"])
