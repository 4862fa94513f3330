"""What the routes of all APIs share: the state of the server, and how a body is read."""

import json
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel, ValidationError

from regard.server.api import forms
from regard.server.metrics import Metrics
from regard.server.models import Models
from regard.server.refusals import RefusedError, invalid, unlabelled
from regard.server.settings import Keys

Body = TypeVar("Body", bound=BaseModel)


async def _models(request: Request) -> Models:
    models: Models = request.app.state.models
    return models


async def _metrics(request: Request) -> Metrics:
    metrics: Metrics = request.app.state.metrics
    return metrics


async def _keys(request: Request) -> Keys:
    keys: Keys = request.app.state.keys
    return keys


Served = Annotated[Models, Depends(_models)]
Figures = Annotated[Metrics, Depends(_metrics)]
Opened = Annotated[Keys, Depends(_keys)]


async def read(request: Request, kind: type[Body]) -> Body:
    """The body of a request, which may be JSON, a form, or nothing but what the address says."""
    try:
        return kind.model_validate(_fields(await request.body(), request))
    except ValidationError as error:
        raise invalid(400, error.errors(include_url=False, include_context=False, include_input=False)) from None


def _fields(body: bytes, request: Request) -> Any:
    header = request.headers.get("content-type", "")
    kind = header.partition(";")[0].strip().lower()
    try:
        if kind == "application/json" and body:
            return json.loads(body)
        if kind in ("", forms.LINE) and body.lstrip()[:1] == b"{":
            raise unlabelled(400)
        if kind in ("", forms.LINE) or not body:
            return forms.line(body.decode()) | forms.line(request.url.query)
        if kind == forms.PARTS:
            return forms.parts(body, header)
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, "The request cannot be read.", found=str(error)[:120], code="unreadable") from None
    raise RefusedError(
        400,
        "The request is of a kind that is not understood.",
        found=kind[:80],
        wanted=f"application/json, {forms.LINE} or {forms.PARTS}",
    )


def either_way(kind: type[BaseModel]) -> dict[str, Any]:
    """What the description of the API says of a body that may be JSON or a form."""
    schema = kind.model_json_schema()
    return {
        "requestBody": {
            "required": True,
            "content": {way: {"schema": schema} for way in ("application/json", forms.LINE)},
        }
    }
