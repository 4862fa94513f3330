"""What the next token is drawn from: the model's distribution made sharper or flatter, cut, and turned from repetition.

Every function takes scores over the vocabulary, a row per hypothesis, and gives scores; what is impossible has -∞.
Scores are log-probabilities, or differ from them by a constant in each row, as logits do. Only the repetition penalty
sees that constant (see there). `Distribution` applies them in the order of Hugging Face's generate: penalty,
temperature, top-k, top-p, min-p.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.errors import ConfigError


@dataclass(frozen=True)
class Distribution:
    """How the model's distribution is changed before a token is drawn; by default not at all."""

    temperature: float = 1.0
    """Below 1 likely tokens become likelier; 0 leaves the best alone."""
    top_k: int | None = None
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0

    def __post_init__(self) -> None:
        for flag, value, possible, wanted in (
            ("--temperature", self.temperature, 0 <= self.temperature < math.inf, "0 (always the best token) or more"),
            ("--top-k", self.top_k, self.top_k is None or self.top_k >= 1, "1 or more"),
            ("--top-p", self.top_p, 0 < self.top_p <= 1, "more than 0, at most 1 (which keeps all)"),
            ("--min-p", self.min_p, 0 <= self.min_p <= 1, "from 0 (which keeps all) to 1"),
            (
                "--repetition-penalty",
                self.repetition_penalty,
                0.01 <= self.repetition_penalty <= 100,  # beyond, scores become infinite
                "from 0.01 to 100; 1 is none, 1.2 is usual",
            ),
        ):
            if not possible:
                raise ConfigError(f"{flag} {value} cannot be used.", found=str(value), wanted=wanted)

    def __call__(self, scores: Float[Tensor, "R V"], texts: Sequence[Sequence[int]] = ()) -> Float[Tensor, "R V"]:
        """The scores to draw by. `texts`: the tokens that each row's text has so far, which only the penalty needs."""
        if self.repetition_penalty != 1:
            scores = repetition_penalty(scores, tokens_in(texts, like=scores), self.repetition_penalty)
        if self.temperature != 1:
            scores = temperature(scores, self.temperature)
        if self.top_k is not None:
            scores = top_k(scores, self.top_k)
        if self.top_p < 1:
            scores = top_p(scores, self.top_p)
        if self.min_p > 0:
            scores = min_p(scores, self.min_p)
        return scores


def best(scores: Float[Tensor, "R V"]) -> Int[Tensor, "R"]:
    """The best token of each row, the first of equally good ones."""
    if scores.device.type == "cpu":  # numpy's takes less than a tenth of the time of torch's
        return torch.from_numpy(scores.numpy().argmax(-1))
    return scores.argmax(-1)


def tokens_in(texts: Sequence[Sequence[int]], *, like: Float[Tensor, "R V"]) -> Bool[Tensor, "R V"]:
    """Which tokens of the vocabulary each text has."""
    found = torch.zeros_like(like, dtype=torch.bool)
    for row, text in zip(found, texts, strict=True):
        row[torch.tensor(text, dtype=torch.long, device=like.device)] = True
    return found


def repetition_penalty(scores: Float[Tensor, "R V"], seen: Bool[Tensor, "R V"], penalty: float) -> Float[Tensor, "R V"]:
    """Tokens already in the text are made less likely (Keskar 2019, "CTRL", section 4.1).

    Differs from the paper: a score below 0 is multiplied; divided, as written, it would make the token likelier.

    The result depends on where the scores have their 0. Logits have it where the network happens to put it: with them
    this equals what Hugging Face does when it samples or takes the best. Log-probabilities have it at certainty: with
    them p becomes p^penalty (before all are scaled to add up to 1), whatever the network, and this equals what Hugging
    Face does in beam search. The second is gentler on likely tokens: a penalty of 1.2 makes 0.9 into 0.88. From
    log-probabilities alone the logits cannot be had back; a model that wants the first must give logits.
    """
    return torch.where(seen, torch.where(scores < 0, scores * penalty, scores / penalty), scores)


def temperature(scores: Float[Tensor, "R V"], temperature: float) -> Float[Tensor, "R V"]:
    """p^(1 / temperature); at 0 its limit, the best token alone (the first of equally good ones)."""
    if temperature < torch.finfo(scores.dtype).tiny:
        return torch.full_like(scores, -torch.inf).scatter(-1, best(scores)[:, None], 0.0)
    return (scores - scores.amax(-1, keepdim=True)) / temperature


def top_k(scores: Float[Tensor, "R V"], count: int) -> Float[Tensor, "R V"]:
    """The `count` best (Fan 2018), and what is as good as the last of them."""
    worst = scores.topk(min(count, scores.shape[-1])).values[:, -1:]
    return scores.masked_fill(scores < worst, -torch.inf)


def top_p(scores: Float[Tensor, "R V"], share: float) -> Float[Tensor, "R V"]:
    """The nucleus: the fewest tokens, the best first, whose probabilities add up to `share` (Holtzman 2020). Of equally
    good ones at its edge the first stay."""
    sizes, worst = _nucleus(scores, share)
    kept = scores >= worst
    too_many = kept.sum(-1, keepdim=True) - sizes
    if too_many.any():
        tied = scores == worst
        kept &= ~tied | (tied.cumsum(-1) <= tied.sum(-1, keepdim=True) - too_many)
    return scores.masked_fill(~kept, -torch.inf)


def min_p(scores: Float[Tensor, "R V"], ratio: float) -> Float[Tensor, "R V"]:
    """Tokens at least `ratio` times as likely as the best (Nguyen 2024)."""
    probabilities = scores.softmax(-1)
    return scores.masked_fill(probabilities < ratio * probabilities.amax(-1, keepdim=True), -torch.inf)


def _nucleus(scores: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """How many tokens it has, and the lowest score among them; (R 1) both."""
    # numpy's sort takes a thirtieth of the time of torch's, which keeps places too
    ordered = torch.from_numpy(np.sort(scores.numpy(force=True))).to(scores.device).flip(-1)
    up_to = ordered.softmax(-1).cumsum(-1, dtype=torch.float64)
    sizes = ((up_to < share).sum(-1, keepdim=True) + 1).clamp(max=scores.shape[-1])
    return sizes, ordered.gather(-1, sizes - 1)
