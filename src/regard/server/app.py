"""The server, put together: the routes of three APIs, what stands before them, and the models behind."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse
from starlette.types import ASGIApp

from regard import __version__
from regard.errors import RegardError
from regard.server.api import inside, libretranslate, openai, own, viewer
from regard.server.api.pages import PAGE_HEADERS, page
from regard.server.edge.intake import Intake
from regard.server.edge.listening import bound, listener
from regard.server.edge.security import Guard
from regard.server.metrics import Measured, Metrics
from regard.server.models import Models
from regard.server.refusals import OPENAI, RefusedError, fault, invalid, refusal, response, unlabelled
from regard.server.settings import Settings

ABOUT = "Models that translate, continue, classify and embed texts, and show where they look."


def serve(settings: Settings, started: Callable[[str], None]) -> None:
    """Serves models until the process is told to end; started: is called with the address once they are loaded."""
    asyncio.run(_serve(settings, started))


async def _serve(settings: Settings, started: Callable[[str], None]) -> None:
    with bound(settings.host, settings.port) as place:
        metrics = Metrics()
        models = Models(settings, metrics)
        try:
            await models.start()
            app = application(models, metrics, settings)
            server = listener(app, settings, lambda: started(_address(place)), models.refuse_waiting)
            await server.serve([place])
        finally:
            await models.stop()


def _address(place: socket.socket) -> str:
    host, port = place.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def application(models: Models, metrics: Metrics, settings: Settings) -> ASGIApp:
    """Everything that a request passes, from the outside to the inside."""
    app = routes()
    app.state.models, app.state.metrics, app.state.keys = models, metrics, settings.keys
    paths = frozenset(app.openapi()["paths"]) | {"/", "/docs", "/openapi.json"}
    inner = Intake(app, settings, later=lambda: max(1, round(metrics.mean_seconds)))
    return Measured(Guard(inner, settings), metrics, paths)


def routes() -> FastAPI:
    """The three APIs, their description, and how each tells what is wrong."""
    app = FastAPI(
        title="regard", version=__version__, description=ABOUT, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    for router in (libretranslate.router, openai.router, own.router, inside.router, own.state):
        app.include_router(router)
    described = page(app.openapi())

    async def docs() -> HTMLResponse:
        return HTMLResponse(described, headers=PAGE_HEADERS)

    app.add_api_route("/docs", docs, include_in_schema=False)
    app.include_router(viewer.router, include_in_schema=False)
    handlers: dict[Any, Any] = {
        RegardError: _refused,
        RequestValidationError: _not_valid,
        HTTPException: _http,
        Exception: _fault,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)
    return app


async def _refused(request: Request, error: RegardError) -> JSONResponse:
    return response(request.url.path, refusal(error))


async def _not_valid(request: Request, error: RequestValidationError) -> JSONResponse:
    status = 400 if request.url.path.startswith(OPENAI) else 422
    labelled = "json" in request.headers.get("content-type", "") or not await request.body()
    return response(request.url.path, invalid(status, error.errors()) if labelled else unlabelled(status))


async def _http(request: Request, error: HTTPException) -> JSONResponse:
    answer = response(request.url.path, RefusedError(error.status_code, str(error.detail), code="http"))
    answer.headers.update(error.headers or {})
    return answer


async def _fault(request: Request, error: Exception) -> JSONResponse:
    return response(request.url.path, fault())
