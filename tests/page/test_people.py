"""People at the page: a newcomer, two at once, one who has a link, one without a mouse."""

import re
import struct
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Browser

import regard
from tests.page.browser import AXE, Visit, missing, visiting
from tests.page.models import PAIRS, SENTENCE
from tests.server.serving import Running


def test_a_newcomer_finds_what_the_river_bank_looked_at(
    visit: Visit, site: Running, shown: dict[str, Path], browser: Browser, tmp_path: Path
) -> None:
    visit.open(site.address).shown()
    visit.page.select_option("#model", "transformer")
    visit.ask(SENTENCE).shown()
    word = visit.page.locator("[data-side=ask] .token", has_text="河岸")
    word.hover()
    visit.settled()
    trace = regard.load(shown["transformer"]).attention(SENTENCE).by_words()
    place = trace.rows["prediction"].labels.index("河岸")
    looked = trace.rows["source"].labels[trace.weights_of("decoder.1.cross", "mean")[place].argmax()]
    assert re.match(rf"河岸 gives \d\.\d\d to {re.escape(looked)}\b", visit.said)
    word.click()
    png = visit.saved("png", tmp_path).read_bytes()
    assert png.startswith(b"\x89PNG")
    assert min(struct.unpack(">II", png[16:24])) > 400
    svg = ElementTree.parse(visit.saved("svg", tmp_path)).getroot()
    labels = [node.text for node in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert {"河岸", "bank", "Emma", "reads from →", "asks ↓"} <= set(labels)
    link = visit.page.url
    with visiting(browser) as friend:
        friend.open(link).shown()
        assert friend.said == visit.said
        assert friend.state == visit.state
        np.testing.assert_array_equal(friend.sheet(), visit.sheet())


def test_two_at_once_do_not_see_each_others_weights(site: Running, shown: dict[str, Path], browser: Browser) -> None:
    texts = [source for source, _ in PAIRS]
    model = regard.load(shown["transformer"])
    wanted = {text: model.attention(text).by_words().weights_of("decoder.1.cross", "mean") for text in texts}
    with visiting(browser) as one, visiting(browser) as other:
        for person in (one, other):
            person.open(site.address, model="transformer", text=texts[-1]).shown()
        for mine, theirs in zip(texts, reversed(texts), strict=True):
            one.page.evaluate("text => regard.look({ text, second: null, generate: 0 })", mine)
            other.page.evaluate("text => regard.look({ text, second: null, generate: 0 })", theirs)
            for person, text in ((one, mine), (other, theirs)):
                person.page.wait_for_function(
                    "text => !regard.busy && regard.trace.rows.source.text === text", arg=text
                )
                person.shown()
                np.testing.assert_allclose(person.sheet(), wanted[text], atol=1e-3)


def test_the_address_holds_everything_and_back_goes_back(visit: Visit, site: Running) -> None:
    visit.open(site.address, model="transformer", text=SENTENCE).shown()
    visit.page.click("[data-name='decoder.0.cross'][data-head='2']")
    visit.page.keyboard.press("v")
    visit.page.click(".check:has-text('marks')")
    visit.settled()
    state = visit.state
    assert (state["layer"], state["head"], state["view"], state["marks"]) == (0, 2, "lines", False)
    visit.page.reload()
    visit.shown()
    assert visit.state == state
    visit.page.go_back()
    visit.settled()
    assert visit.state == {**state, "marks": True}
    visit.page.go_back()
    visit.settled()
    assert visit.state == {**state, "marks": True, "view": "matrix"}


@pytest.mark.parametrize("view", ["matrix", "lines"])
def test_hover_previews_click_keeps_escape_lets_go(visit: Visit, site: Running, view: str) -> None:
    visit.open(site.address, model="transformer", text=SENTENCE, view=view).shown()
    begin = visit.said
    spot: Any = visit.page.evaluate(
        """(() => { const { plan, surface, kind } = regard.looking.views, box = surface.base.getBoundingClientRect();
        const at = kind === "matrix" ? { x: plan.left + 2.5 * plan.cell, y: plan.top + 4.5 * plan.cell } : plan.asks[4];
        surface.base.scrollIntoView({ block: "center" });
        const now = surface.base.getBoundingClientRect(); return { x: now.left + at.x, y: now.top + at.y }; })()"""
    )
    visit.page.mouse.move(spot["x"], spot["y"])
    visit.settled()
    assert visit.said != begin
    assert visit.state["ask"] is None
    held = visit.said
    visit.page.mouse.click(spot["x"], spot["y"])
    visit.page.mouse.move(2, 2)
    visit.settled()
    assert visit.said == held
    assert visit.state["ask"] is not None
    visit.page.keyboard.press("Escape")
    visit.settled()
    assert visit.said == begin


def test_everything_can_be_reached_without_a_mouse(visit: Visit, site: Running) -> None:
    visit.open(site.address, model="transformer", text=SENTENCE).shown()
    reached: list[str] = []
    name = "el.dataset.control ?? el.dataset.save ?? el.dataset.surface ?? el.role ?? ''"
    focusable = f"el => `${{el.tagName}}#${{el.id}}.${{{name}}}`"
    visit.page.keyboard.press("Tab")
    for _ in range(60):
        where = visit.page.evaluate(f"({focusable})(document.activeElement)")
        if where.startswith("BODY") and reached:
            break
        reached.append(where)
        outline = visit.page.evaluate(
            "(() => { const s = getComputedStyle(document.activeElement);"
            " return s.outlineStyle !== 'none' || s.boxShadow !== 'none'; })()"
        )
        assert outline, f"{where} does not show that it has the focus"
        visit.page.keyboard.press("Tab")
    told = " ".join(reached)
    for part in (
        "#text",
        "#model",
        ".lang",
        ".theme",
        ".keys",
        ".layer",
        ".head",
        ".sort",
        ".png",
        ".html",
        ".main",
        ".option",
        ".radio",
    ):
        assert part in told, f"{part} cannot be reached"


def test_arrows_walk_through_words_cells_and_heads(visit: Visit, site: Running) -> None:
    visit.open(site.address, model="transformer", text=SENTENCE).shown()
    visit.page.locator("[data-side=ask] .token").first.focus()
    visit.page.keyboard.press("ArrowRight")
    visit.page.keyboard.press("Enter")
    visit.settled()
    assert visit.state["ask"] == 1
    visit.page.locator(".surface[data-surface=main]").focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        visit.settled()
        visit.page.keyboard.press(key)
    visit.settled()
    assert (visit.state["ask"], visit.state["read"]) == (2, 0)
    visit.page.locator(".thumb[tabindex='0']").focus()
    visit.page.keyboard.press("ArrowUp")
    visit.page.keyboard.press("ArrowRight")
    visit.page.keyboard.press("Enter")
    visit.settled()
    assert (visit.state["layer"], visit.state["head"]) == (0, 1)
    visit.page.keyboard.press("]")
    visit.page.keyboard.press(".")
    visit.settled()
    assert (visit.state["layer"], visit.state["head"]) == (1, 2)
    visit.page.keyboard.press("?")
    assert visit.page.locator("dialog.help").is_visible()
    visit.page.keyboard.press("Escape")
    assert not visit.page.locator("dialog.help").is_visible()


@pytest.mark.parametrize(
    "state", [{}, {"view": "table", "theme": "dark"}, {"view": "lines", "lang": "zh"}, {"model": "rnn"}]
)
def test_axe_finds_nothing_serious(visit: Visit, site: Running, state: dict[str, str]) -> None:
    if not AXE.exists():
        missing("There is no axe-core; `make browser` fetches it")
    visit.open(site.address, **{"model": "transformer", "text": SENTENCE, **state})
    visit.page.wait_for_function("() => regard.trace && !regard.busy && !regard.frame")
    visit.page.locator("details.more").evaluate_all("all => all.forEach(one => (one.open = true))")
    visit.settled()
    visit.page.evaluate(AXE.read_text(encoding="utf-8"))
    found = visit.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    told = [
        (one["id"], one["impact"], [node["html"][:200] for node in one["nodes"]][:3]) for one in found["violations"]
    ]
    assert [one for one in told if one[1] in ("serious", "critical")] == []
