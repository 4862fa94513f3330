"""One look at the source for each word of the target: what recurrent decoders attend with."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from regard.attention import NORMALISERS, Attends, Normaliser, attend, both, padding_mask, per_hypothesis, softmax


def sentences_left(rows: Int[Tensor, "N"], *, of: int, sentences: int) -> Int[Tensor, "M"] | None:
    """Which sentences still have hypotheses when `rows` go on out of `of`, in their order; None if all, as before."""
    kept = torch.unique_consecutive(rows // (of // sentences))
    return None if kept.tolist() == list(range(sentences)) else kept


@dataclass(frozen=True)
class Memory:
    """What is looked at: one row per sentence, however many hypotheses it has."""

    keys: Float[Tensor, "B 1 S A"]
    values: Float[Tensor, "B 1 S W"]
    lengths: Int[Tensor, "B"]
    mask: Bool[Tensor, "B 1 1 S"]

    def keep(self, rows: Int[Tensor, "N"], *, of: int) -> "Memory":
        """The memory of those sentences that still have hypotheses, when `rows` go on out of `of`."""
        kept = sentences_left(rows, of=of, sentences=len(self.lengths))
        if kept is None:
            return self
        return Memory(self.keys[kept], self.values[kept], self.lengths[kept], self.mask[kept])


class Align(Attends):
    """context = attend(query, annotations) with any score; captured as "decoder.align"."""

    def __init__(self, score: nn.Module, *, normalise: str = "soft") -> None:
        super().__init__("decoder.align")
        self.score = score
        self.normalise = normalise

    def remember(self, annotations: Float[Tensor, "B S W"], lengths: Int[Tensor, "B"]) -> Memory:
        """What the score does to the keys alone is done here, once per sentence."""
        score: Any = self.score
        mask = padding_mask(lengths, annotations.shape[1])
        return Memory(score.prepare(annotations)[:, None], annotations[:, None], lengths, mask)

    def forward(
        self,
        query: Float[Tensor, "R T Q"],
        memory: Memory,
        *,
        window: Bool[Tensor, "B 1 N S"] | None = None,
        focus: Float[Tensor, "B 1 N S"] | None = None,
    ) -> Float[Tensor, "R T W"]:
        """R = B, or R = B·n in beam search: the n hypotheses of a sentence are n queries of one memory.
        window: may look only there; focus: a factor for each weight."""
        rows, steps, _ = query.shape
        tap = self.tap()
        if tap is not None and rows != len(memory.lengths):
            tap = per_hypothesis(tap, steps)
        if tap is not None and focus is not None:
            focus = tap("focus", focus)
        context = attend(
            fold(query, memory)[:, None],
            memory.keys,
            memory.values,
            score=self.score,
            mask=both(memory.mask, window),
            normalise=self._normaliser(focus),
            tap=tap,
        )
        return context.reshape(rows, steps, -1)

    def _normaliser(self, focus: Tensor | None) -> Normaliser:
        """softmax(scores) · focus; hard attention takes the best place of just that."""
        if focus is None:
            return NORMALISERS["soft" if self.training else self.normalise]
        if self.training or self.normalise == "soft":
            return lambda scores, mask: softmax(scores, mask) * focus
        return lambda scores, mask: NORMALISERS[self.normalise](softmax(scores, mask) * focus, mask)


def fold(x: Shaped[Tensor, "R T *rest"], memory: Memory) -> Shaped[Tensor, "B N *rest"]:
    """The hypotheses of each sentence, step by step, as one row of queries."""
    return x.reshape(len(memory.lengths), -1, *x.shape[2:])
