"""Keys and values of what was read so far, with room for what comes: a step adds to them and copies nothing."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention import KeysValues

ROOM = 64
"""Tokens that a new cache has room for, beyond those that it is made for."""


@dataclass
class _Space:
    """Keys and values of all layers, of which the first `filled` tokens are in use by some cache."""

    entries: Float[Tensor, "L two R H C K"]
    filled: int


@dataclass(frozen=True)
class Cache:
    """The first `length` tokens of a space.

    A cache never changes. What comes next is written behind it in the same space, unless the space is full (then it
    becomes twice as large, so that each token is copied about once in all) or another cache has gone on from here.
    """

    space: _Space
    length: int

    @classmethod
    def empty(cls, like: Float[Tensor, "..."], *, layers: int, rows: int, heads: int, width: int) -> "Cache":
        """Nothing yet; of the type and on the device of a tensor. width: of one head."""
        return cls(_Space(like.new_empty(layers, 2, rows, heads, 0, width), 0), 0)

    @property
    def rows(self) -> int:
        return int(self.space.entries.shape[2])

    def longer(self, steps: int) -> "Cache":
        """With so many tokens more, which `extend` fills in, layer by layer."""
        space, length = self.space, self.length + steps
        if space.filled != self.length or length > space.entries.shape[4]:
            space = _Space(self._moved(max(length + ROOM, 2 * self.length)), self.length)
        space.filled = length
        return Cache(space, length)

    def extend(self, layer: int, new: KeysValues) -> KeysValues:
        """Fills in the last tokens of a layer, and gives all of its tokens."""
        keys, values = self.space.entries[layer, :, :, :, : self.length].unbind(0)
        first = self.length - new.keys.shape[2]
        keys[:, :, first:] = new.keys
        values[:, :, first:] = new.values
        return KeysValues(keys, values)

    def reordered(self, rows: Int[Tensor, "N"]) -> "Cache":
        """Row i is what was row rows[i]."""
        if rows.tolist() == list(range(self.rows)):
            return self
        entries = self._room(self.length + ROOM, len(rows))
        torch.index_select(self._used(self.space.entries), 2, rows, out=self._used(entries))
        return Cache(_Space(entries, self.length), self.length)

    def _moved(self, room: int) -> Tensor:
        entries = self._room(room, self.rows)
        self._used(entries).copy_(self._used(self.space.entries))
        return entries

    def _room(self, room: int, rows: int) -> Tensor:
        layers, two, _, heads, _, width = self.space.entries.shape
        return self.space.entries.new_empty(layers, two, rows, heads, room, width)

    def _used(self, entries: Tensor) -> Tensor:
        return entries[:, :, :, :, : self.length]
