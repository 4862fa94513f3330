"""What the page shows is what the model computed: for every kind of model, in every view."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regard
from regard.insight import Trace
from tests.page.browser import Visit, read_json
from tests.page.models import SENTENCE
from tests.server.serving import Running

ASKED: dict[str, dict[str, Any]] = {
    "transformer": {"text": SENTENCE},
    "bahdanau": {"text": SENTENCE},
    "luong": {"text": SENTENCE},
    "gpt2": {"text": "The river"},
    "bert": {"text": "the cat is in", "second": "a river"},
    "sorter": {"text": "the cat is in the house ."},
}


def captured(model: Path, text: str, second: str | None = None, generate: int = 0) -> Trace:
    loaded = regard.load(model)
    if generate:
        return loaded.attention(text, generate=generate, temperature=0.0)  # type: ignore[no-any-return]
    return loaded.attention(text) if second is None else loaded.attention(text, second)  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ASKED)
def test_all_weights_of_a_model_reach_the_page(
    visit: Visit, site: Running, shown: dict[str, Path], name: str, tmp_path: Path
) -> None:
    visit.open(site.address, model=name, **ASKED[name]).shown()
    found = read_json(visit.saved("json", tmp_path))
    wanted = captured(shown[name], **ASKED[name])
    assert found.names == wanted.names
    assert {row: found.rows[row].surfaces for row in found.rows} == {
        row: wanted.rows[row].surfaces for row in wanted.rows
    }
    for attention in wanted.names:
        np.testing.assert_allclose(found.weights[attention], wanted.weights[attention], atol=5e-4)


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("words", [True, False])
def test_every_view_has_the_models_numbers(
    visit: Visit, site: Running, shown: dict[str, Path], name: str, words: bool, tmp_path: Path
) -> None:
    trace = captured(shown[name], **ASKED[name])
    trace = trace.by_words() if words else trace
    for attention in (trace.names[0], trace.names[-1]):
        for head in ("mean", len(trace.weights[attention]) - 1):
            parts = attention.split(".")
            layer = next((part for part in parts if part.isdigit()), "")
            family = ".".join(part for part in parts if not part.isdigit())
            state = {"family": family, "layer": layer, "head": head, "words": int(words), "view": "table"}
            visit.page.goto("about:blank")
            visit.open(site.address, model=name, **ASKED[name], **state).shown()
            wanted = trace.weights_of(attention, head)  # type: ignore[arg-type]
            np.testing.assert_allclose(visit.sheet(), wanted, atol=1e-3)
            np.testing.assert_allclose(visit.table(), wanted, atol=1.1e-3)
            with visit.saved("csv", tmp_path).open(encoding="utf-8", newline="") as lines:
                rows = list(csv.DictReader(lines))
            np.testing.assert_allclose([float(row["weight"]) for row in rows], wanted.ravel(), atol=1e-3)
            labels = [row["reads"] for row in rows[: wanted.shape[1]]]
            assert tuple(labels) == trace.rows_of(attention)[1].labels


@pytest.mark.parametrize("name", ["transformer", "bahdanau", "gpt2", "bert"])
def test_a_word_says_what_the_trace_says(visit: Visit, site: Running, shown: dict[str, Path], name: str) -> None:
    trace = captured(shown[name], **ASKED[name]).by_words()
    visit.open(site.address, model=name, **ASKED[name]).shown()
    attention = visit.page.evaluate("regard.looking.scene.attention.name")
    side = visit.page.locator("[data-side=ask], [data-side=both]").first
    for place in range(len(trace.rows_of(attention)[0])):
        side.locator(f"[data-place='{place}']").hover()
        visit.settled()
        wanted = trace.sentence(attention, "mean", place).replace("*", "")
        assert visit.said.split()[0] == wanted.split()[0]
        told, known = ([float(w) for w in text.split() if w[0].isdigit()] for text in (visit.said, wanted))
        np.testing.assert_allclose(told, known, atol=0.0101)


def test_cells_are_as_dark_as_their_weights(visit: Visit, site: Running) -> None:
    visit.open(site.address, model="bahdanau", text=SENTENCE, palette="grey", words=0).shown()
    weights = visit.sheet()
    bright = visit.page.evaluate(
        """(() => {
        const { views, scene } = regard.looking, { left, top, cell } = views.plan, canvas = views.surface.base;
        const scale = canvas.width / canvas.clientWidth, at = canvas.getContext("2d");
        const pixel = (t, s) => at.getImageData((left + s * cell + 3) * scale, (top + t * cell + 3) * scale, 1, 1);
        const line = (t) => Array.from({ length: scene.sheet.S }, (_, s) => pixel(t, s).data[1]);
        return Array.from({ length: scene.sheet.T }, (_, t) => line(t));
        })()"""
    )
    order = np.argsort(weights.ravel())
    assert np.all(np.diff(np.array(bright).ravel()[order]) <= 1)  # never lighter with more weight
    assert np.ptp(bright) > 150


def test_the_figures_of_heads_are_those_of_their_weights(visit: Visit, site: Running, shown: dict[str, Path]) -> None:
    visit.open(site.address, model="transformer", text=SENTENCE, family="encoder.self").shown()
    visit.page.wait_for_function("() => regard.looking.heads.found.size === 2")
    trace = captured(shown["transformer"], SENTENCE)
    for layer in (0, 1):
        name = f"encoder.{layer}.self"
        found = visit.page.evaluate(f"regard.looking.heads.found.get('{name}').map(({{ small, ...rest }}) => rest)")
        for head, weights in enumerate(trace.weights[name]):
            rows = weights[1:]  # the first has nothing before it
            wanted = {
                "diagonal": np.diagonal(weights)[1:].mean(),
                "previous": np.diagonal(weights, -1).mean(),
                "sink": rows.mean(axis=0).max(),
                "entropy": -(rows * np.log(rows)).sum(axis=1).mean() / np.log(rows.shape[1]),
            }
            assert {key: found[head][key] for key in wanted} == pytest.approx(wanted, abs=5e-3)


def test_hidden_marks_are_counted(visit: Visit, site: Running, shown: dict[str, Path]) -> None:
    visit.open(site.address, model="bert", text="the cat is in", marks=0).shown()
    trace = captured(shown["bert"], "the cat is in").by_words().without_specials()
    attention = trace.names[-1]
    np.testing.assert_allclose(visit.sheet(), trace.weights_of(attention, "mean"), atol=1e-3)
    dropped = round(100 * trace.meta["dropped"][attention])
    assert f"hold {dropped} %" in visit.page.inner_text(".remarks")


def test_even_attention_is_the_baseline(visit: Visit, site: Running, shown: dict[str, Path]) -> None:
    visit.open(site.address, model="gpt2", text="The river", base=1, words=0).shown()
    shown_values = np.array(visit.page.evaluate("[...regard.looking.scene.shown.values]"))
    weights = visit.sheet()
    even = np.tril(np.ones_like(weights)) / np.arange(1, len(weights) + 1)[:, None]
    np.testing.assert_allclose(shown_values.reshape(weights.shape), weights - even, atol=1e-6)


def test_a_model_that_writes_shows_where_it_looked_meanwhile(
    visit: Visit, site: Running, shown: dict[str, Path], tmp_path: Path
) -> None:
    visit.open(site.address, model="gpt2", text="The river", generate=3).shown()
    found = read_json(visit.saved("json", tmp_path))
    wanted = captured(shown["gpt2"], "The river", generate=3)
    assert found.rows["prediction"].surfaces == wanted.rows["prediction"].surfaces
    np.testing.assert_allclose(found.weights[wanted.names[-1]], wanted.weights[wanted.names[-1]], atol=5e-4)


def test_known_links_are_scored(visit: Visit, site: Running) -> None:
    visit.open(site.address, model="transformer", text=SENTENCE, marks=0).shown()
    best = visit.sheet().argmax(axis=1)
    links = " ".join(f"{s}-{t}" for t, s in enumerate(best))
    visit.page.click("details.more summary")
    visit.page.fill("[data-control=gold]", links)
    visit.page.keyboard.press("Enter")
    visit.settled()
    assert "alignment error rate 0.00" in visit.page.inner_text(".remarks")
    visit.page.fill("[data-control=gold]", " ".join(f"{s}-{t}" for t, s in enumerate(best[:-2])))
    visit.page.keyboard.press("Enter")
    visit.settled()
    right, made = len(best) - 2, len(best)
    assert f"alignment error rate {1 - 2 * right / (made + right):.2f}" in visit.page.inner_text(".remarks")
