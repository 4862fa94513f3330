"""reference/commands.md: every command and option, from the functions that `regard` is made of."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from mkdocs.structure.files import File, Files
from typer.models import ArgumentInfo, OptionInfo

PAGE = "reference/commands.md"
HEAD = """# Commands

Made from the code when this site was built; `regard COMMAND --help` says the same.
An option with … can be given several times. What is asked for goes to standard output, everything else to standard
error. Exit codes: 0, 1 (error), 2 (usage), 130 (Ctrl-C).
"""
KINDS = {str: "TEXT", Path: "PATH", int: "NUMBER", float: "NUMBER"}
SAID = re.compile(r"\s*\(default: ([^)]+)\)")


def on_files(files: Files, *, config: Any, **_: Any) -> Files:
    files.append(File.generated(config, PAGE, content=written()))
    return files


def written() -> str:
    """The page."""
    from regard.cli.main import COMMANDS

    listed = "".join(f"- [`regard {each.__name__}`](#regard-{each.__name__}): {_first(each)}\n" for each in COMMANDS)
    return "\n".join([HEAD, listed, *map(_section, COMMANDS)])


@dataclass(frozen=True)
class Word:
    """One argument or option."""

    name: str
    kind: Any
    info: ArgumentInfo | OptionInfo
    default: Any

    @property
    def shown(self) -> str:
        if isinstance(self.info, ArgumentInfo):
            name = (self.info.metavar or self.name.upper()).removesuffix("...")
            name += " …" if get_origin(self.kind) is list else ""
            return name if self.required else f"[{name}]"
        declared = [self.info.default, *(self.info.param_decls or ())]  # typer keeps the first where defaults would be
        named = (each for each in declared if isinstance(each, str) and each.startswith("--"))
        option = next(named, "--" + self.name.replace("_", "-"))
        return option if self.kind is bool else f"{option} {_kind(self.kind)}"

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def row(self) -> str:
        text = _flowing(self.info.help)
        said = SAID.search(text)
        default = said.group(1) if said else self._default()
        return f"| `{self.shown}` | {_escaped(SAID.sub('', text))} | {default} |"

    def _default(self) -> str:
        if self.required:
            return "must be given"
        return "" if self.default in (None, False, "") else f"`{self.default}`"


def words(command: Callable[..., None]) -> list[Word]:
    """The arguments and options of a command, in its order."""
    hints, found = get_type_hints(command, include_extras=True), []
    for name, parameter in inspect.signature(command).parameters.items():
        kind, info = get_args(hints[name])
        bare = [each for each in get_args(kind) if each is not NoneType] if NoneType in get_args(kind) else [kind]
        found.append(Word(name, bare[0], info, parameter.default))
    return found


def _section(command: Callable[..., None]) -> str:
    given = words(command)
    arguments = [each for each in given if isinstance(each.info, ArgumentInfo)]
    options = [each for each in given if isinstance(each.info, OptionInfo)]
    usage = " ".join(["regard", command.__name__, *(each.shown for each in arguments), "[OPTIONS]"])
    rows = ["| | meaning | default |", "|---|---|---|", *(each.row for each in [*arguments, *options])]
    return "\n".join([f"## regard {command.__name__}\n", _flowing(command.__doc__), f"\n`{usage}`\n", *rows, ""])


def _kind(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "｜".join(map(str, get_args(kind)))
    return f"{_kind(get_args(kind)[0])} …" if get_origin(kind) is list else KINDS.get(kind, "TEXT")


def _escaped(text: str) -> str:
    """Without what Markdown would take for something else."""
    return re.sub(r"([|\[\]*_])", r"\\\1", text).replace("<", "&lt;")


def _flowing(text: str | None) -> str:
    return " ".join((text or "").split())


def _first(command: Callable[..., None]) -> str:
    return re.split(r"[.:;] ", _flowing(command.__doc__))[0].rstrip(".") + "."
