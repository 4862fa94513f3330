"""LibreTranslate's client, as it is, against a running server; and what the client does not do."""

import json
import urllib.error
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import pytest
import requests
from libretranslatepy import LibreTranslateAPI

from regard import engines
from regard.tasks.translator import Search
from tests.models.pretrained import marians
from tests.server.serving import SENTENCES, Running, served

TEXTS = ["a b c", "d", "e f g h a", "", "b b"]


@pytest.fixture
def client(server: Running) -> LibreTranslateAPI:
    return LibreTranslateAPI(server.address)


@pytest.fixture(scope="module")
def translator(models: dict[str, Path]) -> Any:
    return engines.load(models["en-de"])  # as the server has it


def refused(call: Callable[[], object]) -> tuple[int, str]:
    """Status and error of a call that must fail."""
    with pytest.raises(urllib.error.HTTPError) as failed:
        call()
    with failed.value as answer:
        return answer.code, json.loads(answer.read())["error"]


def test_the_client_gets_the_translation_of_the_model(client: LibreTranslateAPI, translator: Any) -> None:
    found = [client.translate(text, "en", "de") for text in TEXTS]
    assert found == translator.translate(TEXTS)
    assert len(set(found)) == len(TEXTS)


def test_the_client_lists_languages(client: LibreTranslateAPI) -> None:
    assert client.languages() == [
        {"code": "en", "name": "English", "targets": ["de"]},
        {"code": "de", "name": "German", "targets": ["zh"]},
        {"code": "zh", "name": "Chinese", "targets": []},
    ]


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_the_client_detects_a_language(client: LibreTranslateAPI, language: str) -> None:
    found = client.detect(SENTENCES[language][0])
    assert found[0]["language"] == language
    assert found[0]["confidence"] > 50
    assert {one["language"] for one in found} == {"en", "de", "zh"}


def test_the_source_may_be_detected(client: LibreTranslateAPI, server: Running, translator: Any) -> None:
    german = "Wo ist das Haus?"
    assert client.translate(german, "auto", "zh") == translator.translate(german)  # it is the same model
    status, found = server.post("/translate", {"q": german, "source": "auto", "target": "zh"})
    assert (status, found["detectedLanguage"]["language"]) == (200, "de")
    status, found = server.post("/translate", {"q": ["12", "34"], "source": "auto", "target": "zh"})
    assert found["detectedLanguage"] == [{"confidence": 0.0, "language": "de"}] * 2  # nothing else is possible


def test_a_text_in_the_target_language_stays(client: LibreTranslateAPI) -> None:
    assert client.translate("Wo ist das Haus?", "auto", "de") == "Wo ist das Haus?"
    assert client.translate("a b", "de", "de") == "a b"


def test_several_texts_come_back_in_their_order(server: Running, translator: Any) -> None:
    status, found = server.post("/translate", {"q": TEXTS, "source": "en", "target": "de"})
    assert (status, found) == (200, {"translatedText": translator.translate(TEXTS)})
    assert server.post("/translate", {"q": [], "source": "en", "target": "de"}) == (200, {"translatedText": []})


def test_lines_stay_lines(server: Running, translator: Any) -> None:
    status, found = server.post("/translate", {"q": "a b\n\nc d\n", "source": "en", "target": "de"})
    assert status == 200
    assert found["translatedText"].split("\n") == translator.translate(["a b", "", "c d", ""])


def test_paragraphs_are_translated_sentence_by_sentence(server: Running, translator: Any) -> None:
    status, found = server.post("/translate", {"q": "A bb cc. D ee!  F gg.\n  G hh.", "source": "en", "target": "de"})
    a, d, f, g = translator.translate(["A bb cc.", "D ee!", "F gg.", "G hh."])
    assert (status, found["translatedText"]) == (200, f"{a} {d}  {f}\n  {g}")


def test_in_html_what_stands_between_tags_is_translated(server: Running, translator: Any) -> None:
    asked = {"q": '<p class="a">a b &amp; c<br>d <b>e</b></p><!-- f --><code>g</code>', "source": "en", "target": "de"}
    first, second, third = translator.translate(["a b & c", "d", "e"])
    status, found = server.post("/translate", {**asked, "format": "html"})
    wanted = f'<p class="a">{escape(first)}<br>{escape(second)} <b>{escape(third)}</b></p><!-- f --><code>g</code>'
    assert (status, found["translatedText"]) == (200, wanted)
    status, found = server.post("/translate", {**asked, "q": ["<i></i>", "1 < 2"], "format": "html", "alternatives": 1})
    assert status == 200
    assert found["translatedText"][0] == "<i></i>"
    assert [len(others) for others in found["alternatives"]] == [0, 1]


def test_the_code_of_a_language_stands_before_each_sentence(server: Running, translator: Any) -> None:
    text = ">>fra<< A bb. C dd!\nE ff."
    status, found = server.post("/translate", {"q": text, "source": "en", "target": "de"})
    a, c, e = translator.translate([">>fra<< A bb.", ">>fra<< C dd!", ">>fra<< E ff."])
    assert (status, found["translatedText"]) == (200, f"{a} {c}\n{e}")


