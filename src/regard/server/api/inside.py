"""Our own API, further inside: each weight, each step, each choice of a model in its own numbers."""

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from regard.server.api.asking import Served
from regard.server.api.own import BYTES, ERRORS, JSON
from regard.server.api.schema.inside import (
    Cell,
    Checkpoint,
    Linked,
    Padded,
    Places,
    Ran,
    Scene,
    Searched,
    Stepped,
    Written,
)
from regard.server.api.schema.inside_told import Aligned, Charted, Grown, Masked, Placed, Run, Tagged, Timed, Worked
from regard.server.api.schema.own import Looked
from regard.server.api.schema.texts import Body
from regard.server.models import Models

router = APIRouter(prefix="/inside", tags=["inside a model"], responses=ERRORS)
FILE: dict[int | str, dict[str, Any]] = {200: {"content": {BYTES: {}}}}


@router.post("/workings", response_model=Worked)
async def workings(asked: Cell, models: Served) -> Response:
    """How a row of weights came about: scores, scale, mask, softmax, values."""
    return await _told("workings", asked, models)


@router.post("/flow", response_model=Charted)
async def flow(asked: Stepped, models: Served) -> Response:
    """One step of a model as a flow chart, with shapes and values."""
    return await _told("flow", asked, models)


@router.post("/positions", response_model=Placed, responses=FILE)
async def positions(asked: Places, models: Served) -> Response:
    """The vectors that tell a model where a word stands."""
    return await _told("positions", asked, models)


@router.post("/masks", response_model=Masked)
async def masks(asked: Padded, models: Served) -> Response:
    """Who may look where."""
    return await _told("masks", asked, models)


@router.post("/timeline", response_model=Timed)
async def timeline(asked: Written, models: Served) -> Response:
    """What is chosen at each step, and what else could be."""
    return await _told("timeline", asked, models)


@router.post("/beams", response_model=Grown)
async def beams(asked: Searched, models: Served) -> Response:
    """A search as a tree."""
    return await _told("beams", asked, models)


@router.post("/heads", response_model=Tagged)
async def heads(asked: Scene, models: Served) -> Response:
    """What kind of look each head has."""
    return await _told("heads", asked, models)


@router.post("/gold", response_model=Aligned)
async def gold(asked: Linked, models: Served) -> Response:
    """Known links of a sentence of the built-in corpus, beside those of each head."""
    return await _told("gold", asked, models)


@router.post("/run", response_model=Run)
async def run(asked: Ran, models: Served) -> Response:
    """After which updates of its training the attention of a model was kept, and in which sentences."""
    return await _told("run", asked, models)


@router.post("/checkpoint", response_model=Looked, responses=FILE)
async def checkpoint(asked: Checkpoint, models: Served) -> Response:
    """Where a model looked while it was trained."""
    return await _told("checkpoint", asked, models)


async def _told(verb: str, asked: Body, models: Models) -> Response:
    """What the model says. Texts are what the job is about, the rest is how."""
    how = asked.model_dump()
    model = models.meant(how.pop("model"), verb)
    given = (how.pop("text"), how.pop("second", None)) if "text" in how else ()
    how = {key: tuple(value) if isinstance(value, list) else value for key, value in how.items()}
    (done,) = await model.ask(verb, [given], **how)
    return Response(done.value, media_type=JSON if how.get("format", "json") == "json" else BYTES)
