"""How the page looks: in light and dark, in two languages, on a phone, in every script."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from regard.insight import TokenRow, Trace
from tests.insight.example import softmax
from tests.page.browser import Visit, visiting
from tests.page.models import SENTENCE
from tests.server.serving import Running


def background(visit: Visit) -> int:
    colour = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in colour[4:-1].split(","))


def test_dark_and_light_follow_the_system_or_the_switch(browser: Browser, site: Running) -> None:
    for scheme, dark in (("dark", True), ("light", False)):
        with visiting(browser, color_scheme=scheme) as visit:
            visit.open(site.address, model="bert", text="the cat").shown()
            assert (background(visit) < 200) is dark
            visit.page.select_option("[data-control=theme]", "light" if dark else "dark")
            visit.settled()
            assert (background(visit) < 200) is not dark


def test_the_interface_speaks_chinese(browser: Browser, site: Running) -> None:
    with visiting(browser, locale="zh-CN") as visit:
        visit.open(site.address, model="transformer", text=SENTENCE).shown()
        assert visit.page.inner_text("button.go") == "查看"
        assert "给了" in visit.said
        assert visit.page.evaluate("document.documentElement.lang") == "zh-Hans"
        visit.page.click("[data-control=lang]")
        visit.settled()
        assert visit.page.inner_text("button.go") == "Look"
        english = visit.page.inner_text("body")
        visit.page.click("[data-control=lang]")
        visit.settled()
        assert visit.page.inner_text("body") != english


@pytest.mark.parametrize("state", [{}, {"view": "lines"}, {"view": "table"}, {"lang": "zh"}])
@pytest.mark.parametrize("name", ["transformer", "rnn", "bert"])
def test_nothing_sticks_out_of_a_phone(browser: Browser, site: Running, name: str, state: dict[str, Any]) -> None:
    with visiting(browser, viewport={"width": 360, "height": 740}) as visit:
        visit.open(site.address, model=name, **state)
        visit.page.wait_for_function("() => regard.trace && !regard.busy && !regard.frame")
        visit.settled()
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_every_script_is_shown_whole(browser: Browser, tmp_path: Path) -> None:
    surfaces = ["مرحبا", "بالعالم", "שלום", "ไทย", "日本語", "한국어", "👩‍👩‍👧", "e\u0301", "*", "<b>", "a|b"]
    row = TokenRow.of(surfaces, language="ar")
    trace = Trace({"text": row}, {"encoder.0.self": softmax(0, 2, 11, 11)}, {"encoder.0.self": ("text", "text")})
    with visiting(browser) as visit:
        visit.open(trace.save(tmp_path / "scripts.html").as_uri(), words=0, head=1).shown()
        assert visit.page.locator(".token").all_inner_texts() == surfaces
        assert visit.page.evaluate("getComputedStyle(document.querySelector('.words')).direction") == "rtl"
        for place, surface in enumerate(surfaces):
            visit.page.locator(f".token[data-place='{place}']").hover()
            visit.settled()
            assert visit.said.replace("\u2068", "").startswith(surface)
        assert visit.errors == []


def test_labels_never_show_how_a_tokenizer_spells(visit: Visit, site: Running) -> None:
    for name, text in (("transformer", SENTENCE), ("gpt2", "The 猫 river"), ("bert", "the cats")):
        visit.page.goto("about:blank")
        visit.open(site.address, model=name, text=text, words=0).shown()
        labels = visit.page.locator(".token").all_inner_texts()
        assert not [label for label in labels if any(sign in label for sign in ("▁", "Ġ", "##", "\ufffd"))]


def test_a_translation_grows_step_by_step(browser: Browser, site: Running) -> None:
    with visiting(browser) as still:
        still.open(site.address, model="bahdanau", text=SENTENCE).shown()
        assert still.page.locator(".token.later").count() == 0  # who wants no motion sees all at once
        assert not still.page.locator(".growing button").is_visible()
        still.page.locator("[data-control=step]").fill("3")
        still.settled()
        shown = still.page.locator("[data-side=ask] .token:not(.later)").count()
        assert shown == 3
    context = browser.new_context(reduced_motion="no-preference")
    page = context.new_page()
    page.goto(f"{site.address}/#model=bahdanau&text=The%20bank%20is%20wet.")
    page.wait_for_function("() => document.querySelectorAll('.token.later').length > 0")
    page.wait_for_function("() => regard.looking.scene && document.querySelectorAll('.token.later').length === 0")
    context.close()
