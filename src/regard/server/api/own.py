"""Our own API: classes, hidden words, where a model looks, tokens; what is served, and how the server is."""

import json
from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse, PlainTextResponse, Response

from regard import __version__
from regard.server.api.asking import Figures, Served
from regard.server.api.schema.own import (
    Classified,
    Classify,
    Fill,
    Filled,
    Health,
    Info,
    Look,
    Looked,
    OurError,
    Tokenize,
    Tokenized,
)
from regard.server.messages import Facts

ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": OurError} for status in (400, 401, 403, 404, 413, 422, 500, 503, 504)
}
router = APIRouter(tags=["classes, words, attention"], responses=ERRORS)
state = APIRouter(tags=["the server"], responses={status: ERRORS[status] for status in (401, 403)})
BYTES, JSON = "application/octet-stream", "application/json"
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


@router.post("/classify", response_model=Classified)
async def classify(asked: Classify, models: Served) -> JSONResponse:
    """Say which class each text, or pair of texts, has."""
    model = models.meant(asked.model, "classify")
    examples = [(text,) if isinstance(text, str) else tuple(text) for text in asked.texts]
    found: list[Any] = [None] * len(examples)
    for sides in sorted({len(example) for example in examples}):
        places = [place for place, example in enumerate(examples) if len(example) == sides]
        done = await model.ask("classify", [examples[i] for i in places], truncate=asked.truncate, sides=sides)
        for place, one in zip(places, done, strict=True):
            found[place] = one.value
    return JSONResponse({"model": model.facts.name, "classes": found})


@router.post("/fill", response_model=Filled)
async def fill(asked: Fill, models: Served) -> JSONResponse:
    """Guess hidden words."""
    model = models.meant(asked.model, "fill")
    (done,) = await model.ask("fill", [asked.text], top=asked.top)
    return JSONResponse({"model": model.facts.name, "masks": done.value})


@router.post("/attention", response_model=Looked, responses={200: {"content": {BYTES: {}}}})
async def attention(asked: Look, models: Served) -> Response:
    """See where a model looks."""
    model = models.meant(asked.model, "attention")
    how = asked.model_dump(include={"generate", "name", "layer", "head", "words", "most", "view", "format"})
    (done,) = await model.ask("attention", [(asked.text, asked.second)], **how)
    return Response(done.value, media_type=JSON if asked.format == "json" else BYTES)


@router.post("/tokenize", response_model=Tokenized)
async def tokenize(asked: Tokenize, models: Served) -> Response:
    """The tokens of texts."""
    model = models.meant(asked.model, "tokenize")
    done = await model.ask("tokenize", asked.texts, side=asked.side)
    head = json.dumps({"model": model.facts.name})[:-1].encode()
    return Response(head + b', "tokens": [' + b", ".join(one.value for one in done) + b"]}", media_type=JSON)


@state.get("/info", response_model=Info)
async def info(models: Served) -> JSONResponse:
    """What is served."""
    return JSONResponse({"version": __version__, "models": [_about(facts) for facts in models.facts]})


@state.get("/health", response_model=Health)
async def health() -> JSONResponse:
    """The server is alive."""
    return JSONResponse({"status": "alive"})


@state.get("/ready", response_model=Health, responses={503: {"model": Health}})
async def ready(models: Served) -> JSONResponse:
    """All models can be asked."""
    return JSONResponse({"status": "ready"} if models.ready else {"status": "not ready"}, 200 if models.ready else 503)


@state.get("/metrics", response_class=PlainTextResponse)
async def metrics(figures: Figures) -> Response:
    """Figures for Prometheus."""
    return Response(figures.text(), media_type=PROMETHEUS)


def _about(facts: Facts) -> dict[str, Any]:
    return {
        "name": facts.name,
        "task": facts.task,
        "architecture": facts.architecture,
        "verbs": list(facts.verbs),
        "parameters": facts.parameters,
        "limit": facts.limit,
        "langs": None if facts.langs is None else list(facts.langs),
        "labels": list(facts.labels),
        "engine": facts.engine,
        "scores": dict(facts.scores),
        "examples": list(facts.examples),
        "attends": facts.attends,
    }
