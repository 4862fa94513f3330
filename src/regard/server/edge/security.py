"""Who may ask: keys, where a request may come from, and the headers that every answer has."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regard.server.refusals import LIBRETRANSLATE, RefusedError, refuse
from regard.server.settings import Keys, Settings

OPEN = ("/health", "/ready", "/", "/docs", "/openapi.json", "/languages")
"""What needs no key: it says nothing of texts, and of models only the languages. So do the files of the page."""
PAGE = "/page/"
LOCAL = ("localhost", "127.0.0.1", "::1")
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "cache-control": "no-store",
}


PREFLIGHT = {
    "access-control-allow-methods": "GET, POST",
    "access-control-max-age": "600",
}
USUAL = "authorization, content-type, x-api-key"
"""Headers that a page of a known origin may send where it does not say which: it may send any (OpenAI's client has a
dozen of its own)."""


class Guard:
    """Stands before everything: puts the headers on, and refuses who has no key or comes from a foreign page."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        headers = Headers(scope=scope)
        shared = _shared(headers["origin"]) if headers.get("origin") in self._settings.origins else {}

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                found = MutableHeaders(scope=message)
                for name, value in (HEADERS | shared).items():
                    found.setdefault(name, value)
            await send(message)

        refused = self._refused(scope["path"], headers)
        if shared and scope["method"] == "OPTIONS":  # a browser asks whether it may ask; it brings no key
            wanted = {"access-control-allow-headers": headers.get("access-control-request-headers", USUAL)}
            await Response(status_code=204, headers=PREFLIGHT | wanted)(scope, receive, with_headers)
        elif refused is None:
            await self._app(scope, receive, with_headers)
        else:
            await refuse(scope, receive, with_headers, refused)

    def _refused(self, path: str, headers: Mapping[str, str]) -> RefusedError | None:
        if not self._settings.keys:
            return self._foreign(headers)
        if is_open(path) or self._settings.keys.fit(given_key(headers)):
            return None
        if path in LIBRETRANSLATE and not given_key(headers):
            return None  # its clients send the key in the body: see `check_key`
        return wrong_key()

    def _foreign(self, headers: Mapping[str, str]) -> RefusedError | None:
        """Where no key is needed, a foreign page that is open in a browser on this machine must not be able to ask. It
        gives itself away by its origin, or by a name that it made up for this machine."""
        host = _host(headers.get("host", ""))
        origin = headers.get("origin")
        known = origin in self._settings.origins
        if origin is not None and _place(origin) != headers.get("host") and not known:
            return RefusedError(
                403, "Pages of other origins may not ask here.", found=f"origin {origin[:80]}", code="origin"
            )
        if self._settings.on_loopback and "host" in headers and host not in (*LOCAL, self._settings.host):
            return RefusedError(
                403,
                "This server answers to its own machine only.",
                found=f"host {host[:80]}",
                do="behind a proxy, start it with --api-key-file",
                code="host",
            )
        return None


def _shared(origin: str) -> dict[str, str]:
    """What lets a page of another origin read an answer."""
    return {
        "access-control-allow-origin": origin,
        "cross-origin-resource-policy": "cross-origin",
        "vary": "origin",
    }


def is_open(path: str) -> bool:
    """Whether anybody may ask for it."""
    return path in OPEN or path.startswith(PAGE)


def given_key(headers: Mapping[str, str]) -> str:
    """The key of a request, as OpenAI's clients send it; "" if there is none."""
    kind, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "")


def check_key(keys: Keys, headers: Mapping[str, str], in_body: str | None) -> None:
    """LibreTranslate's clients send their key in the body."""
    if keys and not given_key(headers) and not keys.fit(in_body or ""):
        raise wrong_key()


def wrong_key() -> RefusedError:
    return RefusedError(
        401,
        "The key is missing or wrong.",
        wanted="the header Authorization: Bearer KEY (or api_key, in LibreTranslate's API)",
        code="invalid_api_key",
    )


def _host(given: str) -> str:
    """The name without the port: localhost:8000, [::1]:8000."""
    try:
        return urlsplit(f"//{given}").hostname or ""
    except ValueError:
        return ""


def _place(origin: str) -> str:
    """Host and port of an origin; "" where it is none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""
