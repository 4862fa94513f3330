"""Many clients for a long time: no wrong answer, none lost, much more done than one at a time, and no memory kept.

`make soak` runs it. It prints what it measures; the figures go to docs/log.md.
"""

import http.client
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regard
from regard import engines
from tests.models.pretrained import marians
from tests.runs import LETTERS, run_tree
from tests.server.serving import (
    Running,
    served,
    write_classifier,
    write_encoder,
    write_generator,
    write_translator,
)
from tests.tasks import test_classification, test_words

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]
CLIENTS, SECONDS, ALONE = 64, 60.0, 30.0
REQUESTS = 20_000
TRANSLATORS = {
    "transformer": ("en", "de"),
    "luong": ("en", "fr"),
    "bahdanau": ("de", "en"),
    "rnn": ("fr", "en"),
}
MARIAN = ("en", "zh")
RECURRENT, STATIC = "recurrent", "words"
WORDS = "the cat dog house is in a river bank".split()  # noqa: SIM905
SLACK = 1e-4


@dataclass(frozen=True)
class Question:
    """A request, and whether an answer is right."""

    path: str
    body: bytes
    right: Callable[[Any], bool]


@dataclass
class Tally:
    """What became of many requests."""

    seconds: list[float] = field(default_factory=list)
    wrong: list[Any] = field(default_factory=list)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("load")
    found = {}
    for name, langs in TRANSLATORS.items():
        (home / f"of-{name}").mkdir()
        found[name] = write_translator(home / f"of-{name}", name, langs, name=name, preset="tiny")
    marians.write(home / "marian", seed=9)
    for name, tree in ((RECURRENT, test_classification.tree_of(home)), (STATIC, test_words.tree_of(home))):
        run_tree(tree, home / name)
        found[name] = home / name
    return {
        **found,
        "marian": home / "marian",
        "writer": write_generator(home / "writer", limit=64),
        "encoder": write_encoder(home / "encoder"),
        "sorter": write_classifier(home / "sorter"),
    }


@pytest.fixture(scope="module")
def busy(places: dict[str, Path]) -> Iterator[Running]:
    with served(*places.values()) as running:
        yield running


@pytest.fixture(scope="module")
def questions(places: dict[str, Path]) -> list[Question]:
    draw = random.Random(0)
    loaded = {name: regard.load(place) for name, place in places.items()}
    found = [
        one for name, langs in TRANSLATORS.items() for one in _translations(engines.load(places[name]), langs, draw)
    ]
    found += _translations(
        engines.load(places["marian"]), MARIAN, draw, [one.replace(".", "") for one in marians.sentences(40)]
    )
    found += _texts(loaded["writer"], draw) + _fills(loaded["encoder"], draw)
    for name in ("encoder", STATIC):
        found += _vectors(name, loaded[name], draw)
    for name in ("sorter", RECURRENT):
        found += _classes(name, loaded[name], draw)
    for name, text in (("bahdanau", "a b c"), ("encoder", "the cat"), ("writer", "the dog"), (RECURRENT, "a cat")):
        found.append(_look(name, loaded[name], text))
    return found


def _sentence(draw: random.Random, words: Sequence[str], longest: int) -> str:
    """Mostly short."""
    return " ".join(draw.choice(words) for _ in range(max(1, int(longest * draw.random() ** 2))))


def _translations(
    translator: Any, langs: tuple[str, str], draw: random.Random, texts: Sequence[str] = ()
) -> list[Question]:
    texts = texts or [_sentence(draw, LETTERS, 60) for _ in range(40)]
    alone, several = (translator.translations(texts, translator.search(nbest=n)) for n in (1, translator.habits.beam))
    found = []
    for text, (best,), options in zip(texts, alone, several, strict=True):
        as_good = {best.text, *(one.text for one in options if one.score > best.score - SLACK)}
        body = {"q": text, "source": langs[0], "target": langs[1]}
        found.append(_question("/translate", body, lambda a, as_good=as_good: a["translatedText"] in as_good))
    return found


def _texts(writer: Any, draw: random.Random) -> list[Question]:
    found = []
    for number in range(60):
        prompt, how = _sentence(draw, WORDS, 12)[:40], {"seed": number, "temperature": float(number % 3)}
        count = draw.choice([4, 8, 16, 60])
        (wanted,) = writer.generate(prompt, max_new_tokens=count, **how)
        body = {"model": "writer", "prompt": prompt, "max_tokens": count, **how}
        text = wanted.text
        found.append(_question("/v1/completions", body, lambda a, text=text: a["choices"][0]["text"] == text))
    return found


def _fills(encoder: Any, draw: random.Random) -> list[Question]:
    found = []
    for _ in range(20):
        text = f"{_sentence(draw, WORDS, 12)} [MASK] {draw.choice(WORDS)}"
        chances = [word.probability for word in encoder.fill(text)[0]]
        found.append(
            _question(
                "/fill",
                {"model": "encoder", "text": text},
                lambda a, chances=chances: _near([word["probability"] for word in a["masks"][0]], chances),
            )
        )
    return found


