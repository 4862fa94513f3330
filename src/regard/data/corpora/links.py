"""Gold links that are only possible.

The grammar links what says the same; a word without a counterpart (了, a measure word, an article) has no sure link.
Who draws links by hand may tie such a word to what its neighbours are tied to, and such links are *possible*: they are
not missed where they are missing, and not wrong where they are drawn (Och & Ney 2003).
"""

from collections.abc import Iterable, Iterator, Sequence

from regard.data.corpora.grammar import Pair

Link = tuple[int, int]
MARKS = frozenset(",.?!，。？！、")


def possible(pair: Pair) -> frozenset[Link]:
    """The links that may be drawn besides the sure ones: from each word without a link to what the nearest linked word
    on either side, within its clause, is linked with."""
    found = set(_loose(pair.target_words, [(j, i) for i, j in pair.alignment]))
    return frozenset((i, j) for j, i in found) | frozenset(_loose(pair.source_words, pair.alignment))


def _loose(words: Sequence[str], links: Iterable[Link]) -> Iterator[Link]:
    """(word, partner of a neighbour) for each word on this side that has no partner of its own."""
    partners: dict[int, list[int]] = {}
    for here, there in links:
        partners.setdefault(here, []).append(there)
    for here in range(len(words)):
        if here not in partners and words[here] not in MARKS:
            for neighbour in (_nearest(words, partners, here, -1), _nearest(words, partners, here, 1)):
                yield from ((here, there) for there in partners.get(neighbour, ()))


def _nearest(words: Sequence[str], partners: dict[int, list[int]], here: int, way: int) -> int:
    """The nearest linked word in one direction, -1 if a mark or the end of the sentence comes first."""
    place = here + way
    while 0 <= place < len(words) and words[place] not in MARKS:
        if place in partners:
            return place
        place += way
    return -1
