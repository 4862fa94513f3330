"""The files of the page, as they are and as one script.

The page is plain ES modules, which a server hands out one by one. A page that is saved has to bring them along, so they
are joined: in the order of their imports, without `import` and `export`. For that, modules import with
`import { a, b } from "./x.js";` only, and no two of them give the same name to different things at their top level.
"""

import re
from functools import cache
from hashlib import sha256
from pathlib import Path

FOLDER = Path(__file__).with_name("page")
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w-]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?function|const|class)", re.MULTILINE)
STYLE, SCRIPT, DATA = "<!-- style -->", "<!-- script -->", "<!-- data -->"
"""What stands in index.html for these."""


@cache
def files() -> dict[str, bytes]:
    """By name."""
    return {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir()) if path.suffix in TYPES}


@cache
def digest() -> str:
    """Of all files: it changes when one of them does."""
    found = sha256()
    for name, content in files().items():
        found.update(name.encode() + b"\0" + content + b"\0")
    return found.hexdigest()[:16]


def linked(place: str) -> str:
    """The page whose style and modules lie at a place of a server. All modules are named, so that none waits for
    another to be read."""
    modules = [name for name in files() if name.endswith(".js")]
    links = "".join(f'<link rel="modulepreload" href="{place}{name}">\n' for name in modules)
    style = f'<link rel="stylesheet" href="{place}style.css">\n'
    script = f'<script type="module" src="{place}main.js"></script>'
    return _text("index.html").replace(STYLE, style + links).replace(SCRIPT, script).replace(DATA, "")


def joined(first: str = "main.js") -> str:
    """All modules as one script."""
    order: list[str] = []
    _follow(first, order, ())
    return "".join(EXPORT.sub("", IMPORT.sub("", _text(name))) for name in order)


def style() -> str:
    return _text("style.css")


def shell() -> str:
    """The page without style, script and data."""
    return _text("index.html")


def _follow(name: str, order: list[str], above: tuple[str, ...]) -> None:
    if name in above:
        raise ValueError(f"modules import each other: {' → '.join((*above, name))}")
    if name in order:
        return
    for needed in IMPORT.findall(_text(name)):
        _follow(needed, order, (*above, name))
    order.append(name)


def _text(name: str) -> str:
    return files()[name].decode("utf-8")
