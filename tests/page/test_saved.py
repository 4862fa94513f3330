"""The same page without a server: saved, and in a notebook."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

import regard
from regard.insight import TokenRow, Trace
from tests.commands import Run
from tests.insight.example import example, softmax
from tests.page.browser import Visit, read_json, strangers, visiting
from tests.page.models import SENTENCE
from tests.server.serving import Running


@pytest.fixture
def offline(browser: Browser) -> "Visit":  # type: ignore[misc]
    with visiting(browser, offline=True) as found:
        yield found
        assert strangers(found.requests, "file:") == []
        assert found.errors == []


def test_a_saved_trace_is_the_same_page(offline: Visit, tmp_path: Path) -> None:
    trace = example()
    offline.open(trace.save(tmp_path / "look.html").as_uri(), family="decoder.cross", layer=1, head=2, words=0).shown()
    np.testing.assert_allclose(offline.sheet(), trace.weights_of("decoder.1.cross", 2), atol=5e-4)
    assert offline.page.locator("textarea").count() == 0
    found = read_json(offline.saved("json", tmp_path))
    for name in trace.names:
        np.testing.assert_allclose(found.weights[name], trace.weights[name], atol=5e-4)


def test_look_writes_the_page_with_what_was_asked_for(
    run: Run, offline: Visit, shown: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "x.html"
    code, _, _ = run(
        "look", shown["transformer"], SENTENCE, "--out", out, "--name", "encoder", "--layer", 0, "--head", 3
    )
    assert code == 0
    offline.open(out.as_uri()).shown()
    assert offline.page.evaluate("regard.looking.scene.attention.name") == "encoder.0.self"
    trace = regard.load(shown["transformer"]).attention(SENTENCE).by_words()
    np.testing.assert_allclose(offline.sheet(), trace.weights_of("encoder.0.self", 3), atol=1e-3)


def test_a_page_saved_from_the_page_shows_the_same(visit: Visit, offline: Visit, site: Running, tmp_path: Path) -> None:
    visit.open(site.address, model="transformer", text=SENTENCE, layer=0, head=1, marks=0, view="lines").shown()
    visit.page.locator("[data-side=ask] .token", has_text="河岸").click()
    saved = visit.saved("html", tmp_path)
    offline.open(saved.as_uri()).shown()
    assert offline.said == visit.said
    np.testing.assert_allclose(offline.sheet(), visit.sheet(), atol=1e-6)
    again = offline.saved("html", tmp_path / "again")
    offline.open(again.as_uri()).shown()
    assert offline.said == visit.said


def test_a_large_page_opens_without_a_server(offline: Visit, tmp_path: Path) -> None:
    row = TokenRow.of([f"w{i}" for i in range(100)])
    names = [f"encoder.{layer}.self" for layer in range(12)]
    trace = Trace(
        {"text": row},
        {n: softmax(i, 12, 100, 100) for i, n in enumerate(names)},
        dict.fromkeys(names, ("text", "text")),
    )
    path = trace.save(tmp_path / "large.html")
    assert path.stat().st_size < 2_000_000
    offline.open(path.as_uri(), head=3)
    offline.page.wait_for_function("() => regard?.looking.heads.found.size === 12")
    np.testing.assert_allclose(offline.sheet(), trace.weights_of("encoder.11.self", 3), atol=0.5 / 255 + 1e-5)
    assert "±0.002" in offline.page.inner_text(".remarks")


def test_a_notebook_shows_the_page_in_a_frame(offline: Visit, tmp_path: Path) -> None:
    trace = example()
    (tmp_path / "notebook.html").write_text(
        f"<!doctype html><p>In [1]:</p>{trace.show(layer=0, head=1)._repr_html_()}", encoding="utf-8"
    )
    offline.page.goto((tmp_path / "notebook.html").as_uri())
    frame = offline.page.frame_locator("iframe")
    frame.locator("#said").wait_for()
    words = trace.by_words()
    frame.locator("[data-side=ask] .token").first.hover()
    told = words.sentence("decoder.0.cross", 1, 0).replace("*", "")
    offline.page.wait_for_timeout(200)
    assert frame.locator("#said").inner_text().split()[:3] == told.split()[:3]
    frame.locator("[data-name='decoder.1.cross'][data-head='0']").click()
    offline.page.wait_for_timeout(200)
    assert frame.locator("[data-control=layer]").input_value() == "1"


def test_damaged_data_is_told(browser: Browser, tmp_path: Path) -> None:
    path = example().save(tmp_path / "look.html")
    path.write_text(
        path.read_text(encoding="utf-8").replace('id="trace" data-view="{}">eN', 'id="trace" data-view="{}">AA'),
        encoding="utf-8",
    )
    with visiting(browser) as visit:
        visit.page.goto(path.as_uri())
        assert "data cannot be read" in visit.notice()
