"""Step by step, decoding, comparing: the numbers on the page are those of the model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regard
from regard import inside
from regard.insight import rollout
from tests.page.browser import Visit
from tests.page.models import PAIRS, SENTENCE
from tests.server.serving import Running


def cells(visit: Visit, table: str) -> list[list[str]]:
    visit.page.wait_for_selector(f"[data-table={table}] tbody tr")
    found: list[list[str]] = visit.page.eval_on_selector_all(
        f"[data-table={table}] tbody tr", "rows => rows.map(row => [...row.children].map(cell => cell.innerText))"
    )
    return found


@pytest.mark.parametrize("name", ["transformer", "bahdanau", "luong"])
def test_a_cell_is_computed_before_the_eyes(visit: Visit, site: Running, shown: dict[str, Path], name: str) -> None:
    visit.open(site.address, model=name, text=SENTENCE, tab="steps", ask=3, words=0, head=0).shown()
    rows = cells(visit, "workings")
    attention = visit.page.evaluate("regard.looking.scene.attention.name")
    wanted = inside.workings(regard.load(shown[name]), SENTENCE, name=attention, head=0, row=3, column=None)
    assert [row[0] for row in rows] == [token.label for token in wanted.keys]
    stages = visit.page.locator("[data-table=workings] thead th").all_inner_texts()[1:]
    for stage, numbers in (("score", wanted.raw), ("softmax", wanted.softmax), ("weight", wanted.weights)):
        told = [float(row[1 + stages.index(stage)].replace("−", "-")) for row in rows]
        np.testing.assert_allclose(told, np.array(numbers), atol=6e-3, rtol=6e-3)
    trace = regard.load(shown[name]).attention(SENTENCE)
    np.testing.assert_allclose([float(row[-1]) for row in rows], trace.weights[attention][0, 3], atol=6e-3)


def test_the_scrubber_goes_from_score_to_values(visit: Visit, site: Running) -> None:
    visit.open(site.address, model="transformer", text=SENTENCE, tab="steps", ask=3).shown()
    cells(visit, "workings")
    seen = []
    for stage in range(6):
        visit.page.locator("[data-control=stage]").fill(str(stage))
        visit.settled()
        seen.append(visit.page.locator("[data-table=workings] thead th").count())
    assert seen == [2, 3, 4, 5, 6, 7]
    assert "×" in visit.page.inner_text("[data-table=workings] tbody tr.own td:last-child")


@pytest.mark.parametrize("name", ["transformer", "bahdanau", "gpt2", "bert", "sorter"])
def test_one_step_is_drawn_from_the_model(visit: Visit, site: Running, name: str) -> None:
    text = SENTENCE if name in ("transformer", "bahdanau") else "the cat is"
    visit.open(site.address, model=name, text=text, tab="steps").shown()
    visit.page.wait_for_selector(".flow .card")
    step = visit.page.evaluate("JSON.parse(regard.looking.tabs.parts.steps.flow.answer.key)[1]")
    chart = site.post("/inside/flow", step)[1]
    assert visit.page.locator(".flow .card").count() == len(chart["nodes"])
    assert visit.page.locator(".flow .card strong").all_inner_texts() == [
        node["label"] for group in chart["groups"] for node in chart["nodes"] if node["group"] == group["id"]
    ]
    assert visit.page.locator(".chart path").get_attribute("d").count("M") == len(chart["edges"])


def test_masks_and_positions_are_pictures(visit: Visit, site: Running) -> None:
    visit.open(site.address, model="transformer", text=SENTENCE, tab="steps").shown()
    visit.page.wait_for_selector(".masks figure")
    told = visit.page.inner_text(".masks")
    assert "nothing that comes later" in told
    visit.page.locator("[data-control=padding]").fill("3")
    visit.page.wait_for_function("() => document.querySelector('.masks').innerText.includes('no empty places')")
    visit.page.wait_for_selector(".positions canvas")


def test_another_word_can_be_forced(visit: Visit, site: Running, shown: dict[str, Path]) -> None:
    visit.open(site.address, model="transformer", text=SENTENCE, tab="decode").shown()
    visit.page.wait_for_selector(".timeline li")
    before = visit.page.inner_text(".decoding > .words")
    assert before == regard.load(shown["transformer"]).translate(SENTENCE)
    visit.page.locator(".timeline li").first.locator(".way:not(.chosen)").first.click()
    visit.page.wait_for_selector(".timeline li.forced")
    forced = [int(id) for id in visit.state["force"].split(",")]
    wanted = inside.timeline(regard.load(shown["transformer"]), SENTENCE, forced=forced)
    assert visit.page.inner_text(".decoding > .words") == wanted.text != before
    first = [float(text) for text in visit.page.locator(".timeline li .way.chosen .number").all_inner_texts()]
    np.testing.assert_allclose(first, [moment.chosen.probability for moment in wanted.moments], atol=6e-3)
    visit.page.click("text=let the model choose again")
    visit.page.wait_for_function("() => !document.querySelector('.timeline li.forced')")
    assert visit.page.inner_text(".decoding > .words") == before


def test_temperature_changes_what_is_drawn(visit: Visit, site: Running) -> None:
    visit.open(site.address, model="gpt2", text="The river", tab="decode").shown()
    visit.page.wait_for_selector(".timeline li")
    before = visit.page.inner_text(".decoding > .words")
    visit.page.locator("[data-control=temperature]").fill("1.9")
    visit.page.wait_for_function("text => document.querySelector('.decoding > .words').innerText !== text", arg=before)
    visit.page.locator("[data-control=topk]").fill("2")
    visit.page.wait_for_selector(".timeline .way.cut")


def test_the_beams_are_a_tree_and_attention_follows(visit: Visit, site: Running) -> None:
    asked = {"model": "transformer", "text": SENTENCE}
    answers = {beam: site.post("/inside/beams", {**asked, "beam": beam})[1]["hypotheses"] for beam in range(2, 9)}
    beam = next(beam for beam, ended in answers.items() if len(ended) > beam)  # several ended at the last step
    visit.open(site.address, **asked, tab="decode", beam=beam).shown()
    visit.page.wait_for_selector(".hypotheses li")
    texts = visit.page.locator(".hypotheses button").all_inner_texts()
    found = [one["text"] for one in answers[beam]]
    assert texts == found[:beam]  # as many as are kept at a time; the others on request
    visit.page.get_by_role("button", name=f"all {len(found)} that came to an end").click()
    visit.page.wait_for_selector(f".hypotheses li:nth-child({len(found)})")
    assert visit.page.locator(".hypotheses button").all_inner_texts() == found
    assert visit.page.evaluate("regard.looking.tabs.parts.decode.beams.canvas.width") > 300
    visit.page.locator(".hypotheses button").nth(1).click()
    visit.page.wait_for_function("text => !regard.busy && regard.trace.rows.prediction.text === text", arg=texts[1])


def test_a_hypothesis_without_a_word_says_so(visit: Visit, site: Running) -> None:
    def emptied(route: Any) -> None:
        told = route.fetch().json()
        told["hypotheses"][1]["text"] = ""
        route.fulfill(json=told)

    visit.page.route("**/inside/beams", emptied)
    visit.open(site.address, model="transformer", text=SENTENCE, tab="decode", beam=3).shown()
    button = visit.page.get_by_role("button", name="(nothing)")
    assert button.is_disabled()  # there is nothing that attention could be drawn for


def test_hidden_words_are_guessed(visit: Visit, site: Running, shown: dict[str, Path]) -> None:
    visit.open(site.address, model="bert", text="the cat is in", tab="decode").shown()
    visit.page.click(".hide:has-text('cat')")
    visit.page.wait_for_selector(".fills table")
    wanted = regard.load(shown["bert"]).fill("the [MASK] is in", top=8)[0]
    assert visit.page.locator(".fills tbody th").all_inner_texts() == [word.text for word in wanted]


def test_rollout_and_the_size_of_values_are_one_switch(visit: Visit, site: Running, shown: dict[str, Path]) -> None:
    visit.open(site.address, model="transformer", text=SENTENCE, words=0).shown()
    model = regard.load(shown["transformer"])
    trace = model.attention(SENTENCE)
    raw = visit.sheet()
    for how, wanted in (("rollout", rollout(trace)), ("norm", inside.norms(model, SENTENCE))):
        visit.page.click(f".choice [data-value={how}]")
        visit.page.wait_for_function(f"() => regard.looking.scene.state.how === '{how}'")
        visit.shown()
        np.testing.assert_allclose(visit.sheet(), wanted.weights_of("decoder.1.cross", "mean"), atol=1e-3)
        assert np.abs(visit.sheet() - raw).max() > 0.01


def drawn(visit: Visit) -> list[Any]:
    visit.page.wait_for_function("() => regard.looking.tabs.parts.compare.drawn")
    visit.settled()
    script = (
        "regard.looking.tabs.parts.compare.drawn.map(one => one && [one.sheet.T, one.sheet.S, [...one.sheet.values]])"
    )
    return [one and np.array(one[2]).reshape(one[0], one[1]) for one in visit.page.evaluate(script)]


def test_two_sentences_are_compared_where_they_are_alike(visit: Visit, site: Running, shown: dict[str, Path]) -> None:
    first, second = PAIRS[0][0], PAIRS[1][0]
    visit.open(site.address, model="transformer", text=first, tab="compare", other="text", than=second).shown()
    one, other, difference = drawn(visit)
    model = regard.load(shown["transformer"])
    traces = [model.attention(text).by_words() for text in (first, second)]
    for found, trace in zip((one, other), traces, strict=True):
        np.testing.assert_allclose(found, trace.weights_of("decoder.1.cross", "mean"), atol=1e-3)
    labels = visit.page.evaluate("regard.looking.tabs.parts.compare.drawn[2].sheet.reads.labels")
    assert labels == ["Emma", "came", "to", "the", "bank", "after", ".", "</s>"]
    assert difference[0, 0] == pytest.approx(
        other[_place(traces[1], visit, 0, 1), 0] - one[_place(traces[0], visit, 0, 0), 0], abs=1e-6
    )


def _place(trace: Any, visit: Visit, row: int, which: int) -> int:
    return int(visit.page.evaluate(f"regard.looking.tabs.parts.compare.shared.asks[{row}][{which}]"))


def test_two_heads_are_compared(visit: Visit, site: Running, shown: dict[str, Path]) -> None:
    state = {
        "tab": "compare",
        "other": "head",
        "than": "encoder.0.self:1",
        "family": "encoder.self",
        "layer": 1,
        "head": 0,
    }
    visit.open(site.address, model="transformer", text=SENTENCE, **state).shown()
    one, other, difference = drawn(visit)
    trace = regard.load(shown["transformer"]).attention(SENTENCE).by_words()
    wanted = [trace.weights_of("encoder.1.self", 0), trace.weights_of("encoder.0.self", 1)]
    np.testing.assert_allclose(one, wanted[0], atol=1e-3)
    np.testing.assert_allclose(other, wanted[1], atol=1e-3)
    np.testing.assert_allclose(difference, wanted[1] - wanted[0], atol=2e-3)


def test_two_models_are_compared(visit: Visit, site: Running, shown: dict[str, Path]) -> None:
    visit.open(site.address, model="bahdanau", text=SENTENCE, tab="compare", other="model", than="transformer").shown()
    one, other, _ = drawn(visit)
    for found, name, attention in ((one, "bahdanau", "decoder.align"), (other, "transformer", "decoder.1.cross")):
        trace = regard.load(shown[name]).attention(SENTENCE).by_words()
        np.testing.assert_allclose(found, trace.weights_of(attention, "mean"), atol=1e-3)


def test_training_can_be_scrubbed(visit: Visit, site: Running) -> None:
    run = site.post("/inside/run", {"model": "transformer"})[1]
    visit.open(site.address, model="transformer", text=SENTENCE, tab="compare", other="update").shown()
    visit.page.wait_for_selector("[data-control=update]")
    visit.page.locator("[data-control=update]").fill("0")
    last, first, difference = drawn(visit)
    assert len(run["updates"]) > 1
    np.testing.assert_allclose(difference, first - last, atol=1e-6)
    assert np.abs(difference).max() > 0.05
