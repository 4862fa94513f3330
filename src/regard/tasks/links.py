"""Links between the words of a sentence and of its translation: read off weights, and two readings made into one.

A link (i, j) joins source word i and target word j, both counted from 0. On paper a pair is a line "0-0 1-2 …", the
format of Pharaoh (Koehn 2004).
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

Link = tuple[int, int]
Links = frozenset[Link]
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def claims(weights: Float[np.ndarray, "T S"]) -> Float[np.ndarray, "T S"]:
    """w(j, i) · w(j, i) / Σⱼ w(j, i): how much target word j looks at source word i, times its share of all who look
    there. A word that everybody glances at, a full stop or an article, is then nobody's first choice. (The product of
    both directions, as in the alignment by agreement of Liang et al. 2006, from one model.)"""
    return np.asarray(weights * weights / np.maximum(weights.sum(axis=0, keepdims=True), np.finfo(np.float32).tiny))


def by_target(weights: Float[np.ndarray, "T S"]) -> Links:
    """For each target word j the source word argmaxᵢ weights[j, i]; a word that gets no weight has no link."""
    return frozenset((int(row.argmax()), j) for j, row in enumerate(weights) if row.max(initial=0) > 0)


def by_source(weights: Float[np.ndarray, "T S"]) -> Links:
    """For each source word i the target word argmaxⱼ weights[j, i]: who looks at it most."""
    return turned(by_target(weights.T))


def turned(links: Links) -> Links:
    """The same links for the other direction of translation."""
    return frozenset((j, i) for i, j in links)


def grow_diag(first: Links, second: Links) -> Links:
    """From the intersection towards the union (Koehn, Och & Marcu 2003): a link of the union that touches a chosen one,
    also at a corner, is added if one of its two words has no link yet, until nothing can be added."""
    union, grown = first | second, set(first & second)
    sources, targets = {i for i, _ in grown}, {j for _, j in grown}
    order, before = sorted(union, key=lambda link: (link[1], link[0])), -1
    while before < len(grown):
        before = len(grown)
        for i, j in order:
            near = ((i + down, j + right) for down, right in NEIGHBOURS) if (i, j) in grown else ()
            for link in near:
                if link in union and (link[0] not in sources or link[1] not in targets):
                    grown.add(link)
                    sources.add(link[0])
                    targets.add(link[1])
    return frozenset(grown)


SYMMETRISATIONS: dict[str, Callable[[Links, Links], Links]] = {
    "none": lambda first, second: first,
    "intersection": lambda first, second: first & second,
    "union": lambda first, second: first | second,
    "grow-diag": grow_diag,
}
"""What is made of two readings. "none" takes the first: every target word has one link."""


def pharaoh(links: Links) -> str:
    """The links of a pair as a line."""
    return " ".join(f"{i}-{j}" for i, j in sorted(links))
