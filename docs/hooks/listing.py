"""In the navigation "results/*" stands for all pages of that folder, in order: a new page needs no line there."""

from pathlib import Path
from typing import Any


def on_config(config: Any, **_: Any) -> Any:
    config.nav = _expanded(config.nav, Path(config.docs_dir))
    return config


def _expanded(entry: Any, docs: Path) -> Any:
    if isinstance(entry, dict):
        return {title: _expanded(inner, docs) for title, inner in entry.items()}
    if not isinstance(entry, list):
        return entry
    named = {each for each in entry if isinstance(each, str)}
    named |= {path for each in entry if isinstance(each, dict) for path in each.values() if isinstance(path, str)}
    pages: list[Any] = []
    for each in entry:
        if isinstance(each, str) and each.endswith("/*"):
            found = (str(path.relative_to(docs)) for path in sorted((docs / each).parent.glob("*.md")))
            pages += [path for path in found if path not in named]
        else:
            pages.append(_expanded(each, docs))
    return pages
