"""What goes wrong is said in plain words, and the page is never blank."""

import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import regard
from tests.page.browser import Visit, visiting
from tests.page.models import SENTENCE
from tests.server.serving import Running, served


@pytest.fixture
def clumsy(browser: Browser) -> "Visit":  # type: ignore[misc]
    """A person for whom something goes wrong, so that the browser notes failed requests."""
    with visiting(browser) as found:
        yield found
        assert [error for error in found.errors if "Failed to load resource" not in error] == []


@pytest.mark.parametrize("name", ["transformer", "bahdanau", "gpt2", "bert", "sorter", "rnn"])
def test_5000_tokens_are_refused_in_plain_words(clumsy: Visit, site: Running, name: str) -> None:
    clumsy.open(site.address, model=name)
    clumsy.page.wait_for_function("() => regard.trace && !regard.busy")
    clumsy.page.fill("#text", "the bank " * 2500)
    clumsy.page.click("button.go")
    told = clumsy.notice()
    assert "too long for the model" in told
    assert "tokens" in told
    assert clumsy.page.locator(".words").first.is_visible()


def test_an_empty_box_is_told(visit: Visit, site: Running) -> None:
    visit.open(site.address, model="transformer", text=SENTENCE).shown()
    for text in ("", "  \n "):
        visit.page.fill("#text", text)
        visit.page.click("button.go")
        assert "Type something first" in visit.notice()
    visit.ask("I draw the bank.")
    assert visit.page.locator(".notice").is_hidden()


def test_a_lost_server_leaves_what_is_there_and_is_found_again(clumsy: Visit, shown: dict[str, Path]) -> None:
    with served(shown["bert"]) as running:
        clumsy.open(running.address, text="the cat").shown()
        before, port = clumsy.sheet(), running.port
    clumsy.page.fill("#text", "a river")
    clumsy.page.click("button.go")
    assert "server does not answer" in clumsy.notice()
    assert clumsy.sheet().shape == before.shape
    with served(shown["bert"], words=("--port", port)):
        clumsy.page.click(".notice button")
        clumsy.page.wait_for_function("() => regard.trace.rows.text.text === 'a river'")
        assert clumsy.page.locator(".notice").is_hidden()


def test_a_model_without_attention_says_so_and_shows_what_it_has(
    visit: Visit, site: Running, shown: dict[str, Path]
) -> None:
    visit.open(site.address, model="rnn", text=SENTENCE)
    visit.page.wait_for_selector("#answer")
    told = visit.page.inner_text(".plain")
    assert "rnn has no attention" in told
    assert SENTENCE in told
    assert visit.page.inner_text("#answer") == regard.load(shown["rnn"]).translate(SENTENCE)
    visit.page.wait_for_selector(".flow .card")
    assert "One step of Recurrent" in visit.page.inner_text(".flow")


def test_a_model_that_is_not_served_is_told(clumsy: Visit, site: Running) -> None:
    clumsy.open(site.address, model="nobody", text="a")
    assert "does not have that model" in clumsy.notice()
    clumsy.page.select_option("#model", "bert")
    clumsy.shown()
    assert clumsy.page.locator(".notice").is_hidden()


@pytest.mark.parametrize(
    "state",
    [
        "layer=99&head=77&ask=9999&read=-3&step=1e9",
        "family=nothing&view=nothing&scale=x",
        "min=NaN&words=maybe&%%%&theme=%00",
    ],
)
def test_an_address_that_makes_no_sense_is_made_the_best_of(visit: Visit, site: Running, state: str) -> None:
    visit.page.goto(f"{site.address}/#model=transformer&text=The%20bank%20is%20wet.&{state}")
    visit.shown()
    assert visit.sheet().size > 0


def test_the_page_asks_for_a_key_and_brings_it(clumsy: Visit, shown: dict[str, Path], tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("open sesame\n")
    with served(shown["bert"], words=("--api-key-file", keys)) as running:
        clumsy.open(running.address)
        assert "asks for a key" in clumsy.notice()
        clumsy.page.fill("#key", "wrong")
        clumsy.page.keyboard.press("Enter")
        clumsy.page.wait_for_function("() => document.querySelector('.notice').innerText.includes('does not fit')")
        clumsy.page.fill("#key", "open sesame")
        clumsy.page.keyboard.press("Enter")
        clumsy.shown()
        clumsy.page.reload()
        clumsy.shown()
    assert "sesame" not in clumsy.page.url


def test_only_the_last_of_quick_questions_is_shown(visit: Visit, site: Running) -> None:
    visit.open(site.address, model="transformer", text=SENTENCE).shown()
    for text in ("I draw the bank.", "We see the bank.", "The bank is wet."):
        visit.page.evaluate("text => regard.look({ text, second: null, generate: 0 })", text)
    visit.page.wait_for_function("() => !regard.busy && regard.trace.rows.source.text === 'The bank is wet.'")
    time.sleep(0.5)
    assert visit.page.evaluate("regard.trace.rows.source.text") == "The bank is wet."
