"""Skip-grams: each word with the words near it, and words of noise to tell them from (Mikolov 2013, section 2).

Frequent words are left out at random before windows are laid, so windows then reach farther. A window has, for each
word anew, 1 to `window` words on either side. Noise is drawn by count to the power of 3/4.

The paper draws `negatives` words of noise for each pair. Here GROUP words that follow each other share NOISE of them,
each of which counts `negatives` / NOISE times for each pair: the same loss on average, from more samples. So all scores
of a group are one matrix product: no vector is fetched for each pair, and a core reads as many words as gensim's loops.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.data.batches import WHOLE, Share

GROUP, NOISE = 64, 64
POWER = 0.75


@dataclass(frozen=True)
class WordBatch:
    """Groups of words. Each group has C centres, the W words they stand among (from one window before the first to one
    behind the last), and N words of noise. `places`: those of the pairs among all G·C·W; `weights`: what a word of
    noise counts for each centre, 0 for one that has nobody near it."""

    centres: Int[Tensor, "G C"]
    among: Int[Tensor, "G W"]
    noise: Int[Tensor, "G N"]
    places: Int[Tensor, "P"]
    weights: Float[Tensor, "G C"]

    def to(self, device: torch.device | str) -> "WordBatch":
        moved = {field.name: getattr(self, field.name).to(device, non_blocking=True) for field in fields(self)}
        return WordBatch(**moved)


@dataclass(frozen=True, eq=False)
class SkipGrams:
    """How pairs and noise are drawn. `kept`: how likely each word stays; `noise`: how likely it is drawn as noise."""

    counts: np.ndarray
    kept: np.ndarray
    noise: np.ndarray
    window: int
    negatives: int

    @classmethod
    def of(cls, counts: np.ndarray, *, window: int, negatives: int, subsample: float) -> "SkipGrams":
        """counts: how often each id occurs in the training text, 0 for those that are no words."""
        powered = counts**POWER
        return cls(counts, keep(counts, subsample), powered / powered.sum(), window, negatives)

    def batch(self, texts: Sequence[np.ndarray], random: np.random.Generator, share: Share = WHOLE) -> WordBatch | None:
        """The groups of some texts, or this share of them; None if it has none. No pair spans two texts."""
        ids = np.concatenate(texts).astype(np.int64)
        owners = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
        stay = random.random(len(ids)) < self.kept[ids]
        reach = random.integers(1, self.window + 1, np.count_nonzero(stay))
        groups = max(1, -(-len(reach) // GROUP))
        drawn = self._noise(random.random((groups, NOISE)))
        mine = range(groups)[share.part :: share.of]
        if not mine:
            return None
        among = _cut(ids[stay], mine, around=self.window, filler=0)
        near = self._near(
            _cut(owners[stay], mine, around=self.window, filler=-1), _cut(reach, mine, around=0, filler=0)
        )
        return WordBatch(
            torch.from_numpy(among[:, self.window : -self.window].copy()),
            torch.from_numpy(among),
            torch.from_numpy(drawn[mine]),
            torch.from_numpy(np.flatnonzero(near)),
            torch.from_numpy(near.sum(-1, dtype=np.float32) * np.float32(self.negatives / NOISE)),
        )

    def frequency_loss(self) -> float:
        """The loss a pair of one who knows only how frequent each word is near others, and as noise."""
        seen = self.counts > 0
        near, noise = (self.counts * self.kept)[seen], self.negatives * self.noise[seen]
        near = near / near.sum()
        odds = np.log(near / noise)
        return float((near * np.logaddexp(0, -odds)).sum() + (noise * np.logaddexp(0, odds)).sum())

    def _noise(self, lots: np.ndarray) -> np.ndarray:
        """The words that lots between 0 and 1 fall on."""
        ends = np.cumsum(self.noise)
        words: np.ndarray = np.searchsorted(ends, lots * ends[-1], side="right")
        return words

    def _near(self, owners: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Which of the words around it each centre is paired with: (G, C, W). owners: whose text each word is of."""
        apart = np.abs(np.arange(owners.shape[1]) - self.window - np.arange(GROUP)[:, None])
        together = owners[:, None, :] == owners[:, self.window : -self.window, None]
        near: np.ndarray = (apart > 0) & (apart <= reach[:, :, None]) & together
        return near


def keep(counts: np.ndarray, subsample: float) -> np.ndarray:
    """How likely a word of this count is kept: √(t/f) + t/f, at most 1, for a word of frequency f and the threshold t.

    The paper (eq. 5) has √(t/f); its authors' program, which everybody follows, has the second term.
    """
    if not subsample:
        return np.ones(len(counts))
    share = subsample * counts.sum() / np.maximum(counts, 1)
    kept: np.ndarray = np.minimum(1.0, np.sqrt(share) + share)
    return kept


def _cut(values: np.ndarray, groups: range, *, around: int, filler: int) -> np.ndarray:
    """The values of these groups, with so many around each; the filler stands where there are none."""
    missing = -len(values) % GROUP if len(values) else GROUP
    padded = np.pad(values, (around, missing + around), constant_values=filler)
    return padded[np.array(groups)[:, None] * GROUP + np.arange(GROUP + 2 * around)]
