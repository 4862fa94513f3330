"""The machinery of settings: TOML files, dotted overrides, did-you-mean. It knows no setting."""

import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from regard.errors import ConfigError

Tree = dict[str, Any]


def load_toml(path: Path) -> Tree:
    """The settings of one TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"The config file {path} does not exist.", do="check the path given to --config") from None
    except OSError as error:
        raise ConfigError(f"The config file {path} cannot be read.", found=str(error.strerror)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} is not a TOML file.", found=str(error), wanted="lines such as: width = 256"
        ) from None


def parse_overrides(words: Iterable[str]) -> Tree:
    """["model.heads=8", "training.schedule=cosine"] as a tree. A value is read as TOML, and as a plain word if that
    fails."""
    tree: Tree = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise ConfigError(
                f"{word!r} is not a setting.",
                wanted="section.key=value, such as model.heads=8",
                do="see regard train --help",
            )
        *sections, last = key.strip().split(".")
        node = tree
        for section in sections:
            node = node.setdefault(section, {})
            if not isinstance(node, dict):
                raise ConfigError(f"{section} is given a value and used as a section.", do=f"leave {section}=… out")
        node[last] = _value(text.strip())
    return tree


def merge(*trees: Mapping[str, Any]) -> Tree:
    """Later trees win, section by section."""
    merged: Tree = {}
    for tree in trees:
        for key, value in tree.items():
            old = merged.get(key)
            merged[key] = merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged


def section(tree: Tree, *path: str) -> Tree:
    """The settings of a section, {} if there are none; a value in its place is refused."""
    for depth, name in enumerate(path, start=1):
        tree = tree.get(name, {})
        if not isinstance(tree, dict):
            key = ".".join(path[:depth])
            raise ConfigError(f"{key} is a section, not a value.", found=f"{key}={tree}", do=f"write {key}.…=value")
    return tree


def nearest(word: str, known: Iterable[str]) -> str:
    """'did you mean …?', or the whole list where nothing is near."""
    names = sorted(known)
    close = get_close_matches(word, names, n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else f"known: {', '.join(names)}"


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def leaves(tree: Tree, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Every value of a tree with the way to it."""
    found = []
    for key, value in tree.items():
        found += leaves(value, (*path, key)) if isinstance(value, dict) else [((*path, key), value)]
    return found
