"""Sentences as words and as the text that a model reads, with the place of each word in the text.

Word-aligned data comes as words with a space between any two ("eu 's pledge , he said ."); models were trained on text
as people write it ("eu's pledge, he said."). `join` leaves out the spaces that people leave out, by the rules of the
Moses detokeniser for English, and between words of scripts without spaces. Plain text goes the other way: `split` finds
its words (insight/words.py).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.data.lines import Line, lines_of, with_text
from regard.data.readers import READERS, read_pairs
from regard.errors import DataError
from regard.insight.words import SCRIPTS_WITHOUT_SPACES, words_at

SEPARATOR = "|||"
CLOSING = frozenset(".,!?;:%)]}’”»…")
OPENING = frozenset("([{“‘«¿¡$£")
CLITICS = frozenset({"'s", "'m", "'d", "'re", "'ve", "'ll", "n't"})
QUOTES = frozenset("\"'")
UNSPACED = (*SCRIPTS_WITHOUT_SPACES, (0x3000, 0x303F), (0xFF01, 0xFF65))
"""With the punctuation that is as wide as a Chinese character."""

Span = tuple[int, int]


@dataclass(frozen=True)
class WordText:
    """A text and where its words stand in it: word i is text[start:end] with (start, end) = spans[i]."""

    text: str
    spans: tuple[Span, ...]

    @classmethod
    def join(cls, words: Sequence[str]) -> "WordText":
        """The text that these words make up.

        >>> WordText.join("eu 's pledge , 22 日 ( 记者 )".split()).text
        "eu's pledge, 22日(记者)"
        """
        text, spans = "", []
        closing = _closing_quotes(words)
        for place, word in enumerate(words):
            if place and not _touch(words, place, closing):
                text += " "
            spans.append((len(text), len(text) + len(word)))
            text += word
        return cls(text, tuple(spans))

    @classmethod
    def split(cls, text: str) -> "WordText":
        """The words of a plain text: between spaces, punctuation apart; characters in scripts without spaces."""
        places: dict[int, list[int]] = {}
        for place, word in enumerate(words_at(text)):
            if word >= 0:
                places.setdefault(word, []).append(place)
        return cls(text, tuple((held[0], held[-1] + 1) for held in places.values()))

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.text[start:end] for start, end in self.spans)

    def first(self, count: int) -> "WordText":
        """The text up to its word number `count`."""
        spans = self.spans[:count]
        return WordText(self.text[: spans[-1][1] if spans else 0], spans)


@dataclass(frozen=True)
class WordPair:
    """A sentence and its translation; `place` says where they were read: "test.words, line 3"."""

    source: WordText
    target: WordText
    place: str = ""

    @classmethod
    def of_words(cls, source: Sequence[str], target: Sequence[str], place: str = "") -> "WordPair":
        return cls(WordText.join(source), WordText.join(target), place)

    @classmethod
    def of_texts(cls, source: str, target: str, place: str = "") -> "WordPair":
        return cls(WordText.split(source), WordText.split(target), place)

    @property
    def empty(self) -> bool:
        """Whether a side has no word, so that nothing can be linked."""
        return not (self.source.spans and self.target.spans)

    def swapped(self) -> "WordPair":
        """The pair as a model of the other direction sees it."""
        return WordPair(self.target, self.source, self.place)


def read_word_pairs(paths: Sequence[str], *, langs: tuple[str, str] | None = None) -> list[WordPair]:
    """The pairs of files: those that `read_pairs` reads as plain text, or one file (also "-", standard input) with
    lines `source words ||| target words`. There an empty line is a pair without words, and stays in its place."""
    if len(paths) == 1 and (paths[0] == "-" or _suffix(paths[0]) not in READERS):
        return list(_separated(paths[0]))
    text = read_pairs(paths, langs=langs)
    row = "pair" if _suffix(paths[0]) == ".csv" else "line"  # a row of CSV may span lines, and the first be a header
    sides = zip(text.sources, text.targets, strict=True)
    return [WordPair.of_texts(*pair, f"{paths[0]}, {row} {number}") for number, pair in enumerate(sides, start=1)]


def _suffix(path: str) -> str:
    return Path(path.lower().removesuffix(".gz")).suffix


def _separated(path: str) -> Iterator[WordPair]:
    for line in with_text(path, lines_of(path), wanted=f"source words {SEPARATOR} target words on each line"):
        try:
            words = re.findall(r"[^ \t]+", line.decoded())  # other spaces may stand inside a word
        except DataError as fault:
            raise line.blamed(fault) from None
        if words and words.count(SEPARATOR) != 1:
            raise line.blamed(_unseparated(line, words.count(SEPARATOR)))
        cut = words.index(SEPARATOR) if words else 0
        yield WordPair.of_words(words[:cut], words[cut + 1 :], f"{path}, line {line.number}")


def _unseparated(line: Line, count: int) -> DataError:
    return DataError(
        "not a pair of sentences",
        found=f"{count} times {SEPARATOR} in {line.shown(80)!r}",
        wanted=f"source words {SEPARATOR} target words, with spaces around all of them",
        do="mend the line; for plain text give a .tsv, .csv or .jsonl file, or twice --data: SOURCE and TARGET",
    )


# ---- where no space goes


def _touch(words: Sequence[str], place: int, closing: frozenset[int]) -> bool:
    """Whether a word follows the one before it without a space."""
    before, word = words[place - 1], words[place]
    if _unspaced(before[-1:]) or _unspaced(word[:1]):
        return True
    if word in QUOTES or before in QUOTES:
        return place in closing or (before in QUOTES and place - 1 not in closing) or _clings(word)
    return _clings(word) or set(before) <= OPENING


def _clings(word: str) -> bool:
    return set(word) <= CLOSING or word.lower().replace("’", "'") in CLITICS


def _closing_quotes(words: Sequence[str]) -> frozenset[int]:
    """The straight quotes that belong to what is before them: every second one of a kind, and an apostrophe after s."""
    opened: set[str] = set()
    closing = set()
    for place, word in enumerate(words):
        if word not in QUOTES:
            continue
        if word in opened or (word == "'" and place and words[place - 1].endswith("s")):
            opened.discard(word)
            closing.add(place)
        else:
            opened.add(word)
    return frozenset(closing)


def _unspaced(char: str) -> bool:
    return bool(char) and any(first <= ord(char) <= last for first, last in UNSPACED)
