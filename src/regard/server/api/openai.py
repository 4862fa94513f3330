"""OpenAI's API: /v1/models, /v1/completions, /v1/embeddings."""

import asyncio
import base64
import json
import secrets
import struct
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response, StreamingResponse

from regard.errors import RegardError
from regard.server.api.asking import Served
from regard.server.api.schema.openai import (
    Completed,
    Completion,
    Embed,
    Embeddings,
    Model,
    ModelList,
    OpenAIError,
)
from regard.server.api.schema.texts import TEXTS
from regard.server.messages import Done, Facts
from regard.server.refusals import RefusedError, as_openai, refusal
from regard.server.supervisor import Told

COMPLETE, JUDGE = "complete", "judge"
Prompt = str | tuple[int, ...]
STARTED = int(time.time())
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": OpenAIError} for status in (400, 401, 403, 404, 413, 422, 500, 503, 504)
}
router = APIRouter(prefix="/v1", tags=["texts and vectors (OpenAI)"], responses=ERRORS)
NO_LOGPROBS: dict[str, Any] = {"tokens": [], "token_logprobs": [], "top_logprobs": [], "text_offset": []}
EVENTS = {"content": {"text/event-stream": {"schema": {"type": "string"}}}}


@router.get("/models", response_model=ModelList)
async def models(models: Served) -> JSONResponse:
    """The models that are served."""
    return JSONResponse({"object": "list", "data": [_model(facts) for facts in models.facts]})


@router.get("/models/{name:path}", response_model=Model)
async def model(name: str, models: Served) -> JSONResponse:
    """One of them."""
    for facts in models.facts:
        if facts.name == name:
            return JSONResponse(_model(facts))
    raise RefusedError(404, f"There is no model {name[:80]!r}.", code="model_not_found")


@router.post("/completions", response_model=Completed, responses={200: EVENTS})
async def completions(asked: Completion, models: Served) -> Response:
    """Continue texts."""
    model = models.named(asked.model, COMPLETE)
    prompts, options, answer = _prompts(asked.prompt), _options(asked), _Answer(asked)
    payloads = _payloads(asked, prompts)
    if not asked.stream:
        how = {"alternatives": options["alternatives"], "truncate": asked.truncate}
        judged = await model.ask(JUDGE, prompts, **how) if _judges(asked) else []
        if asked.max_tokens == 0:
            return JSONResponse(answer.read_back(prompts, judged))
        return JSONResponse(answer.whole(await model.ask(COMPLETE, payloads, **options), judged))
    events = model.stream(COMPLETE, payloads, **options)
    first = await anext(events)  # whatever is wrong with the request is found before anything is sent
    before = [(place, prompt) for place, (prompt, _) in enumerate(payloads) if asked.echo]
    return StreamingResponse(answer.streamed(before, first, events), media_type="text/event-stream")


@router.post("/embeddings", response_model=Embeddings)
async def embeddings(asked: Embed, models: Served) -> Response:
    """Make vectors of texts."""
    model = models.named(asked.model, "embed")
    texts = [asked.input] if isinstance(asked.input, str) else asked.input
    done = await model.ask("embed", texts, truncate=asked.truncate)
    width = len(done[0].value) // 4
    if asked.dimensions not in (None, width):
        raise RefusedError(
            400, f"{asked.model} makes vectors of {width} numbers.", found=f"dimensions {asked.dimensions}"
        )
    return Response(await asyncio.to_thread(_embedded, asked, done), media_type="application/json")


def _model(facts: Facts) -> dict[str, Any]:
    return {"id": facts.name, "object": "model", "created": STARTED, "owned_by": "regard"}


def _embedded(asked: Embed, done: Sequence[Done]) -> bytes:
    """As JSON, vector by vector: others get their turn meanwhile."""
    read = sum(one.read for one in done)
    write = _base64 if asked.encoding_format == "base64" else _floats
    data = (
        json.dumps({"object": "embedding", "index": index, "embedding": write(one.value)})
        for index, one in enumerate(done)
    )
    usage = {"prompt_tokens": read, "total_tokens": read}
    head = json.dumps({"object": "list", "model": asked.model, "usage": usage})[:-1]
    return f'{head}, "data": [{", ".join(data)}]}}'.encode()


