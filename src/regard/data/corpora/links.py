"""Gold links that are only possible.

The grammar links what says the same; a word without a counterpart (了, a measure word, an article) has no sure link.
Who draws links by hand may tie such a word to what its neighbours are tied to (and 里, in 在 公园 里, to what 在 goes
with, as both say *in*). Such links are *possible*: they are not missed where they are missing, and not wrong where they
are drawn (Och & Ney 2003).
"""

from collections.abc import Iterable, Iterator, Sequence

from regard.data.corpora.grammar import Pair

Link = tuple[int, int]
MARKS = frozenset(",.?!，。？！、")
BEFORE, BEHIND = "在", frozenset("里上")  # a place stands between them


def possible(pair: Pair) -> frozenset[Link]:
    """The links that may be drawn besides the sure ones: from each word without a link to what the nearest linked word
    on either side, within its clause, is linked with; and from the second half of 在 … 里 to what the first is linked
    with."""
    turned = [(j, i) for i, j in pair.alignment]
    found = {*_loose(pair.target_words, turned), *_halves(pair.target_words, turned)}
    return frozenset((i, j) for j, i in found) | frozenset(_loose(pair.source_words, pair.alignment))


def _halves(words: Sequence[str], links: Sequence[Link]) -> Iterator[Link]:
    """(里, partner of the 在 before it) where no mark stands between them."""
    partners: list[int] = []
    for here, word in enumerate(words):
        if word in BEHIND:
            yield from ((here, there) for there in partners)
        if word == BEFORE:
            partners = [there for this, there in links if this == here]
        elif word in MARKS or word in BEHIND:
            partners = []


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
