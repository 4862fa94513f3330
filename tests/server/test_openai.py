"""OpenAI's client, as it is, against a running server."""

import base64
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest
import torch
import transformers

import regard
from tests.server.serving import Running, served

PROMPTS = ["The cat", "", "那只"]


@pytest.fixture(scope="module")
def client(server: Running) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.address}/v1", api_key="none", max_retries=0) as one:
        yield one


@pytest.fixture(scope="module")
def writer(models: dict[str, Path]) -> Any:
    return regard.load(models["writer"])


@pytest.fixture(scope="module")
def encoder(models: dict[str, Path]) -> Any:
    return regard.load(models["encoder"])


def test_models_are_listed_and_found(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["en-de", "de-zh", "writer", "encoder", "sorter"]
    assert client.models.retrieve("writer").owned_by == "regard"
    with pytest.raises(openai.NotFoundError, match="no model 'x'"):
        client.models.retrieve("x")


def test_a_completion_is_what_the_model_writes(client: openai.OpenAI, writer: Any) -> None:
    found = client.completions.create(model="writer", prompt="The cat", max_tokens=12, seed=3)
    (wanted,) = writer.generate("The cat", max_new_tokens=12, seed=3)
    assert found.object == "text_completion"
    assert found.choices[0].text == wanted.text
    assert found.choices[0].finish_reason == ("length" if wanted.ending == "limit" else "stop")
    assert found.usage is not None
    assert found.usage.prompt_tokens == len(writer.tokenizer.encode("The cat"))
    assert found.usage.completion_tokens == len(wanted.tokens)
    assert found.usage.total_tokens == found.usage.prompt_tokens + found.usage.completion_tokens


def test_options_reach_the_model(client: openai.OpenAI, writer: Any) -> None:
    found = client.completions.create(
        model="writer", prompt="The cat", max_tokens=20, seed=5, temperature=1.4, top_p=0.8, stop=["a", "e"],
        extra_body={"top_k": 30, "min_p": 0.01, "repetition_penalty": 1.2},
    )  # fmt: skip
    how = {"temperature": 1.4, "top_p": 0.8, "top_k": 30, "min_p": 0.01, "repetition_penalty": 1.2}
    (wanted,) = writer.generate("The cat", max_new_tokens=20, seed=5, stop=("a", "e"), **how)
    assert found.choices[0].text == wanted.text


def test_several_prompts_and_several_texts_come_in_their_order(client: openai.OpenAI, writer: Any) -> None:
    found = client.completions.create(model="writer", prompt=PROMPTS, max_tokens=10, n=2, seed=1)
    wanted = writer.generate(PROMPTS, max_new_tokens=10, num=2, seed=1)
    assert [choice.index for choice in found.choices] == list(range(6))
    assert [choice.text for choice in found.choices] == [one.text for texts in wanted for one in texts]


def test_the_same_seed_gives_the_same_text_and_none_another(client: openai.OpenAI) -> None:
    def asked(**how: Any) -> str:
        return client.completions.create(model="writer", prompt="a", max_tokens=30, **how).choices[0].text

    assert asked(seed=7) == asked(seed=7)
    assert asked(seed=7) != asked(seed=8)
    assert len({asked() for _ in range(4)}) > 1
    assert asked(temperature=0) == asked(temperature=0, n=2)


def test_tokens_are_a_prompt_and_an_echo_is_a_text(client: openai.OpenAI, writer: Any) -> None:
    ids = writer.tokenizer.encode("The cat")
    found = client.completions.create(model="writer", prompt=[ids], max_tokens=5, seed=1, echo=True)
    assert found.choices[0].text == "The cat" + writer.generate("The cat", max_new_tokens=5, seed=1)[0].text


def test_best_of_gives_the_likeliest(client: openai.OpenAI, writer: Any) -> None:
    found = client.completions.create(model="writer", prompt="a", max_tokens=8, seed=1, best_of=6, n=2)
    texts = writer.generate("a", max_new_tokens=8, num=6, seed=1)
    ranked = sorted(texts, key=lambda one: -one.log_prob / max(1, len(one.tokens)))
    assert [choice.text for choice in found.choices] == [one.text for one in ranked[:2]]
    assert found.choices[0].logprobs is None


def test_log_probabilities_are_the_models(client: openai.OpenAI, writer: Any) -> None:
    found = client.completions.create(model="writer", prompt="The cat", max_tokens=6, seed=3, logprobs=2)
    wanted = writer.explain("The cat", top=2, max_new_tokens=6, seed=3)
    told = found.choices[0].logprobs
    assert told is not None
    assert told.token_logprobs is not None
    assert told.top_logprobs is not None
    count = len(wanted.tokens)
    assert count == len(told.token_logprobs) > 0
    assert told.tokens == [choice.text for choice in wanted.choices[:count]]
    np.testing.assert_allclose(
        np.exp(told.token_logprobs), [choice.probability for choice in wanted.choices[:count]], rtol=1e-3
    )
    best = [choice.alternatives[0].text for choice in wanted.choices[:count]]
    assert all(text in likeliest for text, likeliest in zip(best, told.top_logprobs, strict=True))
    plain = client.completions.create(model="writer", prompt="The cat", max_tokens=6, seed=3, logprobs=0)
    assert plain.choices[0].logprobs is not None
    assert plain.choices[0].logprobs.top_logprobs is None


def test_a_prompt_that_is_echoed_tells_how_likely_it_was(client: openai.OpenAI, models: dict[str, Path]) -> None:
    """With nothing written, as programs ask that choose among given answers; a shorter prompt stands beside."""
    theirs = transformers.AutoModelForCausalLM.from_pretrained(models["writer"])
    spells = regard.load(models["writer"]).tokenizer
    prompts = ["The lion that chased the 斑马", "a"]
    found = client.completions.create(model="writer", prompt=prompts, max_tokens=0, echo=True, logprobs=3)
    assert [choice.text for choice in found.choices] == prompts
    assert found.usage is not None
    assert found.usage.completion_tokens == 0
    for prompt, choice in zip(prompts, found.choices, strict=True):
        ids, told = spells.encode(prompt), choice.logprobs
        with torch.inference_mode():
            wanted = theirs(torch.tensor([ids])).logits[0].log_softmax(-1)
        assert told is not None
        assert told.token_logprobs is not None
        assert told.top_logprobs is not None
        assert told.text_offset is not None
        assert (len(told.tokens or ()), told.token_logprobs[0], told.top_logprobs[0]) == (len(ids), None, None)
        rows = torch.arange(len(ids) - 1)
        np.testing.assert_allclose(told.token_logprobs[1:], wanted[rows, ids[1:]], atol=1e-4)
        for likeliest, row in zip(told.top_logprobs[1:], wanted, strict=False):
            np.testing.assert_allclose(sorted(likeliest.values())[-3:], sorted(row.tolist())[-3:], atol=1e-4)
        assert told.text_offset == sorted(told.text_offset)
        assert prompt[told.text_offset[-1] :].startswith(told.tokens[-1]) or told.tokens[-1].startswith("<")


def test_an_echoed_prompt_and_its_text_are_told_in_one_row(client: openai.OpenAI, writer: Any) -> None:
    how: dict[str, Any] = {"model": "writer", "prompt": "The cat", "max_tokens": 5, "seed": 3, "logprobs": 2}
    plain, echoed = (client.completions.create(**how, echo=echo).choices[0] for echo in (False, True))
    count = len(writer.tokenizer.encode("The cat"))
    assert plain.logprobs is not None
    assert echoed.logprobs is not None
    assert echoed.text == "The cat" + plain.text
    for name in ("tokens", "token_logprobs", "top_logprobs"):
        assert getattr(echoed.logprobs, name)[count:] == getattr(plain.logprobs, name)
    assert echoed.logprobs.text_offset is not None
    assert echoed.logprobs.text_offset[count:] == [7 + place for place in plain.logprobs.text_offset or ()]
    cut = client.completions.create(
        model="writer", prompt="那" * 500, max_tokens=0, echo=True, logprobs=0, extra_body={"truncate": True}
    ).choices[0]
    assert cut.logprobs is not None
    assert cut.logprobs.text_offset is not None
    assert len(cut.logprobs.text_offset) == writer.limit
    assert 400 < cut.logprobs.text_offset[0] < cut.logprobs.text_offset[-1] < 500


def test_a_streamed_text_is_the_same(client: openai.OpenAI, writer: Any) -> None:
    texts: dict[int, str] = {}
    reasons: dict[int, str] = {}
    usage = None
    with client.completions.create(
        model="writer", prompt=PROMPTS, max_tokens=25, n=2, seed=2, stream=True, stream_options={"include_usage": True}
    ) as events:
        for event in events:
            usage = event.usage or usage
            for choice in event.choices:
                texts[choice.index] = texts.get(choice.index, "") + choice.text
                if choice.finish_reason:
                    reasons[choice.index] = choice.finish_reason
    wanted = [one for texts in writer.generate(PROMPTS, max_new_tokens=25, num=2, seed=2) for one in texts]
    assert [texts[index] for index in range(6)] == [one.text for one in wanted]
    assert len(reasons) == 6
    assert usage is not None
    assert usage.completion_tokens == sum(len(one.tokens) for one in wanted)


def test_a_stream_tells_each_probability_with_its_text(client: openai.OpenAI) -> None:
    how: dict[str, Any] = {
        "model": "writer", "prompt": "The cat", "max_tokens": 25, "seed": 4, "logprobs": 2, "stop": ["e"],
    }  # fmt: skip
    whole = client.completions.create(**how).choices[0]
    with client.completions.create(**how, stream=True) as events:
        told = [event.choices[0] for event in events]
    assert whole.logprobs is not None
    assert whole.logprobs.tokens is not None
    assert len(whole.logprobs.tokens) > 3
    assert "".join(choice.text for choice in told) == whole.text
    for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset"):
        parts = [one for choice in told for one in getattr(choice.logprobs, name)]
        assert parts == getattr(whole.logprobs, name)
    assert all(choice.logprobs.tokens for choice in told if choice.text)


def test_a_stream_comes_in_pieces_and_stops_where_it_should(client: openai.OpenAI, writer: Any) -> None:
    with client.completions.create(
        model="writer", prompt="a", max_tokens=30, seed=4, stream=True, stop="e", echo=True
    ) as events:
        pieces = [event.choices[0].text for event in events]
    assert len(pieces) > 3
    assert "".join(pieces) == "a" + writer.generate("a", max_new_tokens=30, seed=4, stop="e")[0].text


def test_a_short_text_does_not_wait_for_a_long_one(client: openai.OpenAI, server: Running) -> None:
    with client.completions.create(model="writer", prompt="a", max_tokens=16000, temperature=0, stream=True) as events:
        first = next(iter(events))
        assert first.choices[0].finish_reason is None
        found = client.completions.create(model="writer", prompt="b", max_tokens=3)
        assert found.choices[0].finish_reason
        running = [line for line in server.get("/metrics")[1].decode().split("\n") if "regard_running" in line]
        assert 'regard_running{model="writer"} 1' in running  # the long one still is


def test_a_short_text_is_written_beside_long_ones_that_have_taken_all_room(models: dict[str, Path]) -> None:
    with (
        served(models["writer"], words=("--max-batch-tokens", "80")) as running,
        openai.OpenAI(base_url=f"{running.address}/v1", api_key="none", max_retries=0) as asks,
        asks.completions.create(
            model="writer", prompt="a", max_tokens=16000, n=2, temperature=0, stream=True
        ) as events,
    ):
        next(iter(events))
        found = asks.completions.create(model="writer", prompt="b", max_tokens=3)
        assert found.choices[0].finish_reason
        assert b'regard_running{model="writer"} 2' in running.get("/metrics")[1]  # the long ones still are


@pytest.mark.parametrize("format", ["float", "base64"])
def test_embeddings_are_the_models(client: openai.OpenAI, encoder: Any, format: Any) -> None:
    texts = ["the cat", "a river , unable", "", "猫"]
    found = client.embeddings.create(model="encoder", input=texts, encoding_format=format)
    rows = [
        struct.unpack("<24f", base64.b64decode(one.embedding)) if isinstance(one.embedding, str) else one.embedding
        for one in found.data
    ]
    np.testing.assert_allclose(np.array(rows), encoder.embed(texts), atol=1e-5)
    assert [one.index for one in found.data] == [0, 1, 2, 3]
    assert found.usage.prompt_tokens == sum(len(encoder.tokenizer.encode(text)) + 2 for text in texts)


def test_one_text_and_the_clients_own_choice_of_format(client: openai.OpenAI, encoder: Any) -> None:
    found = client.embeddings.create(model="encoder", input="the dog")
    np.testing.assert_allclose(np.array([found.data[0].embedding]), encoder.embed(["the dog"]), atol=1e-5)


@pytest.mark.parametrize(
    ("how", "error", "told"),
    [
        ({"model": "nobody"}, openai.NotFoundError, "no model 'nobody'"),
        ({"model": "../writer"}, openai.NotFoundError, "no model"),
        ({"model": "encoder"}, openai.BadRequestError, "no verb complete"),
        ({"temperature": 5.0}, openai.BadRequestError, "temperature"),
        ({"max_tokens": 0}, openai.BadRequestError, "Nothing is asked for"),
        ({"max_tokens": -1}, openai.BadRequestError, "max_tokens"),
        ({"max_tokens": 0, "echo": True, "stream": True}, openai.BadRequestError, "cannot be streamed"),
        ({"n": 0}, openai.BadRequestError, "n:"),
        ({"frequency_penalty": 1.0}, openai.BadRequestError, "frequency_penalty"),
        ({"suffix": "x"}, openai.BadRequestError, "suffix"),
        ({"best_of": 1, "n": 2}, openai.BadRequestError, "best_of"),
        ({"stop": [""]}, openai.BadRequestError, "stop"),
        ({"extra_body": {"unknown": 1}}, openai.BadRequestError, "unknown"),
        ({"prompt": [10_000_000]}, openai.BadRequestError, "token that the model does not have"),
        ({"prompt": "那" * 500}, openai.APIStatusError, "longer than the model can look at"),
        ({"prompt": "那" * 500, "stream": True}, openai.APIStatusError, "longer than the model can look at"),
    ],
)
def test_mistakes_are_told_in_openais_shape(
    client: openai.OpenAI, how: dict[str, Any], error: type[openai.APIStatusError], told: str
) -> None:
    with pytest.raises(error) as failed:
        client.completions.create(**{"model": "writer", "prompt": "a", **how})
    assert told in failed.value.message
    assert isinstance(failed.value.body, dict)
    assert set(failed.value.body) == {"message", "type", "param", "code"}


def test_what_is_too_long_for_vectors_is_told_or_cut(client: openai.OpenAI) -> None:
    with pytest.raises(openai.APIStatusError) as failed:
        client.embeddings.create(model="encoder", input=["the " * 100])
    assert failed.value.status_code == 413
    client.embeddings.create(model="encoder", input=["the " * 100], extra_body={"truncate": True})
    with pytest.raises(openai.BadRequestError, match="vectors of 24 numbers"):
        client.embeddings.create(model="encoder", input="a", dimensions=7)
    with pytest.raises(openai.BadRequestError):
        client.embeddings.create(model="encoder", input=[1, 2, 3])
