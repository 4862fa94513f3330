"""The API as it is described: a page without anything from outside, and a schema under which nothing breaks."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from regard.server.api.pages import page
from tests.server.serving import Running

PATHS = (
    *("/translate", "/languages", "/detect", "/v1/models", "/v1/completions", "/v1/embeddings"),
    *("/classify", "/fill", "/attention", "/tokenize", "/info", "/health", "/ready", "/metrics"),
    *(f"/inside/{verb}" for verb in ("workings", "flow", "positions", "masks", "timeline", "beams", "heads")),
    *("/inside/gold", "/inside/run", "/inside/checkpoint"),
)


class Links(HTMLParser):
    """All that a page would fetch or run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.found += [str(value) for name, value in attrs if name in ("src", "href") or name.startswith("on")]


def test_the_page_tells_every_path_and_needs_nothing_from_outside(server: Running) -> None:
    status, content = server.get("/docs")
    text = content.decode()
    assert status == 200
    assert [one for one in PATHS if f" {one}</code>" not in text] == []
    links = Links()
    links.feed(text)
    assert links.found == ["/openapi.json"]
    assert not links.tags & {"script", "link", "img", "iframe", "object", "embed"}
    assert "max_tokens" in text
    assert "how many other translations are wanted" in text


def test_names_from_a_schema_are_text_on_the_page() -> None:
    route = {"post": {"tags": ["<b>"], "description": "<script>alert(1)</script>", "requestBody": {}}}
    told = page({"info": {"title": "<i>", "version": "&"}, "paths": {"/<x>": route}, "components": {"schemas": {}}})
    assert not re.search(r"<(b|i|x|script)>", told)


@pytest.mark.parametrize("phase", ["coverage", "fuzzing"])
def test_nothing_breaks_whatever_is_sent(server: Running, phase: str, tmp_path: Path) -> None:
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.address}/openapi.json"),
        *("--phases", phase, "--checks", checks, "--max-examples", "10", "--seed", "1", "--workers", "2"),
        *("--suppress-health-check", "all", "--request-timeout", "60"),
    ]
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=600)
    assert found.returncode == 0, found.stdout[-6000:] + found.stderr[-2000:]
    assert "Traceback" not in "".join(server.log)
