"""The site is built as `make docs` builds it: without a warning, and with nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT

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
def test_formulas_and_code_are_on_the_page(site: Path) -> None:
    page = (site / "tutorial" / "attention.html").read_text(encoding="utf-8")
    assert "<msqrt>" in page
    assert "src/regard/attention/attend.py" in page
    assert "```" not in page
