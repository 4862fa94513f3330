"""How good are word alignments? Error rate, precision and recall against links that people drew.

Och & Ney (2003), "A Systematic Comparison of Various Statistical Alignment Models": people draw *sure* links S and
*possible* ones P ⊇ S; with the links A of a system, summed over all sentences,

    precision = |A ∩ P| / |A|      recall = |A ∩ S| / |S|      AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from regard.data.lines import Line, lines_of
from regard.errors import DataError
from regard.tasks.links import Link, Links, turned
from regard.tasks.word_texts import WordPair

Base = Literal[0, 1]
LINK = re.compile(r"(\d{1,9})([-p])(\d{1,9})p?", re.ASCII)


@dataclass(frozen=True)
class Gold:
    """The links of one pair as people drew them; what is sure is also possible."""

    sure: Links
    possible: Links

    @classmethod
    def of(cls, sure: Iterable[Link], possible: Iterable[Link] = ()) -> "Gold":
        certain = frozenset(sure)
        return cls(certain, certain | frozenset(possible))

    def swapped(self) -> "Gold":
        """The same for the other direction of translation."""
        return Gold(turned(self.sure), turned(self.possible))


@dataclass(frozen=True)
class AlignmentScores:
    """`aer`, `precision` and `recall` from 0 to 1, and how many links there are: found, sure, possible."""

    aer: float
    precision: float
    recall: float
    links: int
    sure: int
    possible: int


def score_alignments(links: Sequence[Links], gold: Sequence[Gold]) -> AlignmentScores:
    """The scores of a corpus, links and gold in the same order. Of no links none is wrong: then the precision is 1, and
    so is the recall where nothing is sure."""
    if len(links) != len(gold):
        raise DataError(
            "Alignments and gold do not belong together.",
            found=f"links for {len(links)} pairs, gold for {len(gold)}",
            wanted="as many of one as of the other, in the same order",
        )
    both = list(zip(links, gold, strict=True))
    found, sure, possible = (
        sum(map(len, sets)) for sets in (links, [g.sure for g in gold], [g.possible for g in gold])
    )
    right = sum(len(ours & theirs.sure) for ours, theirs in both)
    allowed = sum(len(ours & theirs.possible) for ours, theirs in both)
    return AlignmentScores(
        aer=1 - (right + allowed) / (found + sure) if found + sure else 0.0,
        precision=allowed / found if found else 1.0,
        recall=right / sure if sure else 1.0,
        links=found,
        sure=sure,
        possible=possible,
    )


def read_gold(path: str, pairs: Sequence[WordPair], *, base: Base | None = None) -> list[Gold]:
    """The links of a file, a line for each of these pairs: "0-0 1-2 2-3p" or "2p3", p for a link that is only possible.

    base: what the first word is called, 0 or 1. If nothing is said it is 0, and a file in which no word is called 0 is
    refused rather than read one word off.
    """
    lines = list(lines_of(path))
    if len(lines) != len(pairs):
        raise DataError(
            f"{path} does not belong to these pairs.",
            found=f"{len(lines)} lines of links, {len(pairs)} pairs",
            wanted="a line for each pair, an empty one where nothing is linked",
        )
    rows = [_parsed(line) for line in lines]
    lowest = min((min(i, j) for row in rows for i, j, _ in row), default=None)
    if lowest is None:
        raise DataError(f"{path} has no links.", found=f"{len(lines)} empty lines", do="give the gold alignments")
    if base is None and lowest > 0:
        raise DataError(
            f"{path} does not say whether its words count from 0 or from 1.",
            found=f"no word called 0; the lowest is {lowest}",
            wanted="words that count from 0, unless --base says otherwise",
            do="most likely they count from 1: give --base 1 (or --base 0 if they do not)",
        )
    hint = "" if base == 1 or lowest == 0 else "count from 1 with --base 1, or "
    return [_gold(*row, base or 0, hint) for row in zip(lines, rows, pairs, strict=True)]


def _parsed(line: Line) -> list[tuple[int, int, bool]]:
    """(source, target, is it only possible) as written."""
    try:
        return [_link(word) for word in line.decoded().split()]
    except DataError as fault:
        raise line.blamed(fault) from None


def _link(word: str) -> tuple[int, int, bool]:
    match = LINK.fullmatch(word)
    if match is None:
        raise DataError("not a link", found=repr(word[:40]), wanted="1-2, or 1-2p or 1p2 if it is only possible")
    return int(match[1]), int(match[3]), "p" in word


def _gold(line: Line, links: list[tuple[int, int, bool]], pair: WordPair, base: Base, hint: str) -> Gold:
    sources, targets = len(pair.source.spans), len(pair.target.spans)
    for i, j, _ in links:
        if not (0 <= i - base < sources and 0 <= j - base < targets):
            fault = DataError(
                "a link points outside its sentence",
                found=f"{i}-{j}, in a pair of {sources} source and {targets} target words",
                wanted=f"{_range('source', sources, base)}, {_range('target', targets, base)}",
                do=(hint or ("count from 0 with --base 0, or " if 0 in (i, j) else ""))
                + "check that the line belongs to this pair, and that the words are split in the same way",
            )
            raise line.blamed(fault)
    sure = [(i - base, j - base) for i, j, possible in links if not possible]
    return Gold.of(sure, [(i - base, j - base) for i, j, _ in links])


def _range(side: str, count: int, base: Base) -> str:
    return f"{side} words {base} to {count - 1 + base}" if count else f"no {side} words"