def _vectors(name: str, encoder: Any, draw: random.Random) -> list[Question]:
    found = []
    for _ in range(30):
        texts = [_sentence(draw, WORDS, 15) for _ in range(draw.randint(1, 4))]
        rows = encoder.embed(texts)
        body = {"model": name, "input": texts}
        found.append(
            _question("/v1/embeddings", body, lambda a, rows=rows: _near([o["embedding"] for o in a["data"]], rows))
        )
    return found


def _classes(name: str, sorter: Any, draw: random.Random) -> list[Question]:
    found = []
    for _ in range(30):
        text = _sentence(draw, WORDS, 15)
        shares = list(sorter.classify([text])[0].probabilities.values())
        found.append(
            _question(
                "/classify",
                {"model": name, "texts": [text]},
                lambda a, shares=shares: _near(list(a["classes"][0]["probabilities"].values()), shares),
            )
        )
    return found


def _look(name: str, model: Any, text: str) -> Question:
    """All weights of all heads."""
    weights = model.attention(text).weights

    def right(answer: Any) -> bool:
        told = answer["weights"]
        return told.keys() == weights.keys() and all(_near(told[one], weights[one]) for one in weights)

    return _question("/attention", {"model": name, "text": text}, right)


def _near(found: Any, wanted: Any) -> bool:
    return bool(np.allclose(np.array(found), np.array(wanted), atol=SLACK))


def _question(path: str, body: dict[str, Any], right: Callable[[Any], bool]) -> Question:
    return Question(path, json.dumps(body).encode(), right)


def ask(server: Running, questions: Sequence[Question], seed: int, goes_on: Callable[[], bool], tally: Tally) -> None:
    """One client: a request after the other, over one connection."""
    draw = random.Random(seed)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    while goes_on():
        question = draw.choice(questions)
        begun = time.monotonic()
        connection.request("POST", question.path, question.body, {"content-type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
        tally.seconds.append(time.monotonic() - begun)
        if answer.status != 200 or not question.right(json.loads(content)):
            tally.wrong.append((question.path, question.body, answer.status, content[:300].decode(errors="replace")))
    connection.close()


def crowd(
    server: Running, questions: Sequence[Question], clients: int, goes_on: Callable[[], bool]
) -> tuple[Tally, float]:
    """Many clients; what became of it, and requests a second."""
    tally, begun = Tally(), time.monotonic()
    with ThreadPoolExecutor(clients) as pool:
        for client in [pool.submit(ask, server, questions, seed, goes_on, tally) for seed in range(clients)]:
            client.result()
    return tally, len(tally.seconds) / (time.monotonic() - begun)


def until(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end


def memory(server: Running) -> dict[int, int]:
    """Resident kilobytes of the server and of each of its processes."""
    pages = {
        pid: int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in [server.process.pid, *server.workers()]
    }
    return {pid: 4 * count for pid, count in pages.items()}


def test_sixty_four_clients_get_right_answers_and_faster_than_one(busy: Running, questions: list[Question]) -> None:
    crowd(busy, questions, 4, until(5.0))  # warm
    alone, one_at_a_time = crowd(busy, questions, 1, until(ALONE))
    many, together = crowd(busy, questions, CLIENTS, until(SECONDS))
    p50, p99 = np.percentile(many.seconds, [50, 99])
    print(
        f"\n{len(many.seconds)} requests of {CLIENTS} clients in {SECONDS:g} s: {together:.0f} a second, "
        f"p50 {1000 * p50:.0f} ms, p99 {1000 * p99:.0f} ms; one at a time: {one_at_a_time:.0f} a second, "
        f"p50 {1000 * float(np.median(alone.seconds)):.0f} ms"
    )
    assert (alone.wrong[:3], many.wrong[:3]) == ([], [])
    assert together >= 3 * one_at_a_time
    for figure in ("regard_running", "regard_waiting"):
        lines = [line for line in busy.get("/metrics")[1].decode().split("\n") if line.startswith(f"{figure}{{")]
        assert {line.rpartition(" ")[2] for line in lines} == {"0"}


def test_memory_stays_flat(busy: Running, questions: list[Question]) -> None:
    def asked(count: int) -> Callable[[], bool]:
        left = iter(range(count))
        return lambda: next(left, None) is not None

    crowd(busy, questions, 16, asked(REQUESTS // 10))
    before = memory(busy)
    tally, _ = crowd(busy, questions, 16, asked(REQUESTS))
    after = memory(busy)
    print(f"\nkilobytes before and after {len(tally.seconds)} requests: {before} {after}")
    assert tally.wrong[:3] == []
    assert before.keys() == after.keys()  # no process was lost
    for pid, kilobytes in before.items():
        assert after[pid] < kilobytes * 1.05 + 8192
