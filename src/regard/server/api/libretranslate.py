"""LibreTranslate's API: /translate, /languages, /detect. Bodies are JSON or forms; the key, if one is needed, may be in
them."""

import asyncio
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from regard.server.api.asking import Opened, Served, either_way, read
from regard.server.api.languages import name_of
from regard.server.api.markup import Markup, parsed
from regard.server.api.schema.libretranslate import (
    Detect,
    Detected,
    Language,
    TheirError,
    Translate,
    Translated,
)
from regard.server.api.schema.texts import TEXTS
from regard.server.edge.security import check_key
from regard.server.models import Models
from regard.server.refusals import RefusedError
from regard.text.splitting import Parts, split
from regard.text.target_codes import code_before, coded

AUTO = "auto"
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": TheirError} for status in (400, 401, 403, 413, 500, 503, 504)
}
router = APIRouter(tags=["translation (LibreTranslate)"], responses=ERRORS)
Best = list[str]
"""The translations of a text, the best first."""


@router.post("/translate", response_model=Translated, openapi_extra=either_way(Translate))
async def translate(request: Request, models: Served, keys: Opened) -> JSONResponse:
    """Translate a text, or several, sentence by sentence. Lines stay lines, and in HTML tags stay tags."""
    asked = await read(request, Translate)
    check_key(keys, request.headers, asked.api_key)
    given = [asked.q] if isinstance(asked.q, str) else asked.q
    pages = await asyncio.to_thread(lambda: [parsed(text) for text in given]) if asked.format == "html" else None
    texts = given if pages is None else [text for page in pages for text in page.texts]
    source, sure = _source(models, texts, asked.source, asked.target)
    found = await _translations(models, texts, source, asked.target, asked.alternatives)
    found = found if pages is None else _filled(pages, found)
    answer: dict[str, Any] = {"translatedText": [best[0] for best in found]}
    if asked.alternatives:
        answer["alternatives"] = [best[1:] for best in found]
    if asked.source == AUTO:
        answer["detectedLanguage"] = [{"confidence": _percent(sure), "language": source}] * len(given)
    alone = isinstance(asked.q, str)
    return JSONResponse({key: value[0] if alone else value for key, value in answer.items()})


@router.get("/languages", response_model=list[Language])
async def languages(models: Served) -> JSONResponse:
    """The languages that can be translated, and into which. It needs no key: clients ask for it without."""
    pairs = models.pairs
    targets = {code: [target for source, target in pairs if source == code] for pair in pairs for code in pair}
    return JSONResponse([{"code": code, "name": name_of(code), "targets": into} for code, into in targets.items()])


@router.post("/detect", response_model=list[Detected], openapi_extra=either_way(Detect))
async def detect(request: Request, models: Served, keys: Opened) -> JSONResponse:
    """Which language a text is in, of those that the models know."""
    asked = await read(request, Detect)
    check_key(keys, request.headers, asked.api_key)
    found = models.detected(asked.q)
    return JSONResponse([{"confidence": _percent(sure), "language": language} for language, sure in found])


def _source(models: Models, texts: Sequence[str], source: str, target: str) -> tuple[str, float]:
    """The language to translate from, and how sure that is."""
    if source != AUTO:
        return source, 1.0
    possible = [one for one, other in models.pairs if other == target]
    if not possible:
        models.translator(source, target)  # which says what there is
    found = models.detected("\n".join(texts), [*possible, target])
    if found and found[0][1] > 0:
        return found[0]
    if len(possible) == 1:
        return possible[0], 0.0
    raise RefusedError(
        400, "The language cannot be told.", wanted=f"source, one of: {', '.join(possible)}", code="unknown"
    )


async def _translations(models: Models, texts: Sequence[str], source: str, target: str, others: int) -> list[Best]:
    """The best translations of each text: of each sentence of each line of it, put together again."""
    if source == target and any(source in pair for pair in models.pairs):
        return [[text] for text in texts]
    model = models.translator(source, target)
    several = model.facts.targets
    code = code_before(target, several) if target in several else ""
    lines = await asyncio.to_thread(_lines, texts, source, code)
    sentences = [sentence for rows in lines for line in rows for sentence in line.sentences]
    if len(sentences) > TEXTS:
        found = str(len(sentences))
        raise RefusedError(
            413, "These are too many sentences.", found=found, wanted=f"at most {TEXTS}", code="too_long"
        )
    done = await model.ask("translate", sentences, nbest=others + 1) if sentences else ()
    best = iter([[one["text"] for one in answer.value] for answer in done])
    return [_joined(rows, [next(best) for line in rows for _ in line.sentences], target) for rows in lines]


def _lines(texts: Sequence[str], source: str, code: str) -> list[list[Parts]]:
    """The sentences of each line of each text, each with the code of the language that is wanted, if there is one. A
    text may begin with one of its own."""
    found = []
    for text in texts:
        own, rest = coded(text)
        found.append([split(line, source).after(own or code) for line in rest.split("\n")])
    return found


def _filled(pages: Sequence[Markup], found: Sequence[Best]) -> list[Best]:
    """Pages again, each with the translations of its texts."""
    texts = iter(found)
    return [[page.filled(some) for some in _ranked([next(texts) for _ in page.places])] for page in pages]


def _joined(lines: Sequence[Parts], found: Sequence[Best], target: str) -> Best:
    """A text again, from the translations of its sentences."""
    made = []
    for some in _ranked(found):
        sentences = iter(some)
        made.append("\n".join(line.joined([next(sentences) for _ in line.sentences], target) for line in lines))
    return made


def _ranked(found: Sequence[Best]) -> list[list[str]]:
    """The best of all, then the second best, and so on; of one that has not so many, the last."""
    most = max(map(len, found), default=1)
    return [[best[min(rank, len(best) - 1)] for best in found] for rank in range(most)]


def _percent(share: float) -> float:
    return round(100 * share, 1)
