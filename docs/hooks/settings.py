"""reference/settings.md: every section and key, with its default, as the code declares them."""

import re
from collections.abc import Iterator
from typing import Any

from mkdocs.structure.files import File, Files

PAGE = "reference/settings.md"
HEAD = """# Settings

Made from the code when this site was built. A setting is given on the command line of `regard train` by its dotted name
(`training.updates=5000 model.heads=8`), or in a TOML file with `--config`. The command line wins over the file, the
file over the preset, the preset over the default. `regard train … --dry-run` prints every setting of a run; a name that
does not exist is refused, with the nearest that does.

Besides the sections there are `task`, `seed` (1) and `init`, which have options of their own.
"""


def on_files(files: Files, *, config: Any, **_: Any) -> Files:
    files.append(File.generated(config, PAGE, content=written()))
    return files


def written() -> str:
    """The page."""
    from regard import catalogue
    from regard.training.settings import DistributedConfig, TrainingConfig

    parts = [
        HEAD,
        "## Of every task\n",
        _section("training", TrainingConfig),
        _section("distributed", DistributedConfig),
    ]
    for name, task in catalogue.TASKS.items():
        parts.append(f"## Of the task {name}\n\n{_sentence(task.about)}\n")
        owner = catalogue.find(task.task)
        parts += [_recipe(owner.recipe)] if owner.recipe else []
        for key, field in owner.config_class.model_fields.items():
            parts.append(_section(f"{key}", field.annotation, anchor=f"{name}-{key}"))
    parts.append(
        "## Of the models\n\nThe section is called `model`; `--model name:preset` chooses what it begins with.\n"
    )
    for name, serving in catalogue.MODELS.items():
        parts += [_model(name, task, entry) for task, entry in _distinct(serving)]
    return "\n".join(parts)


def _distinct(serving: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """A network that serves several tasks with the same settings is told once."""
    told: dict[str, list[str]] = {}
    for task, entry in serving.items():
        told.setdefault(entry.config, []).append(task)
    for tasks in told.values():
        yield ", ".join(tasks), serving[tasks[0]]


def _model(name: str, tasks: str, entry: Any) -> str:
    from regard import catalogue

    presets: dict[str, dict[str, Any]] = catalogue.find(entry.presets)
    lines = [f"{_sentence(entry.about)} Presets:", ""]
    lines += [f"- `{name}:{preset}` {_escaped(_given(values))}" for preset, values in presets.items()]
    return _section(f"{name} ({tasks})", catalogue.find(entry.config), prefix="model", about="\n".join(lines))


def _given(values: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in values.items()) or "the defaults below"


def _recipe(recipe: dict[str, Any]) -> str:
    given = ", ".join(f"`training.{key}={value}`" for key, value in recipe.items())
    return f"Unless told otherwise it is trained with {given}.\n"


def _section(title: str, section: Any, *, prefix: str = "", about: str = "", anchor: str = "") -> str:
    mark = f" {{#{anchor}}}" if anchor else ""
    lines = [f"### {title}{mark}\n", about or _sentence(_escaped(" ".join((section.__doc__ or "").split()))), ""]
    lines += ["| setting | | default | meaning |", "|---|---|---|---|"]
    for key, field in section.model_fields.items():
        name = f"{prefix or title}.{key}"
        shown = f"`{_toml(field.get_default(call_default_factory=True))}`"
        lines.append(f"| `{name}` | {_kind(field)} | {shown} | {_escaped(field.description or '')} |")
    return "\n".join(lines) + "\n"


def _kind(field: Any) -> str:
    """The type in plain words, with its bounds."""
    name = getattr(field.annotation, "__name__", "") if isinstance(field.annotation, type) else str(field.annotation)
    if "Literal" in name and "Annotated" not in name and "|" not in name:
        return _escaped(" or ".join(re.findall(r"'([^']+)'", name) or re.findall(r"\[(.+)\]", name)))
    words = {"int": "whole number", "float": "number", "bool": "true or false", "str": "text"}
    bounds = [f"{SIGNS[key]} {value}" for each in field.metadata for key, value in _bounds(each)]
    return _escaped(" ".join([words.get(name, ""), ", ".join(bounds)]).strip())


SIGNS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}


def _bounds(metadata: Any) -> list[tuple[str, Any]]:
    return [(key, getattr(metadata, key)) for key in SIGNS if getattr(metadata, key, None) is not None]


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return f"[{', '.join(map(_toml, value))}]" if isinstance(value, tuple | list) else str(value)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", ")")) else ".")


def _escaped(text: str) -> str:
    """Without what Markdown would take for something else."""
    return re.sub(r"([|\[\]*_])", r"\\\1", text).replace("<", "&lt;")
