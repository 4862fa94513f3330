"""Texts of many requests, written side by side: each is what the model writes when it is asked alone."""

import random
from types import SimpleNamespace
from typing import Any

import pytest

from regard.errors import DataError, LimitError
from regard.server.messages import Asked, Done, Failed, Job, Piece
from regard.server.work.worker import Worker
from regard.server.work.writing import JOIN_AFTER, Known, Writing, each_alone, row
from regard.tasks.generator import Generator
from tests.tasks.generators import pair

PROMPTS = ["The cat", "", "那只狮子", "a", "The lion that chased the zebra"]
HOW: list[dict[str, Any]] = [
    {"max_new_tokens": 30, "temperature": 0.0},
    {"max_new_tokens": 5, "seed": 3},
    {"max_new_tokens": 90, "seed": 4, "temperature": 0.7, "top_k": 20},  # longer than the model can look at
    {"max_new_tokens": 25, "seed": 5, "top_p": 0.8, "repetition_penalty": 1.3},
    {"max_new_tokens": 40, "seed": 6, "stop": ("a", "the")},
    {"max_new_tokens": 12, "temperature": 0.0, "repetition_penalty": 1.2},
    {"max_new_tokens": 10, "seed": 7, "min_p": 0.05},
]


@pytest.fixture(scope="module")
def generator() -> Generator:
    return pair(1, limit=48)[1]


def job(id: int, prompt: Any, *, sample: int = 0, streamed: bool = False, **how: Any) -> Job:
    return Job(id, "complete", (prompt, sample), tuple(sorted({"truncate": False, **how}.items())), streamed)


def written(generator: Generator, arrivals: dict[int, list[Job]]) -> dict[int, Done]:
    """All jobs, which come at the given steps; those that come while nobody may join wait."""
    writing, step, waiting, found = Writing(generator), 0, list[Job](), {}
    while arrivals or waiting or writing.rows:
        waiting += arrivals.pop(step, [])
        if waiting and writing.open:
            writing.join([row(generator, one) for one in waiting])
            waiting = []
        if writing.rows:
            found |= {event.id: event for event in writing.step() if isinstance(event, Done)}
        step += 1
    return found


def test_whoever_is_written_beside_it_a_text_is_the_same(generator: Generator) -> None:
    draw = random.Random(0)
    asked = [(prompt, how) for prompt in PROMPTS for how in HOW]
    draw.shuffle(asked)
    arrivals: dict[int, list[Job]] = {}
    for id, (prompt, how) in enumerate(asked):
        arrivals.setdefault(draw.randrange(60), []).append(job(id, prompt, **how))
    found = written(generator, arrivals)
    for id, (prompt, how) in enumerate(asked):
        (alone,) = generator.generate(prompt, **how)
        assert found[id].value["text"] == alone.text, (prompt, how)
        assert found[id].value["finish"] == ("length" if alone.ending == "limit" else "stop")
        assert found[id].made == len(alone.tokens)


def test_several_texts_of_a_prompt_are_those_of_the_model(generator: Generator) -> None:
    jobs = [job(sample, "The cat", sample=sample, seed=9, max_new_tokens=15) for sample in range(3)]
    found = written(generator, {0: jobs})
    alone = generator.generate("The cat", seed=9, max_new_tokens=15, num=3)
    assert [found[id].value["text"] for id in range(3)] == [one.text for one in alone]
    assert len({one.text for one in alone}) == 3


