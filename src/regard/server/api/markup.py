"""HTML as its tags and what stands between them: texts to be translated, put back where they were."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape

COMMENT = "<!--"
TAG = re.compile(r"""<(?=[A-Za-z/!?])(?:(?:"[^"]*+"|'[^']*+'|[^<>"'])*+>|[^<>]*>)""")
"""A value in quotation marks may hold a >; where one is never closed, the next > ends the tag."""
NAME = re.compile(r"</?([a-z0-9]+)")
LEFT_ALONE = frozenset({"script", "style", "code", "pre", "textarea"})
"""What stands in these is no text of a language."""


@dataclass(frozen=True)
class Markup:
    """pieces: tags and what stands between them, in their order; places: of the pieces that are to be translated."""

    pieces: tuple[str, ...]
    places: tuple[int, ...]

    @property
    def texts(self) -> list[str]:
        return [unescape(self.pieces[place]) for place in self.places]

    def filled(self, translations: Sequence[str]) -> str:
        """The same tags around other texts."""
        pieces = list(self.pieces)
        for place, text in zip(self.places, translations, strict=True):
            pieces[place] = escape(text, quote=False)
        return "".join(pieces)


def parsed(html: str) -> Markup:
    """A text is cut wherever a tag stands. Nothing is refused: what is no tag is text."""
    pieces, places, within = list(_pieces(html)), [], ""
    for place, piece in enumerate(pieces):
        if place % 2 == 0:
            if piece.strip() and not within:
                places.append(place)
        elif (name := _name(piece)) in LEFT_ALONE and within in ("", name):
            within = "" if piece.startswith("</") else name
    return Markup(tuple(pieces), tuple(places))


def _pieces(html: str) -> Iterator[str]:
    """Text, tag, text, tag … text. A comment is one tag, whatever it holds; one that never ends is text."""
    done, at, last = 0, 0, html.rfind("-->")
    while (begin := html.find("<", at)) >= 0:
        end = _end(html, begin, last)
        if end:
            yield html[done:begin]
            yield html[begin:end]
            done = end
        at = max(end, begin + 1)
    yield html[done:]


def _end(html: str, begin: int, last: int) -> int:
    """Where the tag ends that begins here; 0 if none does. last: where the last comment ends."""
    if html.startswith(COMMENT, begin) and begin + len(COMMENT) <= last:
        return html.find("-->", begin + len(COMMENT)) + 3
    found = TAG.match(html, begin)
    return found.end() if found else 0


def _name(tag: str) -> str:
    found = NAME.match(tag.lower())
    return found.group(1) if found else ""
