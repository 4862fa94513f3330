"""The pictures of the page that the docs show: light, dark, a phone, Chinese; step by step, decoding, comparing.

A model of `make demo` is served as a person would serve it, and a real browser looks at it.

    .venv/bin/python bench/screenshots.py [--model demo/model] [--out docs/pictures]
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any, Literal
from urllib.parse import quote, urlencode

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from page import served

SENTENCE = "The hunter had to cross the river, and later he came to the bank."
COLOURS = 128
"""Enough for a page that has one hue, and a third of the bytes."""
OTHER = "The farmer had to borrow money, and later he came to the bank."


@dataclass(frozen=True)
class View:
    """What is shown, and to whom. state: as it is in the address."""

    state: dict[str, Any]
    width: int = 1180
    height: int = 1010
    scheme: Literal["light", "dark"] = "light"
    locale: str = "en-GB"


VIEWS = {
    "page-light": View({}, height=1140),
    "page-dark": View({"view": "lines"}, height=1080, scheme="dark"),
    "page-phone": View({}, width=360, height=1240),
    "page-chinese": View({}, height=1140, locale="zh-CN"),
    "page-steps": View({"tab": "steps", "head": 1}, height=1250),
    "page-decoding": View({"tab": "decode", "beam": 3}, height=1100),
    "page-comparing": View({"tab": "compare", "other": "text", "than": OTHER}, height=1100),
}


def shot(browser: Browser, address: str, view: View, path: Path) -> None:
    """Of what fits into the window, somewhat finer than a screen needs."""
    size = {"width": view.width, "height": view.height}
    context = browser.new_context(
        viewport=size, color_scheme=view.scheme, locale=view.locale, device_scale_factor=1.5, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{address}#{urlencode({'text': SENTENCE, **view.state}, quote_via=quote)}")
    page.wait_for_function("() => globalThis.regard?.looking.scene && !regard.busy && !regard.frame")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1_000)
    page.screenshot(path=path)
    context.close()
    Image.open(path).convert("RGB").quantize(COLOURS).save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", type=Path, default=Path("demo/model"))
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"))
    options = parser.parse_args()
    found = which("chromium") or which("google-chrome")
    if found is None:
        raise SystemExit("There is no chromium; on Debian: apt install chromium fonts-noto-cjk")
    options.out.mkdir(parents=True, exist_ok=True)
    with served(options.model) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for name, view in VIEWS.items():
            shot(browser, address, view, options.out / f"{name}.png")
            print(options.out / f"{name}.png", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
