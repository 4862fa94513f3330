"""What a page of docs/ shows: its fenced blocks, in order."""

import re
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FENCE = re.compile(
    r"(?:^ *<!-- (?P<when>not run|soak): (?P<reason>.+?) -->\n)?"
    r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One fenced block. `when`: empty, or "soak" (only in the long test), or "not run"; then `reason` says why."""

    page: str
    line: int
    language: str
    text: str
    when: str = ""
    reason: str = ""

    @property
    def place(self) -> str:
        return f"docs/{self.page}, line {self.line}"

    @property
    def code(self) -> list[str]:
        """Without comments and blank lines: what is the same in every language."""
        stripped = (re.sub(r"(^|\s+)# .*$", "", line).rstrip() for line in self.text.splitlines())
        return [line for line in stripped if line]


def blocks(page: str) -> list[Block]:
    """Those of one page, `page` as the navigation names it."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start("indent")) + 1
        lines = (each.removeprefix(match["indent"]) for each in match["text"].splitlines(keepends=True))
        found.append(Block(page, line, match["language"], "".join(lines), match["when"] or "", match["reason"] or ""))
    return found


def pages(folder: str) -> list[str]:
    """The pages of a folder in the order of the navigation."""
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    return [page for page in _listed(nav) if page.startswith(f"{folder}/") and not page.endswith("*")]


def _listed(entry: object) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    inner = entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ()
    return [page for each in inner for page in _listed(each)]
