"""A whole library into another language: read as a stream, written as it goes, gone on with where it was broken off."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any

from regard.data.lines import lines_of
from regard.errors import DataError
from regard.tasks import windows as stretches
from regard.tasks.crew import Workshop
from regard.tasks.searching import NOTHING, Translation
from regard.tasks.translator import Translator
from regard.tasks.unfinished import Making
from regard.tasks.windows import How, Line, Window
from regard.text.target_codes import with_code
from regard.watching import Watch, unwatched


@dataclass(frozen=True)
class Source:
    """Where lines come from: those that are given, or those of a file ("-": standard input). prefix: what all
    translations begin with; prefixes: a file with one for each line."""

    texts: tuple[str, ...] = ()
    path: str = "-"
    prefix: str = ""
    prefixes: str | None = None

    @property
    def again(self) -> bool:
        """Whether it can be read more than once: files can, a pipe cannot."""
        paths = [self.path, *([self.prefixes] if self.prefixes else [])]
        return not self.texts and not any(map(_only_once, paths))

    def windows(self) -> Iterator[Window]:
        """All lines with their prefixes."""
        lines = self.texts or texts_of(self.path)
        if self.prefixes is not None:
            return stretches.windows(lines, texts_of(self.prefixes), exact=True)
        return stretches.windows(lines, repeat(self.prefix) if self.prefix else None)


@dataclass(frozen=True)
class Survey:
    """What one pass through an input has found: how many lines, and the SHA-256 of its bytes, unpacked; and of those
    of its prefixes, if they have a file."""

    lines: int
    fingerprint: str
    prefixes: str = ""


@dataclass(frozen=True)
class Library:
    """What is translated, by whom, how, and in which form it is written (see FORMS)."""

    translator: Translator
    how: How
    source: Source
    form: str = "text"

    def survey(self, watch: Watch = unwatched) -> Survey | None:
        """Reads the input once, before hours are spent on it: what cannot be read, or is too long, is told now. None
        if it can be read only once."""
        self.translator.check_prefixes([self.source.prefix])
        if not self.source.again:
            return None
        found = survey(self.source.path, self._check, watch)
        if self.source.prefixes is None:
            return found
        given = survey(self.source.prefixes, lambda window: self.translator.check_prefixes(window.lines, window.first))
        if given.lines != found.lines:
            raise DataError(
                "There are not as many prefixes as lines.",
                found=f"{given.lines:,} prefixes, {found.lines:,} lines",
                wanted="a prefix for each line, an empty one where a translation may begin as it likes",
            )
        return replace(found, prefixes=given.fingerprint)

    def making(self, known: Survey | None) -> Making | None:
        """What must be the same when the output is gone on with."""
        if known is None:
            return None
        facts: dict[str, Any] = {
            "model": self.translator.fingerprint(),
            "engine": self.translator.engine.name,
            "input": known.fingerprint,
            "prefix": known.prefixes or self.source.prefix,
            "form": self.form,
            "split": self.how.split,
            "langs": list(self.translator.langs),
            "window": [stretches.LINES, stretches.CHARACTERS],
            "code": self.how.code,
            **asdict(self.how.search),
        }
        return Making(facts, known.lines, numbered=self.form == "numbered")

    def run(
        self, workshop: Workshop, write: Callable[[str], None], done: int = 0, known: Survey | None = None
    ) -> Iterator[int]:
        """Translates and writes all lines but those that are done, a window at a time; yields a number whenever so many
        more lines are translated."""
        tell = FORMS[self.form]

        def written(lines: list[Line]) -> None:
            write("".join(tell(line) for line in lines if line.number > done))

        windows = self.source.windows() if known else map(self._checked, self.source.windows())
        return workshop.run(self.translator, windows, written, done)

    def _checked(self, window: Window) -> Window:
        self._check(window)
        self.translator.check_prefixes(window.prefixes, window.first)
        return window

    def _check(self, window: Window) -> None:
        if not self.how.split and not self.how.search.truncate:
            self.translator.check([with_code(line, self.how.code) for line in window.lines], window.first)


def survey(path: str, check: Callable[[Window], None] = lambda window: None, watch: Watch = unwatched) -> Survey:
    """Counts the lines of a file; each window is shown to `check`, which may refuse it."""
    digest, lines = hashlib.sha256(), 0
    texts = watch(texts_of(path, digest.update), total=0, what="reading")
    for window in stretches.windows(texts):
        check(window)
        lines = window.last
    return Survey(lines, digest.hexdigest())


def texts_of(path: str, update: Callable[[bytes], None] = lambda raw: None) -> Iterator[str]:
    """The lines of a file ("-": standard input), one by one; `update` sees the bytes as they are."""
    for line in lines_of(path, update):
        try:
            yield line.decoded()
        except DataError as fault:
            raise line.blamed(fault) from None


def as_text(line: Line) -> str:
    """The translation."""
    return _one_line(line.text) + "\n"


def as_numbered(line: Line) -> str:
    """Each of the n best: number of the line, score and text, separated by tabs."""
    found = line.found[0] if line.found else [NOTHING]
    return "".join(f"{line.number}\t{one.score:.4f}\t{_one_line(one.text)}\n" for one in found)


def as_json(line: Line) -> str:
    """An object with the n best and their scores."""
    return _json({"source": line.source, "translations": _options(line.found[0] if line.found else [NOTHING])})


def as_sentences(line: Line) -> str:
    """The same for a line that was split, sentence by sentence; and the best of them as a line."""
    pairs = zip(line.sentences, line.found, strict=True)
    sentences = [{"source": sentence, "translations": _options(found)} for sentence, found in pairs]
    return _json({"source": line.source, "text": line.text, "sentences": sentences})


FORMS: Mapping[str, Callable[[Line], str]] = {
    "text": as_text,
    "numbered": as_numbered,
    "json": as_json,
    "sentences": as_sentences,
}
"""How a line is written. All but "numbered" write one for each."""


def _only_once(path: str) -> bool:
    return path == "-" or (Path(path).exists() and not Path(path).is_file())


def _json(facts: dict[str, Any]) -> str:
    return json.dumps(facts, ensure_ascii=False) + "\n"


def _options(found: list[Translation]) -> list[dict[str, Any]]:
    return [{"text": one.text, "score": one.score, "finished": one.finished} for one in found]


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")
