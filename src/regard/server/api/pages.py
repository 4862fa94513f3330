"""The page that describes the API: made from its schema, without a script and without anything from elsewhere."""

import base64
import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from html import escape
from typing import Any

from regard.server.edge.security import HEADERS

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid; }
h3 code { font-size: 1.1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8884; }
td:first-child, pre { font-family: ui-monospace, monospace; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid #8884; }
"""
_DIGEST = base64.b64encode(sha256(STYLE.encode()).digest()).decode("ascii")
PAGE_HEADERS = {
    "content-security-policy": f"{HEADERS['content-security-policy']}; style-src 'sha256-{_DIGEST}'",
}
"""The style is the only thing that the page may use."""
METHODS = ("get", "post")
EXAMPLES = {
    "/translate": {"q": "The lion chased the zebra.", "source": "en", "target": "zh"},
    "/detect": {"q": "The lion chased the zebra."},
    "/v1/completions": {"model": "MODEL", "prompt": "Once upon", "max_tokens": 20},
    "/v1/embeddings": {"model": "MODEL", "input": ["a text", "another"]},
    "/classify": {"texts": ["Where is my parcel?"]},
    "/fill": {"text": "The [MASK] of the river."},
    "/attention": {"text": "The lion chased the zebra.", "format": "json"},
    "/tokenize": {"texts": ["The lion chased the zebra."]},
    "/inside/workings": {"text": "The lion chased the zebra.", "name": "decoder.0.cross", "head": 1, "row": 2},
    "/inside/flow": {"text": "The lion chased the zebra.", "step": 2},
    "/inside/positions": {"length": 32},
    "/inside/masks": {"text": "The lion chased the zebra.", "padding": 2},
    "/inside/timeline": {"text": "Once upon", "temperature": 0.8, "top_k": 40, "seed": 1},
    "/inside/beams": {"text": "The lion chased the zebra.", "beam": 4},
    "/inside/heads": {"text": "The lion chased the zebra."},
    "/inside/gold": {"text": "The lion chased the zebra."},
    "/inside/run": {"model": "MODEL"},
    "/inside/checkpoint": {"model": "MODEL", "update": 600, "sentence": 0},
}


def page(schema: Mapping[str, Any]) -> str:
    """The description of an API as HTML."""
    told = schema["info"]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>{escape(told['title'])}</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(told['title'])} {escape(told['version'])}</h1>",
        f"<p>{escape(told.get('description', ''))} The same for programs: "
        '<a href="/openapi.json">openapi.json</a>.</p>',
        *_sections(schema),
        "</body></html>",
    ]
    return "\n".join(parts)


def _sections(schema: Mapping[str, Any]) -> Iterator[str]:
    """The routes, under the headings that they have."""
    routes = [
        (path, method, route)
        for path, methods in schema["paths"].items()
        for method, route in methods.items()
        if method in METHODS
    ]
    for heading in dict.fromkeys(route.get("tags", [""])[0] for _, _, route in routes):
        yield f"<h2>{escape(heading)}</h2>"
        for path, method, route in routes:
            if route.get("tags", [""])[0] == heading:
                yield from _route(path, method, route, schema)


def _route(path: str, method: str, route: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h3><code>{method.upper()} {escape(path)}</code></h3>"
    yield f"<p>{escape(route.get('description', ''))}</p>"
    for content in list(route.get("requestBody", {}).get("content", {}).values())[:1]:
        yield from _fields(_resolved(content["schema"], schema), schema)
    yield f"<pre>{escape(_call(path, method))}</pre>"


def _fields(body: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """A row for each field of a body."""
    yield "<table><tr><th>field</th><th>what it takes</th><th></th></tr>"
    needed = body.get("required", ())
    for name, field in body.get("properties", {}).items():
        more = field.get("description", "")
        if name in needed:
            more = f"needed; {more}".rstrip("; ")
        elif field.get("default") is not None:
            more = f"{more} (default {json.dumps(field['default'])})".strip()
        yield f"<tr><td>{escape(name)}</td><td>{escape(_kind(field, schema))}</td><td>{escape(more)}</td></tr>"
    yield "</table>"


def _kind(field: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """The type of a field, in words."""
    field = _resolved(field, schema)
    if "anyOf" in field:
        kinds = (_kind(one, schema) for one in field["anyOf"] if one.get("type") != "null")
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in field or "const" in field:
        return ", ".join(json.dumps(value) for value in field.get("enum", [field.get("const")]))
    if field.get("type") == "array":
        return f"list of {_kind(field.get('items', {}), schema)}"
    kind = str(field.get("type", "anything"))
    return "text" if kind == "string" else kind


def _resolved(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a reference stands for."""
    name = schema.get("$ref", "").rpartition("/")[2]
    found: Mapping[str, Any] = whole["components"]["schemas"].get(name, {}) if name else schema
    return found


def _call(path: str, method: str) -> str:
    """The same from a command line."""
    address = f"http://localhost:8000{path.replace('{name}', 'MODEL')}"
    if method == "get":
        return f"curl {address}"
    body = json.dumps(EXAMPLES.get(path, {}), ensure_ascii=False)
    return f"curl {address} -H 'content-type: application/json' \\\n  -d '{body}'"