def _base64(vector: bytes) -> str:
    return base64.b64encode(vector).decode("ascii")


def _floats(vector: bytes) -> list[float]:
    return list(struct.unpack(f"<{len(vector) // 4}f", vector))


def _judges(asked: Completion) -> bool:
    """Whether it is asked what the model makes of the prompts themselves."""
    return bool(asked.echo) and (asked.logprobs is not None or asked.max_tokens == 0)


def _payloads(asked: Completion, prompts: Sequence[Prompt]) -> list[tuple[Prompt, int]]:
    """(prompt, which of several texts), a prompt after the other."""
    count = asked.best_of or asked.n or 1
    if count < (asked.n or 1) or (asked.stream and count > (asked.n or 1)):
        raise RefusedError(400, "best_of must be n or more, and n if the answer is streamed.", found=f"best_of {count}")
    if asked.max_tokens == 0 and not asked.echo:
        raise RefusedError(400, "Nothing is asked for.", found="max_tokens 0", do="give more, or echo the prompt")
    if asked.stream and _judges(asked):
        raise RefusedError(400, "What the model makes of a prompt cannot be streamed.", do="leave out stream")
    if asked.stream and asked.echo and not all(isinstance(prompt, str) for prompt in prompts):
        raise RefusedError(400, "Tokens cannot be streamed back.", do="leave out echo or stream, or give a text")
    if len(prompts) * count > TEXTS:
        raise RefusedError(413, "These are too many texts.", found=str(len(prompts) * count), wanted=f"at most {TEXTS}")
    return [(prompt, sample) for prompt in prompts for sample in range(count)]


def _prompts(given: Any) -> list[Prompt]:
    if given is None or isinstance(given, str):
        return [given or ""]
    if isinstance(given[0], int):
        return [tuple(given)]
    return [one if isinstance(one, str) else tuple(one) for one in given]


def _options(asked: Completion) -> dict[str, Any]:
    """As a model takes them: see tasks/generation.py. What is not given is as OpenAI has it."""
    stops = (asked.stop,) if isinstance(asked.stop, str) else tuple(asked.stop or ())
    wanted = asked.logprobs is not None or (asked.best_of or 1) > 1
    return {
        "max_new_tokens": 16 if asked.max_tokens is None else asked.max_tokens,
        "temperature": 1.0 if asked.temperature is None else asked.temperature,
        "top_k": asked.top_k,
        "top_p": 1.0 if asked.top_p is None else asked.top_p,
        "min_p": asked.min_p or 0.0,
        "repetition_penalty": asked.repetition_penalty or 1.0,
        "stop": stops,
        "seed": secrets.randbits(63) if asked.seed is None else asked.seed,
        "alternatives": max(1, asked.logprobs or 1) if wanted else 0,
        "truncate": asked.truncate,
    }


