"""Our lines of code on a page, taken from the source by name when the site is built, so that they cannot be old.

A page says

    ```source
    attention/attend.py attend
    ```

and gets that function (a class, a method as Class.method, a table as its NAME) with the place it stands in.
"""

import ast
import re
from pathlib import Path
from textwrap import dedent
from typing import Any

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^( *)```source\n(.+?)\n *```$", re.MULTILINE | re.DOTALL)


def on_page_markdown(markdown: str, **_: Any) -> str:
    return FENCE.sub(_shown, markdown)


def taken(path: str, name: str) -> tuple[int, str]:
    """The line where `name` begins in src/regard/`path`, and its lines."""
    text = (ROOT / "src/regard" / path).read_text(encoding="utf-8")
    node: Any = ast.parse(text)
    for part in name.split("."):
        node = next((child for child in node.body if part in _names(child)), None)
        if node is None:
            raise LookupError(f"src/regard/{path} has no {name}: a page of docs/ shows it")
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
    return first, dedent("\n".join(text.splitlines()[first - 1 : node.end_lineno]))


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _shown(match: re.Match[str]) -> str:
    indent, wanted = match.groups()
    blocks = [_block(*line.split()) for line in wanted.splitlines()]
    return "\n".join(f"{indent}{line}".rstrip() for line in "\n\n".join(blocks).splitlines())


def _block(path: str, name: str) -> str:
    first, lines = taken(path, name)
    return f'```python title="src/regard/{path}" linenums="{first}"\n{lines}\n```'
