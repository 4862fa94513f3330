"""Whether SentencePiece's rules for characters can be followed: a damaged file must be refused when it is read, not
when a text meets the damage.

The rules are a double-array trie (Aoe 1989, as darts-clone lays it out: four bytes a unit) over the bytes of
characters, then the texts that they become, each ended by a zero. A unit holds a label, where its children are, and
whether one of them is a leaf; a leaf holds where its text begins.
"""

import numpy as np
from jaxtyping import Int64

HEAD = 4
LABEL, VALUE = (1 << 31) | 0xFF, (1 << 31) - 1
BYTES = np.arange(1, 256, dtype=np.int64)
BLOCK = 255
"""The children of a unit lie in one block: their places differ in the last eight bits."""
INSIDE = 0x80
"""A byte whose first two bits are these is inside a character."""


def is_sound(charsmap: bytes) -> bool:
    """Every way through the trie stays in it, and every leaf leads to the beginning of a character."""
    size = int.from_bytes(charsmap[:HEAD], "little")
    if size % 4 or not size or len(charsmap) < HEAD + size:
        return False
    units = np.frombuffer(charsmap, dtype="<u4", count=size // 4, offset=HEAD).astype(np.int64)
    texts = np.frombuffer(charsmap[HEAD + size :], dtype=np.uint8)
    return _follows(units, (texts & 0xC0) != INSIDE)


def _follows(units: Int64[np.ndarray, "U"], begins: np.ndarray) -> bool:
    """begins: of each place in the texts, whether a character begins there."""
    seen = np.zeros(len(units), dtype=bool)
    bases = _children(units[:1])
    while len(bases):
        if ((bases | BLOCK) >= len(units)).any():
            return False
        seen[bases] = True
        places = bases[:, None] ^ BYTES
        there = (units[places] & LABEL) == BYTES
        found, places = units[places[there]], places[there]
        bases = places ^ _children(found)
        leaves = bases[(found >> 8) & 1 == 1]
        if (bases >= len(units)).any() or not _lead(units[leaves] & VALUE, begins):
            return False
        bases = np.unique(bases[~seen[bases]])
    return True


def _children(units: Int64[np.ndarray, "N"]) -> Int64[np.ndarray, "N"]:
    """Where their children are, relative to them."""
    return (units >> 10) << ((units & (1 << 9)) >> 6)


def _lead(values: Int64[np.ndarray, "N"], begins: np.ndarray) -> bool:
    return bool((values < len(begins)).all() and begins[values].all())
