"""A paragraph as sentences: where a mark ends one, and where it does not."""

import re

ABBREVIATIONS = re.compile(
    r"mrs?|ms|dr|prof|st|[js]r|vs|etc|e\.g|i\.e|cf|ca|approx|no|vol|fig|eq|al|inc|ltd|co|corp|gen|col|lt|sgt|capt|rev|hon"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|u\.[skn]|a\.m|p\.m|b\.c|a\.d|ph\.d|[a-z]",
    re.IGNORECASE,
)
"""Words that end in a full stop without ending a sentence; a letter alone is an initial."""
# Chinese marks end a sentence by themselves; Latin ones before a space and what may begin a sentence.
END = re.compile(
    r"(?<=[。！？])(?![”’」』）])|(?<=[.!?])(?=[\"'”’)\]]*\s)[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9À-ÞЀ-Я一-鿿])"
)


def split_sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph, none of them empty."""
    found: list[str] = []
    begin = 0
    for match in END.finditer(paragraph):
        if not _ends(paragraph[begin : match.start()]):
            continue
        closing = paragraph[match.start() : match.end()].rstrip()
        found.append(paragraph[begin : match.start()] + closing)
        begin = match.end()
    found.append(paragraph[begin:])
    return [sentence.strip() for sentence in found if sentence.strip()]


def _ends(before: str) -> bool:
    """Whether the full stop behind this text ends a sentence: not after an abbreviation or the initial of a name."""
    if not before.endswith("."):
        return True
    word = re.split(r"[\s(\[\"'“‘]", before[:-1])[-1]
    return not ABBREVIATIONS.fullmatch(word)
