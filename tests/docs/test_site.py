"""The site is built as `make docs` builds it: without a warning, and with nothing from elsewhere."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.docs.blocks import ROOT
from tests.page.browser import chromium, visiting

OFFLINE = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "NO_MKDOCS_2_WARNING": "1"}
LOADED = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=["']?(https?:[^"'> ]+)""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(directory)]
    environment = {**os.environ, **OFFLINE, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return directory


class Files(SimpleHTTPRequestHandler):
    """Says nothing."""

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(site))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.slow
def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        assert not LOADED.findall(page.read_text(encoding="utf-8")), page


@pytest.mark.slow
def test_chinese_pages_say_that_they_are_chinese(site: Path) -> None:
    assert '<html lang="zh"' in (site / "zh" / "index.html").read_text(encoding="utf-8")
    assert '<html lang="en"' in (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_theme_speaks_the_language_of_the_page(site: Path) -> None:
    english, chinese = ((site / folder / "index.html").read_text(encoding="utf-8") for folder in (".", "zh"))
    assert all(said in chinese for said in ("目录", "搜索", "切换到深色"))
    assert all(said not in english for said in ("目录", "搜索", "切换到深色"))


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    ("wanted", "page"),
    [("解码器", "zh/tutorial/memory.html"), ("翻译", "zh/how-to/translator.html"), ("hunters", "entities.html")],
)
def test_a_word_is_found_where_it_stands(site: Path, wanted: str, page: str) -> None:
    with served(site) as address, chromium() as (_, browser), visiting(browser) as visit:
        visit.open(f"{address}/zh/index.html")
        visit.page.click(".md-search__input")
        visit.page.keyboard.type(wanted)
        visit.page.keyboard.press("Shift")  # the page waits for a key to go up; `type` has none for Chinese
        visit.page.wait_for_selector(".md-search-result__link", state="attached")
        told = visit.page.inner_text(".md-search-result__meta")
        links = visit.page.eval_on_selector_all(".md-search-result__link", "links => links.map(link => link.href)")
    found = {link.removeprefix(f"{address}/").partition("?")[0].partition("#")[0] for link in links}
    assert page in found
    assert 0 < int(re.search(r"\d+", told)[0]) < 30


@pytest.mark.slow
def test_formulas_and_code_are_on_the_page(site: Path) -> None:
    page = (site / "tutorial" / "attention.html").read_text(encoding="utf-8")
    assert "<msqrt>" in page
    assert "src/regard/attention/attend.py" in page
    assert "```" not in page
