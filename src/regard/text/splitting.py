"""A line as sentences, and back: nothing of it is lost.

Where spaces stand between words, a sentence ends with a mark before a space and before what may begin a sentence: not a
small letter (unless the whole line has no capital). A full stop after an abbreviation, an initial, an ordinal number or
the number of a list item ends none. In doubt nothing is cut: two sentences in one cost little, half a sentence much.
Chinese and Japanese marks end a sentence by themselves.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from regard.text.abbreviations import BEFORE_NUMBERS, CODES, MAY_END, ORDINALS, code, never_ending

HAN = "぀-ヿ㐀-䶿一-鿿豈-﫿ｦ-ﾟ\U00020000-\U0003ffff"
"""Characters of Chinese and Japanese, for use in a pattern."""
QUOTES = '"“”„«»‹›([{「『（【《〈'
OPENERS = QUOTES + "'‘’‚"
CLOSERS = r"\"'”“’‘»«›)\]}」』）】》〉"
WIDE_CLOSERS = r"\"'”’)\]」』）】》〉"
MARKS = ".!?…؟۔।॥։።။"
END = re.compile(
    rf"(?P<wide>[。！？｡]+|(?<=[{HAN}])[!?]+(?=[{HAN}“「『]))(?P<closed>[{WIDE_CLOSERS}]*)(?P<space>\s*)"
    rf"|(?<![{MARKS}])(?P<mark>[{MARKS}]+)(?:[\u00a0\u202f][»›]|[{CLOSERS}])*(?P<gap>\s+)"
)
LAST_WORD = re.compile(rf"[^\s\-–—{re.escape(QUOTES)}]*$")
DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,3}")
"""e.g, U.S, z.B, Ph.D: an abbreviation without its last stop."""
ITEM = re.compile(r"\W*(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxIVX]{1,5})\.")
"""What stands before an item of a list."""
LONG = 40
"""No abbreviation has so many letters."""
TRIED = 1024
"""Characters of a text that are tried first: most sentences have fewer."""
ROMAN = re.compile(r"[IVXLCM]+")
BULLETS = "-–—•*#¿¡…"
PLACES = (
    re.compile(r"[;:](?=\s)|[；：…]|[—–](?=\s)"),
    re.compile(r",(?=\s)|[，、،]"),
)
"""Where a sentence that is too long is best cut: between clauses, then between phrases."""
WITHOUT_SPACES = frozenset({"zh", "ja"})
"""Languages that put no space between sentences."""


@dataclass(frozen=True)
class Parts:
    """The sentences of a line; spaces[i] is what stands before sentence i, the last one what stands behind all."""

    sentences: tuple[str, ...]
    spaces: tuple[str, ...]

    def after(self, code: str) -> "Parts":
        """The same with a code before each sentence."""
        return Parts(tuple(code + sentence for sentence in self.sentences), self.spaces)

    def fitted(self, fits: Callable[[str], bool]) -> "Parts":
        """The same with sentences that are too long cut into pieces that fit."""
        sentences: list[str] = []
        spaces: list[str] = []
        for space, sentence in zip(self.spaces, self.sentences, strict=False):
            cut = cut_to_fit(sentence, fits)
            sentences += cut.sentences
            spaces += [space, *cut.spaces[1:-1]]
        return Parts(tuple(sentences), (*spaces, self.spaces[-1]))

    def joined(self, translations: Sequence[str], language: str = "") -> str:
        """The line again, with the translation of each sentence in its place, as that language separates sentences."""
        if not self.sentences:
            return self.spaces[0]
        line = ""
        for space, text in zip(self.spaces, translations, strict=False):
            if text:
                line += (separator(space, line, language) if line else "") + text
        return self.spaces[0] + line + self.spaces[-1]


def split(line: str, language: str = "") -> Parts:
    """The sentences of a line. A line of white space has none."""
    text = line.strip()
    if not text:
        return Parts((), (line,))
    first = line.index(text)
    edges = [(0, 0), *_boundaries(text, language), (len(text), len(text))]
    sentences = tuple(text[begin:end] for (_, begin), (end, _) in pairwise(edges))
    between = tuple(text[end:begin] for end, begin in edges[1:-1])
    return Parts(sentences, (line[:first], *between, line[first + len(text) :]))


def separator(space: str, before: str, language: str = "") -> str:
    """What stands behind a sentence of a language and before the next, where the line that was translated has `space`.
    Where nobody knows the language (as of "mul", many), the sentence tells."""
    name = code(language)
    joins = name in WITHOUT_SPACES if name in CODES.values() else _wide(before)
    if joins:
        return space.replace(" ", "")  # but not a tab, or the wide space of Chinese
    return space.replace("\u3000", " ") or " "


def cut_to_fit(sentence: str, fits: Callable[[str], bool]) -> Parts:
    """A sentence in pieces that fit, the fewer the better: cut between clauses, else phrases, else words, else
    characters."""
    pieces: list[str] = []
    spaces = [""]
    while (longest := _longest(sentence, fits)) < len(sentence):
        end = _place(sentence, longest)
        rest = sentence[end:].lstrip()
        pieces.append(sentence[:end])
        spaces.append(sentence[end : len(sentence) - len(rest)])
        sentence = rest
    return Parts((*pieces, sentence), (*spaces, ""))


def _boundaries(text: str, language: str) -> Iterator[tuple[int, int]]:
    """(where a sentence ends, where the next begins), without those of the whole text."""
    small = not any(char.isupper() for char in text)
    begin = 0
    for match in END.finditer(text):
        if match.end() == len(text):
            return
        if match["wide"]:
            ends = _ends_wide(text, match)
        else:
            end = match.end("mark")
            told = text[max(begin, end - LONG) : end]
            ends = _may_begin(text, match.end(), small=small) and not (
                match["mark"] == "." and _stops_within(told, text[match.end()], language)
            )
        if ends:
            yield match.start("space" if match["wide"] else "gap"), match.end()
            begin = match.end()


def _ends_wide(text: str, match: re.Match[str]) -> bool:
    """“好！”他说。 goes on behind the quotation mark; “好！”“对。” does not."""
    after, apart = text[match.end()], bool(match["space"])
    if after in OPENERS:
        return True
    if unicodedata.category(after)[0] == "P":
        return apart and after in BULLETS
    return apart or not match["closed"]


def _may_begin(text: str, at: int, *, small: bool) -> bool:
    """Whether what stands there may begin a sentence."""
    first = text[at : at + 8].lstrip(OPENERS + "\u00a0\u202f")[:1]
    if not first or first.islower():
        return small and bool(first)
    return first.isalnum() or first in BULLETS or unicodedata.category(first)[0] in "SM"


def _stops_within(told: str, after: str, language: str) -> bool:
    """Whether the full stop at the end of what was told belongs to its last word, and the sentence goes on."""
    found = LAST_WORD.search(told[:-1])
    word = found.group().strip("'‘’‚") if found else ""
    small = word.lower()
    if ITEM.fullmatch(told) or (len(word) == 1 and word.isalpha()):
        return True
    if DOTTED.fullmatch(word):
        return small not in MAY_END
    if after.isdigit() and (small in BEFORE_NUMBERS or small.endswith("str")):
        return True
    if code(language) in ORDINALS and (ROMAN.fullmatch(word) or (word.isdecimal() and len(word) <= 2)):
        return True
    return small in never_ending(language)


def _wide(text: str) -> bool:
    """Whether a text ends as Chinese and Japanese do, whatever closes it."""
    return unicodedata.east_asian_width((text.rstrip("\"'”’…) ") or text)[-1]) in "WF"


def _longest(text: str, fits: Callable[[str], bool]) -> int:
    """How many of its first characters fit, one at least. (All of a very long text is never tried at once.)"""
    low, high = 1, TRIED
    while high < len(text) and fits(text[:high]):
        low, high = high, 2 * high
    if high >= len(text):
        if fits(text):
            return len(text)
        high = len(text)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(text[:middle]) else (low, middle)
    return low


def _place(text: str, longest: int) -> int:
    """The best place to cut among the first characters; in the first half of them, only between words."""
    for places in PLACES:
        ends = [match.end() for match in places.finditer(text, longest // 2, longest + 1)]
        if fitting := [end for end in ends if end <= longest]:
            return fitting[-1]
    spaces = [match.start() for match in re.finditer(r"(?<=\S)\s", text[: longest + 1])]
    if spaces:
        return spaces[-1]
    while longest > 1 and (unicodedata.combining(text[longest]) or "\u200d" in text[longest - 1 : longest + 1]):
        longest -= 1
    return longest