class _Answer:
    """Puts an answer together, at once or piece by piece."""

    def __init__(self, asked: Completion) -> None:
        self._asked, self._n = asked, asked.n or 1
        self._written = asked.best_of or self._n
        self._head = {
            "id": f"cmpl-{secrets.token_hex(12)}",
            "object": "text_completion",
            "created": int(time.time()),
            "model": asked.model,
        }

    def whole(self, done: Sequence[Done], judged: Sequence[Done] = ()) -> dict[str, Any]:
        """All texts; of those written for a prompt, the n likeliest. judged: what the model makes of each prompt."""
        groups = [done[first : first + self._written] for first in range(0, len(done), self._written)]
        read = [one.value for one in judged] or [None] * len(groups)
        kept = [(one, prompt) for group, prompt in zip(groups, read, strict=True) for one in self._likeliest(group)]
        choices = [self._choice(index, *one) for index, one in enumerate(kept)]
        return {**self._head, "choices": choices, "usage": self._usage(done)}

    def read_back(self, prompts: Sequence[Prompt], judged: Sequence[Done]) -> dict[str, Any]:
        """The prompts alone: nothing is written."""
        nothing = {"text": "", "finish": "length", "log_prob": 0.0, "logprobs": NO_LOGPROBS}
        texts = [
            given if isinstance(given, str) else one.value["text"] for given, one in zip(prompts, judged, strict=True)
        ]
        done = [
            Done(one.id, {**nothing, "prompt": text}, read=one.read)
            for text, one in zip(texts, judged, strict=True)
            for _ in range(self._written)
        ]
        return self.whole(done, judged)

    async def streamed(
        self, before: Sequence[tuple[int, Any]], first: Told, events: AsyncGenerator[Told, None]
    ) -> AsyncIterator[str]:
        """Server-sent events: the prompts, if they are wanted, and what is written."""
        done: list[Done] = []
        try:
            for place, prompt in before:
                yield self._event([_chunk(place, prompt)])
            async for place, event in _and(first, events):
                if isinstance(event, Done):
                    done.append(event)
                    ended = self._piece(place, {**event.value, "text": ""}, before)
                    yield self._event([{**ended, "finish_reason": event.value["finish"]}])
                else:
                    yield self._event([self._piece(place, event.value, before)])
            if self._asked.stream_options and self._asked.stream_options.include_usage:
                yield self._event([], usage=self._usage(done))
            yield "data: [DONE]\n\n"
        except RegardError as error:  # too late for a status
            yield f"data: {json.dumps(as_openai(refusal(error)), ensure_ascii=False)}\n\n"
        finally:
            await events.aclose()

    def _piece(self, place: int, value: dict[str, Any], before: Sequence[tuple[int, Any]]) -> dict[str, Any]:
        """What is told of a part of a text."""
        if self._asked.logprobs is None:
            return _chunk(place, value["text"])
        moved = _moved(value["logprobs"], len(dict(before).get(place, "")))
        return {**_chunk(place, value["text"]), "logprobs": self._shortened(moved)}

    def _shortened(self, logprobs: dict[str, Any]) -> dict[str, Any]:
        """Without the likeliest tokens, where none are wanted."""
        return {**logprobs, "top_logprobs": logprobs["top_logprobs"] if self._asked.logprobs else None}

    def _event(self, choices: list[dict[str, Any]], **more: Any) -> str:
        return f"data: {json.dumps({**self._head, 'choices': choices, **more}, ensure_ascii=False)}\n\n"

    def _likeliest(self, group: Sequence[Done]) -> Sequence[Done]:
        if self._written == self._n:
            return group
        return sorted(group, key=lambda one: -float(one.value["log_prob"]))[: self._n]

    def _choice(self, index: int, one: Done, prompt: dict[str, Any] | None = None) -> dict[str, Any]:
        before, logprobs = one.value["prompt"] if self._asked.echo else "", None
        if self._asked.logprobs is not None:
            logprobs = _moved(one.value["logprobs"], len(before))
            if prompt is not None:  # of one that was cut, the end was read
                read = _moved(prompt["logprobs"], max(0, len(before) - len(prompt["text"])))
                logprobs = {name: read[name] + column for name, column in logprobs.items()}
            logprobs = self._shortened(logprobs)
        return {
            "text": before + one.value["text"],
            "index": index,
            "logprobs": logprobs,
            "finish_reason": one.value["finish"],
        }

    def _usage(self, done: Sequence[Done]) -> dict[str, int]:
        """A prompt counts once, however many texts are written for it."""
        read, made = sum(one.read for one in done) // self._written, sum(one.made for one in done)
        return {"prompt_tokens": read, "completion_tokens": made, "total_tokens": read + made}


def _moved(logprobs: dict[str, Any], by: int) -> dict[str, Any]:
    """Those of a text that stands so many letters further on."""
    return {**logprobs, "text_offset": [by + place for place in logprobs["text_offset"]]}


def _chunk(index: int, text: str) -> dict[str, Any]:
    return {"text": text, "index": index, "logprobs": None, "finish_reason": None}


async def _and(first: Told, events: AsyncIterator[Told]) -> AsyncIterator[Told]:
    yield first
    async for event in events:
        yield event
