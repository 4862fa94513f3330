"""Forms as programs and pages send them: fields in one line, or each as a part of its own (RFC 7578)."""

from collections.abc import Iterable
from email.message import Message
from typing import Any
from urllib.parse import parse_qsl

LINE, PARTS = "application/x-www-form-urlencoded", "multipart/form-data"
FIELDS = 100
"""Most fields of a form."""


def line(text: str) -> dict[str, Any]:
    """The fields of a=1&b=2."""
    return _gathered(parse_qsl(text, keep_blank_values=True, max_num_fields=FIELDS, errors="replace"))


def parts(body: bytes, kind: str) -> dict[str, Any]:
    """The fields of a body whose parts are parted by what its content-type says; ValueError if they are not. A file is
    the text that it holds. A part inside a part is a text like any other: nobody can make us look deep."""
    boundary = _parameter(kind, "boundary")
    if not boundary:
        raise ValueError("the content-type names no boundary")
    before, *found = (b"\r\n" + body).split(b"\r\n--" + boundary.encode("latin-1"), FIELDS + 1)
    if before or not found or not found[-1].startswith(b"--"):
        raise ValueError(f"the parts do not begin and end with their boundary, or are more than {FIELDS}")
    return _gathered(map(_field, found[:-1]))


def _field(part: bytes) -> tuple[str, str]:
    heads, parted, value = part.partition(b"\r\n\r\n")
    named = {name.strip().lower(): rest for name, _, rest in (head.partition(":") for head in _lines(heads))}
    name = _parameter(named.get("content-disposition", ""), "name")
    if not parted or not name:
        raise ValueError("a part has no name")
    return name, value.decode(errors="replace")


def _lines(heads: bytes) -> list[str]:
    return heads.decode(errors="replace").split("\r\n")


def _parameter(header: str, name: str) -> str:
    """As "name" in form-data; name="q"."""
    message = Message()
    message["content-disposition"] = header.strip()
    found = message.get_param(name, header="content-disposition")
    return found if isinstance(found, str) else ""


def _gathered(fields: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """A field that comes several times is a list."""
    found: dict[str, list[str]] = {}
    for name, value in fields:
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}
