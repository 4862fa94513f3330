"""reference/http.md: every path of the server, from the description that the server gives of itself."""

import re
from typing import Any

from mkdocs.structure.files import File, Files

PAGE = "reference/http.md"
HEAD = """# HTTP

Made from the code when this site was built. A running server describes itself in the same way: `/openapi.json` for
programs, `/docs` for people. Keys, limits, figures and examples are on the page [Serving](../serving.md).
"""
SHAPES = "## Shapes\n\nWhat the answers and requests above are made of.\n"
Schema = dict[str, Any]


def on_files(files: Files, *, config: Any, **_: Any) -> Files:
    files.append(File.generated(config, PAGE, content=written()))
    return files


def written() -> str:
    """The page: paths by kind, then the shapes that they speak of."""
    from regard.server.app import routes

    described = routes().openapi()
    kinds: dict[str, list[str]] = {}
    for path, methods in described["paths"].items():
        for method, each in methods.items():
            kind = next(iter(each.get("tags", ())), "the server")
            kinds.setdefault(kind, []).append(_operation(method.upper(), path, each))
    paths = [f"## {_capital(kind)}\n\n" + "\n".join(told) for kind, told in kinds.items()]
    shapes = [_shape(name, schema) for name, schema in described["components"]["schemas"].items()]
    return "\n".join([HEAD, *paths, SHAPES, *shapes])


def _operation(method: str, path: str, operation: Schema) -> str:
    lines = [f"### {method} {path}\n", _escaped(operation.get("description") or operation["summary"]), ""]
    if parameters := operation.get("parameters"):
        lines += ["| in the address | | meaning |", "|---|---|---|"]
        lines += [f"| `{each['name']}` | {_kind(each['schema'])} | {_said(each)} |" for each in parameters]
    sent = operation.get("requestBody", {}).get("content", {})
    lines += _body(f"Sent, as {' or '.join(f'`{kind}`' for kind in sent)}", sent)
    for code, answer in operation["responses"].items():
        lines += _body("Answered", answer.get("content", {})) if code.startswith("2") else []
    return "\n".join(lines) + "\n"


def _body(what: str, content: Schema) -> list[str]:
    """A named shape is only named; what is written out has a table."""
    schema: Schema = next((each.get("schema", {}) for each in content.values()), {})
    if "properties" in schema:
        return [f"\n{what}:\n", *_fields(schema)]
    return [f"\n{what}: {_kind(schema)}.\n"] if schema else []


def _shape(name: str, schema: Schema) -> str:
    return "\n".join([f"### {name}\n", _escaped(schema.get("description", "")), "", *_fields(schema), ""])


def _fields(schema: Schema) -> list[str]:
    required = set(schema.get("required", ()))
    lines = ["| | | default | meaning |", "|---|---|---|---|"]
    for name, each in schema.get("properties", {}).items():
        default = f"`{each['default']}`" if each.get("default") not in (None, "") else ""
        lines.append(f"| `{name}` | {_kind(each)} | {'always' if name in required else default} | {_said(each)} |")
    return lines


def _kind(schema: Schema) -> str:
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(kind for kind in map(_kind, options) if kind != "null"))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if values := schema.get("enum") or ([schema["const"]] if "const" in schema else None):
        return " or ".join(f"`{value}`" for value in values)
    return str(schema.get("type", "anything"))


def _said(schema: Schema) -> str:
    return _escaped(schema.get("description", ""))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _escaped(text: str) -> str:
    """Without what Markdown would take for something else."""
    return re.sub(r"([|\[\]*_])", r"\\\1", " ".join(text.split())).replace("<", "&lt;")
