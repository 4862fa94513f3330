"""How quick the page is, in a real browser: first paint, weight, hover, layers, all heads; BertViz beside it.

A BERT of 12 layers × 12 heads with random weights is served as a person would serve it. Times of hover and layers are
those that the browser works for an answer (event, drawing, style and layout), without the wait for the next frame:
the median and the worst of many. BertViz gets the same weights; what it loads from elsewhere (require.js, d3, jQuery)
is handed to it from this disk (`make bench-page` fetches it), so that no network is measured.

    .venv-bench/bin/python bench/page.py [--rounds N] [--json FILE]
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from statistics import median
from typing import Any

import torch
from playwright.sync_api import Browser, Page, Route, sync_playwright
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

import regard

LAYERS = HEADS = 12
LENGTHS, PEER_LENGTHS = (128, 512), (64, 128)
KEPT = Path(__file__).parents[1] / ".browser"
SCRIPTS = {"require.min.js": "require.min.js", "d3.min.js": "d3.min.js", "jquery.min.js": "jquery.min.js"}
SCRIPT = Path(__file__).with_suffix(".js")


def write_model(folder: Path) -> Path:
    """A BERT whose heads look here and there, with a word for each number."""
    torch.manual_seed(0)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{i}" for i in range(600))]
    (folder / "vocab.txt").write_text("\n".join(words))
    config = BertConfig(
        vocab_size=len(words), hidden_size=192, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=384, max_position_embeddings=514, initializer_range=0.25,
    )  # fmt: skip
    BertForMaskedLM(config).save_pretrained(folder)
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def text_of(tokens: int) -> str:
    """So many tokens with [CLS] and [SEP]."""
    return " ".join(f"w{(i * 7) % 600}" for i in range(tokens - 2))


@contextmanager
def served(model: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "regard", "look", str(model), "--web", "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip().rstrip("/")
    finally:
        process.terminate()
        process.wait(60)


def first_paint(browser: Browser, address: str) -> dict[str, float]:
    """A first visit, nothing cached: the first picture of anything, the first view of weights, bytes of the page."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    sizes: list[int] = []
    page.on("response", lambda answer: sizes.append(len(answer.body())) if "/page/" in answer.url else None)
    begin = time.perf_counter()
    page.goto(address)
    sizes.append(len(page.content()))
    page.wait_for_function("() => globalThis.regard?.looking.scene")
    shown = time.perf_counter() - begin
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    context.close()
    return {"first paint": paint, "first weights": 1000 * shown, "page, kB": sum(sizes) / 1000}


def worked(page: Page, act: str, count: int) -> tuple[float, float]:
    times = page.evaluate("([act, count]) => bench.worked(act, count)", [act, count])
    return median(times), max(times)


def ours(browser: Browser, address: str, tokens: int, rounds: int) -> dict[str, Any]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/#text={text_of(tokens).replace(' ', '%20')}")
    page.wait_for_function("() => globalThis.regard?.looking.heads.found.size === 12", timeout=120_000)
    page.wait_for_function("() => regard.trace.complete && regard.looking.said.dataset.exact === 'true'")
    page.evaluate(SCRIPT.read_text(encoding="utf-8"))
    found = {
        "hover, matrix": worked(page, "hover", rounds),
        "layer switch": worked(page, "layer", rounds),
        "12 × 12 heads": [page.evaluate("bench.heads()") for _ in range(3)],
    }
    page.evaluate("regard.store.set({ view: 'lines' })")
    page.wait_for_timeout(300)
    found["hover, lines"] = worked(page, "lines", rounds)
    page.close()
    return found


def ours_saved(browser: Browser, trace: regard.Trace, folder: Path) -> tuple[float, float]:
    """Megabytes, and seconds until all heads are drawn, of a saved page."""
    path = trace.save(folder / "ours.html")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    begin = time.perf_counter()
    page.goto(path.as_uri())
    page.wait_for_function("() => globalThis.regard?.looking.heads.found.size === 12")
    seconds = time.perf_counter() - begin
    page.close()
    return path.stat().st_size / 1e6, seconds


def bertviz(browser: Browser, trace: regard.Trace, folder: Path) -> tuple[float, float]:
    """The same for BertViz's view of all heads."""
    from bertviz import model_view

    weights = [torch.from_numpy(trace.weights[name])[None] for name in trace.names]
    content = model_view(weights, list(trace.rows["text"].labels), html_action="return").data
    path = folder / "theirs.html"
    path.write_text(f"<!doctype html><meta charset=utf-8><body>{content}", encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.route("**/cdnjs.cloudflare.com/**", _hand_over)
    begin = time.perf_counter()
    page.goto(path.as_uri(), timeout=600_000, wait_until="commit")
    count = LAYERS * HEADS
    page.wait_for_function(f"() => document.querySelectorAll('svg rect').length >= {count}", timeout=600_000)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    seconds = time.perf_counter() - begin
    page.close()
    return path.stat().st_size / 1e6, seconds


def _hand_over(route: Route) -> None:
    route.fulfill(path=KEPT / SCRIPTS[route.request.url.rpartition("/")[2].partition("?")[0]])


def measured(rounds: int) -> dict[str, Any]:
    path = which("chromium") or which("chromium-browser")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        model = write_model(folder)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        with served(model) as address:
            found: dict[str, Any] = {"first": [first_paint(browser, address) for _ in range(3)][-1]}
            found |= {str(tokens): ours(browser, address, tokens, rounds) for tokens in LENGTHS}
        loaded = regard.load(model)
        for tokens in PEER_LENGTHS:
            trace = loaded.attention(text_of(tokens))
            found[f"saved, {tokens}"] = {
                "regard": ours_saved(browser, trace, folder), "BertViz": bertviz(browser, trace, folder)
            }  # fmt: skip
        browser.close()
    return found


def told(found: dict[str, Any]) -> None:
    for name, value in found["first"].items():
        print(f"{name:<16} {value:>9.1f}" + ("" if "kB" in name else " ms"))
    for tokens in LENGTHS:
        print(f"\n{tokens} tokens, {LAYERS} × {HEADS} heads: milliseconds, median (worst)")
        for name, value in found[str(tokens)].items():
            middle, worst = (median(value), max(value)) if isinstance(value, list) else value
            print(f"  {name:<14} {middle:>8.1f} ({worst:.1f})")
    for tokens in PEER_LENGTHS:
        print(f"\na file with all heads of {tokens} tokens: MB, seconds until it is drawn")
        for name, (size, seconds) in found[f"saved, {tokens}"].items():
            print(f"  {name:<14} {size:>8.2f} {seconds:>8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    found = measured(asked.rounds)
    told(found)
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
