"""The page on which one sees where models look: insight/page, handed out as it is."""

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from regard.insight import assets
from regard.server.edge.security import HEADERS, PAGE

router = APIRouter()
POLICY = "; ".join(
    (
        HEADERS["content-security-policy"],
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src data: blob:",
    )
)
"""Its own script and style, the server that it comes from, and pictures that it makes itself: nothing else."""
FOR_EVER = "public, max-age=31536000, immutable"


@router.get("/")
async def index(request: Request) -> Response:
    """The page. It is asked for each time, but sent only if it has changed."""
    tag = f'"{assets.digest()}"'
    headers = {"content-security-policy": POLICY, "cache-control": "no-cache", "etag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(assets.linked(f"{PAGE}{assets.digest()}/"), media_type="text/html", headers=headers)


@router.get(f"{PAGE}{{digest}}/{{name}}")
async def file(digest: str, name: str) -> Response:
    """A file of the page. Its address has the digest of all of them, so it need never be asked for again."""
    if digest != assets.digest() or name not in assets.files():
        raise HTTPException(404, "There is no such file.")
    kind = assets.TYPES[f".{name.rpartition('.')[2]}"]
    return Response(assets.files()[name], media_type=kind, headers={"cache-control": FOR_EVER})
