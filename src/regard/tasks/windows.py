"""Texts without end, line by line into another language: lines are translated in windows.

A window is a stretch of lines that are sorted by length and translated together. Which lines are in one is a matter of
the input alone. So the output is the same whoever translates a window, and however often the work was broken off.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass

from regard.errors import DataError
from regard.tasks.searching import NOTHING, Search, Translation
from regard.tasks.translator import Translator
from regard.text.splitting import Parts, split
from regard.text.target_codes import coded, with_code

LINES, CHARACTERS = 512, 1 << 16
"""A window ends when it has so many of either."""


@dataclass(frozen=True)
class Window:
    """Lines that are translated together; `first` is the number of the first one, from 1. prefixes: what their
    translations begin with, one for each line, or none at all."""

    first: int
    lines: tuple[str, ...]
    prefixes: tuple[str, ...] = ()

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1

    @property
    def size(self) -> int:
        """In characters: how much work it is, more or less."""
        return sum(map(len, self.lines))


@dataclass(frozen=True)
class How:
    """How lines are translated: each as it is, or its sentences one by one. code: that of the language that is wanted,
    where a model writes several; a line may begin with one of its own."""

    search: Search
    split: bool = False
    code: str = ""

    def parts(self, line: str, translator: Translator) -> Parts:
        """What of a line is translated, and what around it stays."""
        if self.split:
            own, rest = coded(line) if translator.targets else ("", line)
            code = own or self.code
            return split(rest, translator.langs[0]).fitted(lambda part: translator.fits(code + part)).after(code)
        return Parts((with_code(line, self.code),), ("", "")) if line.strip() else Parts((), ("",))

    def written(self, line: str, translator: Translator) -> str:
        """The language that a line becomes."""
        own = coded(line)[0] if translator.targets else ""
        return (own or self.code).strip(" ><") or translator.langs[1]

    def shown(self, line: str, sentences: tuple[str, ...]) -> tuple[str, ...]:
        """The sentences of a line without the code that it did not have itself."""
        return tuple(sentence.removeprefix(self.code) for sentence in sentences) if not coded(line)[0] else sentences


@dataclass(frozen=True)
class Line:
    """A line and what has become of it: the translations of each of its sentences, and the best of them as a line."""

    number: int
    source: str
    sentences: tuple[str, ...]
    found: tuple[list[Translation], ...]
    text: str


def windows(lines: Iterable[str], prefixes: Iterable[str] | None = None, *, exact: bool = False) -> Iterator[Window]:
    """The lines in windows, each with its prefix. exact: there must be no prefix more."""
    beginnings = None if prefixes is None else iter(prefixes)
    first, size = 1, 0
    held: list[str] = []
    begun: list[str] = []
    for line in lines:
        held.append(line)
        size += len(line)
        if beginnings is not None:
            begun.append(_next(beginnings, first + len(begun)))
        if len(held) >= LINES or size >= CHARACTERS:
            yield Window(first, tuple(held), tuple(begun))
            first, size, held, begun = first + len(held), 0, [], []
    if held:
        yield Window(first, tuple(held), tuple(begun))
    if exact and beginnings is not None and next(beginnings, None) is not None:
        lines_read = first + len(held) - 1
        raise DataError(
            "There are more prefixes than lines.", found=f"{lines_read} lines, and a prefix {lines_read + 1}"
        )


def translated(translator: Translator, window: Window, how: How) -> Generator[int, None, list[Line]]:
    """Yields a number whenever so many more lines are done; returns them all."""
    taken = [how.parts(line, translator) for line in window.lines]
    texts = [sentence for parts in taken for sentence in parts.sentences]
    owners = [place for place, parts in enumerate(taken) for _ in parts.sentences]
    left, found = Counter(owners), [[NOTHING] for _ in texts]
    yield len(taken) - len(left)
    for number, some in translator.stream(texts, how.search, _beginnings(window, taken)):
        found[number] = some
        left[owners[number]] -= 1
        if not left[owners[number]]:
            yield 1
    every = iter(found)
    return [
        _line(number, line, parts, tuple(next(every) for _ in parts.sentences), how, translator)
        for number, (line, parts) in enumerate(zip(window.lines, taken, strict=True), start=window.first)
    ]


def _next(prefixes: Iterator[str], number: int) -> str:
    prefix = next(prefixes, None)
    if prefix is None:
        raise DataError(
            "There are fewer prefixes than lines.",
            found=f"{number - 1} prefixes, and a line {number}",
            wanted="a prefix for each line, an empty one where a translation may begin as it likes",
        )
    return prefix


def _beginnings(window: Window, taken: list[Parts]) -> list[str]:
    """What the translation of each sentence begins with: of a line, only the first one's is given."""
    if not window.prefixes:
        return []
    pairs = zip(window.prefixes, taken, strict=True)
    return [prefix if place == 0 else "" for prefix, parts in pairs for place in range(len(parts.sentences))]


def _line(
    number: int, source: str, parts: Parts, found: tuple[list[Translation], ...], how: How, translator: Translator
) -> Line:
    text = parts.joined([best.text for best, *_ in found], how.written(source, translator))
    return Line(number, source, how.shown(source, parts.sentences), found, text)
