"""A real browser, and what a person does with it."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from typing import Any, NoReturn
from urllib.parse import quote, urlencode

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from regard.insight import Trace

ROOT = Path(__file__).parents[2]
AXE = Path(os.environ.get("REGARD_AXE", ROOT / ".browser" / "axe.min.js"))
REQUIRED = os.environ.get("REGARD_BROWSER") == "required"
PATIENCE = 30_000


def missing(what: str) -> NoReturn:
    """Skips, or fails where browser tests must not be skipped."""
    if REQUIRED:
        pytest.fail(what)
    pytest.skip(what)


@contextmanager
def chromium() -> Iterator[tuple[Playwright, Browser]]:
    path = which("chromium") or which("chromium-browser") or which("google-chrome")
    if path is None:
        missing("There is no chromium; on Debian: apt install chromium fonts-noto-cjk")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield playwright, browser
        finally:
            browser.close()


@dataclass
class Visit:
    """A window on the page: what it asked for, what went wrong in it."""

    page: Page
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def open(self, address: str, **state: Any) -> "Visit":
        self.page.goto(address + (f"#{urlencode(state, quote_via=quote)}" if state else ""))
        return self

    def shown(self) -> "Visit":
        """Until something exact is drawn and nothing is under way."""
        self.page.wait_for_function(
            "() => globalThis.regard?.looking.scene && !regard.busy && !regard.frame"
            " && regard.looking.said.dataset.exact === 'true'"
        )
        return self.settled()

    def settled(self) -> "Visit":
        """Until what is to be drawn is drawn."""
        self.page.wait_for_function("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)))")
        return self

    def ask(self, text: str) -> "Visit":
        before = self.page.evaluate("regard.trace?.id ?? 0")
        self.page.fill("#text", text)
        self.page.click("button.go")
        self.page.wait_for_function(f"() => regard.trace && regard.trace.id !== {before} && !regard.busy")
        return self.settled()

    @property
    def said(self) -> str:
        return self.page.inner_text("#said")

    @property
    def state(self) -> dict[str, Any]:
        return dict(self.page.evaluate("regard.store.state"))

    def sheet(self) -> np.ndarray:
        """The matrix that all views show."""
        found = self.page.evaluate(
            "(() => { const { sheet } = regard.looking.scene; return [sheet.T, sheet.S, [...sheet.values]]; })()"
        )
        return np.array(found[2], dtype=np.float32).reshape(found[0], found[1])

    def table(self) -> np.ndarray:
        """The same as who cannot see it is told."""
        rows = self.page.eval_on_selector_all(
            "[data-table=all] tbody tr",
            "rows => rows.map(row => [...row.querySelectorAll('td')].map(td => +td.innerText))",
        )
        return np.array(rows, dtype=np.float32)

    def saved(self, kind: str, folder: Path) -> Path:
        """What the page gives away."""
        with self.page.expect_download() as found:
            self.page.click(f"[data-save={kind}]")
        path = folder / found.value.suggested_filename
        found.value.save_as(path)
        return path

    def notice(self) -> str:
        """What it says went wrong."""
        self.page.wait_for_selector(".notice:not([hidden])")
        return self.page.inner_text(".notice")


@contextmanager
def visiting(browser: Browser, **settings: Any) -> Iterator[Visit]:
    """A person of their own: nothing is shared with others, not even cookies."""
    context = browser.new_context(accept_downloads=True, reduced_motion="reduce", **settings)
    context.set_default_timeout(PATIENCE)
    visit = Visit(context.new_page())
    context.on("request", lambda request: visit.requests.append(request.url))
    visit.page.on("pageerror", lambda error: visit.errors.append(str(error)))
    visit.page.on("console", lambda told: visit.errors.append(told.text) if told.type == "error" else None)
    try:
        yield visit
    finally:
        context.close()


def strangers(requests: list[str], own: str) -> list[str]:
    """What was asked of others than the server itself."""
    inside = re.compile(rf"{re.escape(own)}/|data:|blob:|about:|file:")
    return [url for url in requests if not inside.match(url)]


def read_json(path: Path) -> Trace:
    """A trace that the page saved, as Python reads it."""
    assert json.loads(path.read_text(encoding="utf-8"))["format"] == "regard.trace"
    return Trace.load(path)
