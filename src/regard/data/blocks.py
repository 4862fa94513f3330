"""One long row of tokens in blocks of equal length, and the order in which they come: a function of (seed, step) alone.

The row is a ring: behind its last token comes the first. Each token of it is what a block predicts, once in every epoch
(but for fewer than a block's worth, which come twice where the length does not divide the ring); nothing is padded, and
nothing is lost. Every epoch cuts at other places, and has the blocks in another order.
"""

from dataclasses import dataclass

import numpy as np

from regard.data.store import Column
from regard.seeds import derive


@dataclass(frozen=True)
class Ring:
    """Tokens in a row whose end is followed by its beginning."""

    column: Column

    def __len__(self) -> int:
        return len(self.column.ids)

    def stretches(self, firsts: np.ndarray, length: int) -> np.ndarray:
        """(N, length): so many tokens from each of N places on. They are copies: files are let go."""
        places = (firsts[:, None] + np.arange(length)) % len(self)
        found = self.column.ids[places].astype(np.int64)
        self.column.release()
        return found


class BlockOrder:
    """The endless sequence of groups of blocks: `order[step]` says where the blocks of an update begin.

    A group has as many blocks as fit the budget of tokens, and at least one; the groups of an epoch are equal but for
    one block.
    """

    def __init__(self, tokens: int, length: int, budget: int, seed: int) -> None:
        """tokens: of the ring; length: of a block, not more than that; budget: tokens of a group."""
        self.tokens, self.length, self.seed = tokens, length, seed
        self._blocks = -(-tokens // length)
        self._groups = -(-self._blocks // max(1, budget // length))
        self._planned: tuple[int, np.ndarray] = (-1, np.empty(0))  # the epoch that was asked for last

    @property
    def updates_per_epoch(self) -> int:
        return self._groups

    def epoch(self, step: int) -> int:
        """The epoch that a step belongs to."""
        return step // self._groups

    def __getitem__(self, step: int) -> np.ndarray:
        epoch, place = divmod(step, self._groups)
        if self._planned[0] != epoch:
            self._planned = epoch, self._shuffled(np.random.default_rng(derive(self.seed, "data", epoch)))
        edges = np.array([place, place + 1]) * self._blocks // self._groups
        return self._planned[1][slice(*edges.tolist())]

    def _shuffled(self, random: np.random.Generator) -> np.ndarray:
        """Where the blocks of an epoch begin."""
        phase = random.integers(self.tokens)
        begins: np.ndarray = (phase + self.length * random.permutation(self._blocks)) % self.tokens
        return begins
