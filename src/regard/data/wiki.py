"""A Wikipedia dump (MediaWiki XML) as documents: the articles' prose, without markup.

Only what is prose is wanted, so everything else is thrown away rather than rendered: templates, tables, references,
files, headings, lists of links.
"""

import html
import re
from collections.abc import Iterable, Iterator

from regard.data.sentences import split_sentences

TEXT = re.compile(r"<text\b[^>]*(?<!/)>(.*)")  # <text … /> has no end, and nothing in it
SPACE = re.compile(r"<page>|<ns>\s*(-?\d+)\s*</ns>")
ARTICLES = "0"
"""The namespace of articles; others hold templates, talk, pages about Wikipedia."""
NESTED = (("{{", "}}"), ("{|", "|}"))
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
DROPPED = (
    re.compile(r"<(ref|math|gallery|table|div|timeline|nowiki|code|pre|sub|sup)\b[^>/]*>.*?</\1\s*>", re.DOTALL | re.I),
    re.compile(r"<[^<>]{1,200}>"),
    re.compile(r"\[\[(?:[^\[\]|]{1,40}):(?:[^\[\]]|\[\[[^\[\]]*\]\])*\]\]"),  # files, categories, other languages
    re.compile(r"\[(?:https?|ftp)://[^\s\]]*\]"),
    re.compile(r"__[A-Z]+__"),
    re.compile(r"'{2,}"),
)
LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
OUTSIDE = re.compile(r"\[(?:https?|ftp)://[^\s\]]*\s+([^\]]*)\]")
NOT_PROSE = re.compile(r"^\s*(?:[=*#:;|!{}]|----)")
FEWEST_WORDS = 5


def read_wiki(lines: Iterable[str]) -> Iterator[list[str]]:
    """The sentences of each article, in order; redirects and articles without prose are left out."""
    for markup in _articles(lines):
        if sentences := _prose(html.unescape(markup)):
            yield sentences


def _articles(lines: Iterable[str]) -> Iterator[str]:
    """The wiki text of the pages that are articles. In old dumps pages do not tell: there it is that of all."""
    held: list[str] | None = None
    space = ARTICLES
    for line in lines:
        if held is None:
            space = _space(line, space)
            match = TEXT.search(line)
            if match is None:
                continue
            held, line = [], match[1]
        if "</text>" in line:
            held.append(line[: line.index("</text>")])
            if space == ARTICLES:
                yield "\n".join(held)
            held = None
        else:
            held.append(line.rstrip("\n"))


def _space(line: str, before: str) -> str:
    """The namespace behind a line outside of texts; a page that tells none is an article."""
    for match in SPACE.finditer(line):
        before = match[1] or ARTICLES
    return before


def _prose(markup: str) -> list[str]:
    if markup.lstrip().lower().startswith("#redirect"):
        return []
    text = plain(markup)
    paragraphs = (line for line in text.split("\n") if not NOT_PROSE.match(line))
    return [
        sentence
        for paragraph in paragraphs
        for sentence in split_sentences(re.sub(r"\s+", " ", paragraph))
        if len(sentence.split()) >= FEWEST_WORDS
    ]


def plain(markup: str) -> str:
    """Wiki text without its markup."""
    text = COMMENT.sub("", html.unescape(markup))
    for opening, closing in NESTED:
        text = _without(text, opening, closing)
    for pattern in DROPPED:
        text = pattern.sub("", text)
    return OUTSIDE.sub(r"\1", LINK.sub(r"\1", text)).replace("\xa0", " ")


def _without(text: str, opening: str, closing: str) -> str:
    """Without what stands between such brackets, however deeply they are nested; one that is left open takes all
    that follows with it: half a table read as prose would be worse than an article cut short."""
    kept: list[str] = []
    depth = place = 0
    for match in re.finditer(f"{re.escape(opening)}|{re.escape(closing)}", text):
        if depth == 0:
            kept.append(text[place : match.start()])
        depth = depth + 1 if match[0] == opening else max(0, depth - 1)
        place = match.end()
    if depth == 0:
        kept.append(text[place:])
    return "".join(kept)
