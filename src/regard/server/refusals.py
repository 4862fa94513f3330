"""What a client is told when there is no answer: a status, and the reason in the shape of the API that was called."""

import logging
import re
from collections.abc import Callable, Sequence
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from regard.errors import BundleError, LimitError, RegardError

logger = logging.getLogger("regard.server")
LIBRETRANSLATE = ("/translate", "/detect", "/languages")
OPENAI = "/v1/"
NAME = re.compile("[A-Za-z_]+")
KINDS_TRIED = ("body", "str", "int", "float", "bool")
LOOKED_AT = 20
"""Mistakes of a request."""
THROWN_AWAY = 1 << 26
"""Bytes of a refused request that are read at most."""


class RefusedError(RegardError):
    """An answer that is none. after: seconds after which it makes sense to ask again; code: one word, for programs."""

    def __init__(self, status: int, what: str, *, after: int | None = None, code: str = "", **told: str) -> None:
        self.status, self.after, self.code = status, after, code
        super().__init__(what, **told)

    @property
    def line(self) -> str:
        """All of it in one line."""
        return in_a_line(self)


def in_a_line(error: RegardError) -> str:
    """What an error says, without line breaks."""
    parts = (("found", error.found), ("wanted", error.wanted), ("do this", error.do))
    return " ".join([error.what, *(f"{label}: {text}." for label, text in parts if text)])


def refusal(error: RegardError) -> RefusedError:
    """What a model has found wrong with a request."""
    if isinstance(error, RefusedError):
        return error
    if isinstance(error, BundleError):  # nobody who asks can mend a file of ours, or should know where it is
        logger.error("%s", error)
        return fault()
    too_long = isinstance(error, LimitError)
    status, code = (413, "too_long") if too_long else (400, "invalid")
    return RefusedError(status, error.what, code=code, found=error.found, wanted=error.wanted, do=error.do)


def busy(after: int, *, most: int) -> RefusedError:
    return RefusedError(
        503, "The server has as much to do as it may have.", found=f"{most} waiting", after=after, code="busy"
    )


def closing() -> RefusedError:
    return RefusedError(503, "The server is being stopped and takes no more requests.", after=5, code="closing")


def overdue(seconds: float) -> RefusedError:
    return RefusedError(
        504,
        f"The answer was not there after {seconds:g} seconds.",
        do="ask for less at once, or start the server with a longer --timeout",
        code="timeout",
    )


def lost(model: str) -> RefusedError:
    return RefusedError(
        503,
        f"The process of {model} was lost while it computed this. It is started again.",
        do="ask again; if it always happens with this text, tell it to who runs the server",
        after=1,
        code="lost",
    )


def fault() -> RefusedError:
    return RefusedError(500, "This is a fault of the server; its log says more.", code="fault")


def response(path: str, refusal: RefusedError) -> JSONResponse:
    """The refusal as the API of that path tells it."""
    headers = {} if refusal.after is None else {"retry-after": str(refusal.after)}
    if refusal.status == 401:
        headers["www-authenticate"] = "Bearer"
    return JSONResponse(_shape(path)(refusal), refusal.status, headers)


async def refuse(scope: Scope, receive: Receive, send: Send, refusal: RefusedError) -> None:
    """Answers before the request was read. What still comes of it is thrown away, up to a limit: if the connection were
    closed at once, many clients would see that and not the answer."""
    answer = response(scope["path"], refusal)
    await send({"type": "http.response.start", "status": answer.status_code, "headers": answer.raw_headers})
    await send({"type": "http.response.body", "body": bytes(answer.body), "more_body": True})
    left, more = THROWN_AWAY, True
    while more and left > 0:
        message = await receive()
        left -= len(message.get("body", b""))
        more = bool(message.get("more_body", False))
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _shape(path: str) -> Callable[[RefusedError], dict[str, Any]]:
    if path in LIBRETRANSLATE:
        return as_libretranslate
    return as_openai if path.startswith(OPENAI) else as_ours


def as_libretranslate(refusal: RefusedError) -> dict[str, Any]:
    return {"error": refusal.line}


def as_openai(refusal: RefusedError) -> dict[str, Any]:
    kind = KINDS.get(refusal.status, "server_error" if refusal.status >= 500 else "invalid_request_error")
    told = {"message": refusal.line, "type": kind, "param": None, "code": refusal.code or None}
    return {"error": told}


def as_ours(refusal: RefusedError) -> dict[str, Any]:
    parts = {"found": refusal.found, "wanted": refusal.wanted, "do": refusal.do}
    return {"error": refusal.what, "code": refusal.code} | {key: text for key, text in parts.items() if text}


KINDS = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}


def unlabelled(status: int) -> RefusedError:
    do = "send JSON with the header content-type: application/json (curl: -H 'content-type: application/json')"
    return RefusedError(status, "The request is not said to be JSON.", do=do, code="unlabelled")


def invalid(status: int, errors: Sequence[Any]) -> RefusedError:
    """A request that does not fit its schema: where, and what is wrong there, of the first mistakes."""
    told = dict.fromkeys(f"{_field(error['loc'])}: {error['msg']}" for error in errors[:LOOKED_AT])
    return RefusedError(status, "The request cannot be understood.", found="; ".join([*told][:3]), code="invalid")


def _field(place: Sequence[str | int]) -> str:
    """prompt.2, without what pydantic calls the kinds that were tried there: list[int], str, function-after[…]."""
    named = [str(part) for part in place if isinstance(part, int) or NAME.fullmatch(part)]
    return ".".join(part for part in named if part not in KINDS_TRIED) or "body"