def test_alternatives_are_the_next_best(server: Running, translator: Any) -> None:
    asked = {"q": "a b c", "source": "en", "target": "de", "alternatives": 3}
    status, found = server.post("/translate", asked)
    (best,) = translator.translations(["a b c"], Search(beam=5, nbest=4))
    assert status == 200
    assert [found["translatedText"], *found["alternatives"]] == [one.text for one in best]
    status, found = server.post("/translate", {**asked, "q": ["a b c", "d"]})
    assert [len(others) for others in found["alternatives"]] == [3, 3]


def test_the_clients_mistakes_are_told_in_its_shape(client: LibreTranslateAPI) -> None:
    status, error = refused(lambda: client.translate("a", "en", "fr"))
    assert status == 400
    assert "no model from 'en' to 'fr'" in error
    assert "en → de" in error
    status, error = refused(lambda: client.translate("a", "../../etc", "de"))
    assert status == 400
    status, error = refused(lambda: client.translate("a " * 100, "en", "de"))
    assert status == 413
    assert "longer than the model can take" in error


def test_what_other_clients_send_besides_is_taken(server: Running) -> None:
    asked = {"q": "a b", "source": "en", "target": "de", "format": "text", "api_key": None, "secret": "", "version": 2}
    assert server.post("/translate", asked)[0] == 200


def test_a_form_may_come_in_parts(server: Running, translator: Any) -> None:
    """As a browser's FormData, curl -F and others send it."""
    fields = {name: (None, value) for name, value in (("q", "a b c"), ("source", "en"), ("target", "de"))}
    answer = requests.post(f"{server.address}/translate", files=fields, timeout=60)
    assert answer.request.headers["content-type"].startswith("multipart/form-data; boundary=")
    assert answer.json()["translatedText"] == translator.translate("a b c")


@pytest.mark.parametrize(
    ("body", "kind", "status", "told"),
    [
        (b'{"q": "a"', "application/json", 400, "cannot be read"),
        (b"\xff\xfe", "application/json", 400, "cannot be read"),
        (b"[" * 100_000, "application/json", 400, "cannot be"),
        (b'"a"', "application/json", 400, "cannot be understood"),
        (b'{"source": "en", "target": "de"}', "application/json", 400, "q: Field required"),
        (b'{"q": "a", "source": "en", "target": "de", "format": "pdf"}', "application/json", 400, "format"),
        (b'{"q": "a", "source": "en", "target": "de", "alternatives": 99}', "application/json", 400, "alternatives"),
        (b"q=a&source=en", "application/x-www-form-urlencoded", 400, "target: Field required"),
        (b' {"q": "a"}', "application/x-www-form-urlencoded", 400, "content-type: application/json"),
        (b"--x\r\n\r\na\r\n--x--", "multipart/form-data; boundary=x", 400, "a part has no name"),
        (b"q=a", "multipart/form-data", 400, "no boundary"),
        (b"<q>a</q>", "application/xml", 400, "kind that is not understood"),
        (b'{"q": "' + b"a\\n" * 3000 + b'", "source": "en", "target": "de"}', "application/json", 413, "too many"),
    ],
)
def test_what_cannot_be_read_is_told(server: Running, body: bytes, kind: str, status: int, told: str) -> None:
    code, found = server.post("/translate", body, {"content-type": kind})
    assert code == status
    assert told in found["error"]


def test_a_model_of_others_knows_the_letters_of_its_languages_by_its_spelling(tmp_path: Path) -> None:
    """It has no card."""
    marians.write(tmp_path / "marian", seed=9)
    with served(tmp_path / "marian") as running:
        client = LibreTranslateAPI(running.address)
        assert client.detect("The cat watched a dog.")[0]["language"] == "en"
        assert client.detect("那只猫看着一只狗")[0]["language"] == "zh"
        assert client.translate("The cat watched a dog", "auto", "zh")


def test_a_model_that_writes_several_languages_serves_them_all(tmp_path: Path) -> None:
    marians.write(tmp_path / "marian", seed=9)
    translator, text = engines.load(tmp_path / "marian"), "The cat slept.\nA dog watched. The lion slept."
    with served(tmp_path / "marian") as running:
        client = LibreTranslateAPI(running.address)
        (english,) = [one for one in client.languages() if one["code"] == "en"]
        assert english["targets"] == ["zh", "zh-Hans", "de"]
        cat, dog, lion = translator.translate(["The cat slept.", "A dog watched.", "The lion slept."], to="de")
        assert client.translate(text, "en", "de") == f"{cat}\n{dog} {lion}"
        assert client.translate("The cat slept.", "auto", "zh-Hans") == translator.translate(
            ">>cmn_Hans<< The cat slept."
        )
        assert client.translate(">>deu<< The cat slept.", "en", "zh") == cat
        assert refused(lambda: client.translate("a", "en", "fr"))[0] == 400