def test_a_prompt_of_several_texts_is_read_once(generator: Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    known: Known = {}
    how = {"max_new_tokens": 5, "seed": 3}
    wanted = [row(generator, job(i, "The cat", sample=i, **how)).prompt for i in range(2)]
    first = row(generator, job(0, "The cat", **how), known)
    monkeypatch.setattr("regard.server.work.writing.prompt_ids", None)
    second = row(generator, job(1, "The cat", sample=1, **how), known)
    assert [first.prompt, second.prompt] == wanted


def test_of_a_request_nothing_is_read_behind_what_is_refused(generator: Generator) -> None:
    said: list[Any] = []
    worker = Worker(generator, SimpleNamespace(send=said.extend), 1000)  # type: ignore[arg-type]
    prompts = ["a", "a " * 500, None]  # the last one would be a fault
    worker._hear(Asked(tuple(job(i, prompt, max_new_tokens=5) for i, prompt in enumerate(prompts))))
    assert [(type(event), event.id, type(event.error)) for event in said] == [(Failed, 1, LimitError)]
    assert worker._waiting.newcomers("complete", 1000, wait=False) == []


def test_tokens_are_a_prompt_too(generator: Generator) -> None:
    ids = tuple(generator.tokenizer.encode("The cat"))
    found = written(generator, {0: [job(0, ids, seed=2, max_new_tokens=9)]})
    assert found[0].value["text"] == generator.generate("The cat", seed=2, max_new_tokens=9)[0].text
    with pytest.raises(DataError, match="does not have"):
        row(generator, job(0, (1, 100_000)))


def test_pieces_are_the_text(generator: Generator) -> None:
    writing = Writing(generator)
    jobs = [job(id, PROMPTS[id], streamed=True, seed=id, max_new_tokens=20, stop=("e",)) for id in range(3)]
    writing.join([row(generator, one) for one in jobs])
    pieces: dict[int, str] = {0: "", 1: "", 2: ""}
    while writing.rows:
        for event in writing.step():
            if isinstance(event, Piece):
                pieces[event.id] += event.value["text"]
            elif isinstance(event, Done):
                assert pieces[event.id] == event.value["text"]


def test_what_is_dropped_ends_with_the_next_step_and_tells_nothing(generator: Generator) -> None:
    writing = Writing(generator)
    writing.join([row(generator, job(id, "a", seed=id, max_new_tokens=50)) for id in range(2)])
    writing.step()
    writing.drop([0])
    assert all(event.id == 1 for event in writing.step() if isinstance(event, Piece | Done))
    assert [text.job.id for text in writing.rows] == [1]


def test_a_text_that_cannot_be_written_does_not_harm_the_others(generator: Generator) -> None:
    how: dict[str, Any] = {"seed": 3, "max_new_tokens": 20}
    texts = [row(generator, job(id, "The cat", **how, streamed=id == 2)) for id in range(3)]
    writing = Writing(generator)
    writing.join(texts)
    pieces = [event for _ in range(4) for event in writing.step()]
    texts[1].made[-1] = 10**6  # a token that the model does not have
    writing.join([])
    with pytest.raises(IndexError):
        writing.step()
    writing, told = each_alone(generator, writing.rows)
    assert [event.id for event in told if isinstance(event, Failed)] == [1]
    while writing.rows:
        told += writing.step()
    found = {event.id: event.value["text"] for event in told if isinstance(event, Done)}
    (alone,) = generator.generate("The cat", **how)
    assert found == {0: alone.text, 2: alone.text}
    assert "".join(event.value["text"] for event in [*pieces, *told] if isinstance(event, Piece)) == alone.text


def test_nobody_joins_too_often(generator: Generator) -> None:
    writing = Writing(generator)
    writing.join([row(generator, job(0, "a", temperature=0.0, max_new_tokens=90))])
    opened = []
    for _ in range(JOIN_AFTER):
        writing.step()
        opened.append(writing.open)
    assert opened == [False] * (JOIN_AFTER - 1) + [True]


def test_probabilities_are_those_of_the_model(generator: Generator) -> None:
    how: dict[str, Any] = {"seed": 3, "max_new_tokens": 12}
    found = written(generator, {0: [job(0, "The cat", alternatives=3, **how), job(1, "a", **how)]})
    told = found[0].value["logprobs"]
    alone = generator.generate("The cat", alternatives=3, **how)[0]
    assert len(told["tokens"]) == len(alone.tokens) > 0
    assert told["tokens"] == [choice.text for choice in alone.choices[: len(told["tokens"])]]
    for place, choice in enumerate(alone.choices[: len(told["tokens"])]):
        assert 2.718281828459045 ** told["token_logprobs"][place] == pytest.approx(choice.probability, rel=1e-6)
        for other in choice.alternatives:
            assert 2.718281828459045 ** told["top_logprobs"][place][other.text] == pytest.approx(other.probability)
    assert found[1].value["logprobs"] is None
    assert told["text_offset"] == sorted(told["text_offset"])


def test_a_prompt_that_is_too_long_is_refused_or_cut(generator: Generator) -> None:
    with pytest.raises(LimitError, match="longer than the model can look at"):
        row(generator, job(0, "那" * 100))
    assert len(row(generator, job(0, "那" * 100, truncate=True)).prompt.ids) == generator.limit
