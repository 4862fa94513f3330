"""One continuation per sentence, a token at a time: what greedy search and sampling are made of, as an iterator."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding.search import Hypothesis, Request, normalised
from regard.decoding.stepper import Stepper

Ending = Literal["end", "stop", "limit"]
"""Why a sentence left the batch: the end mark, the caller's condition, its limit."""


@dataclass(frozen=True)
class Rows:
    """Who stands in the batch at a step, for whoever chooses. Lists are by sentence, and not to be changed."""

    sentences: Sequence[int]
    """Row r continues this sentence of the request."""
    prefix: Sequence[Sequence[int]]
    made: Sequence[Sequence[int]]


Choose = Callable[[Float[Tensor, "R V"], Rows], Int[Tensor, "R"]]
"""The next token of each row."""

Stop = Callable[[int, Sequence[int]], bool]
"""Whether a sentence (its place in the request) is to end with the tokens that were made for it: asked after each token
but the end mark, once."""


def never(sentence: int, made: Sequence[int]) -> bool:
    """Only the end mark and the limit stop a sentence."""
    return False


@dataclass(frozen=True)
class Choice:
    """What one sentence got in one step."""

    sentence: int
    token: int
    log_prob: float
    """Under the model as it is, whatever was done to its distribution before the token was chosen."""
    rank: int
    """1 is the model's likeliest."""
    alternatives: tuple[tuple[int, float], ...]
    """The model's likeliest tokens, best first, each with its log-probability."""
    ending: Ending | None


@dataclass(frozen=True)
class Step:
    """What all rows got in one step. Its numbers are computed when asked for, which is to be before the next step."""

    sentences: tuple[int, ...]
    tokens: Int[Tensor, "R"]
    scores: Float[Tensor, "R V"]
    """As the model gave them."""
    endings: tuple[Ending | None, ...]

    def chosen(self) -> Float[Tensor, "R"]:
        """The score of each row's token."""
        return self.scores.gather(1, self.tokens[:, None])[:, 0]

    def log_probs(self) -> Float[Tensor, "R"]:
        """The log-probability of each row's token under the model, also where its scores are logits."""
        return self.chosen() - self.scores.logsumexp(-1)

    def entropies(self) -> Float[Tensor, "R"]:
        """How undecided the model was in each row, in nats: 0 if one token was certain, ln V if all were alike."""
        log_probs = self.scores.log_softmax(-1)
        return -(log_probs.exp() * log_probs.clamp(min=torch.finfo(log_probs.dtype).min)).sum(-1)

    def choices(self, alternatives: int = 0) -> list[Choice]:
        """Row by row, with that many of the likeliest tokens."""
        chosen, total = self.chosen(), self.scores.logsumexp(-1)
        ranks = 1 + (self.scores > chosen[:, None]).sum(-1)
        best, tokens = self.scores.topk(min(alternatives, self.scores.shape[-1]))
        log_probs = (best - total[:, None]).tolist()
        likeliest = [tuple(zip(*row, strict=True)) for row in zip(tokens.tolist(), log_probs, strict=True)]
        columns = (self.sentences, self.tokens.tolist(), (chosen - total).tolist(), ranks.tolist(), likeliest)
        return [Choice(*row) for row in zip(*columns, self.endings, strict=True)]


def steps(stepper: Stepper, request: Request, *, choose: Choose, stop: Stop = never) -> Iterator[Step]:
    """Yields each step as soon as its tokens are chosen. A sentence that has ended leaves the batch, so that the others
    go faster. Nothing outlives the iterator, wherever it is left."""
    found = walk(stepper, request, choose, stop)
    while True:
        with torch.inference_mode():  # not between the steps: that time is the caller's
            step = next(found, None)
        if step is None:
            return
        yield step


def walk(stepper: Stepper, request: Request, choose: Choose, stop: Stop = never) -> Iterator[Step]:
    """The loop of all writing, for a caller that is in inference mode from its first step to its last."""
    state = stepper.start(request.source, request.prefix[:, :-1])
    tokens = request.prefix[:, -1]
    limits = request.limits.tolist()
    prefix = request.prefix.tolist()
    made: list[list[int]] = [[] for _ in limits]
    sentences = tuple(range(len(limits)))
    while sentences:
        scores, state = stepper.step(tokens, state)
        tokens = choose(scores, Rows(sentences, prefix, made))
        endings: list[Ending | None] = []
        for sentence, token in zip(sentences, tokens.tolist(), strict=True):
            if token != request.end:
                made[sentence].append(token)
                endings.append(_ending(stop(sentence, made[sentence]), len(made[sentence]), limits[sentence]))
            else:
                endings.append("end")
        yield Step(sentences, tokens, scores, tuple(endings))
        stay = [row for row, ending in enumerate(endings) if ending is None]
        if len(stay) < len(sentences):
            sentences = tuple(sentences[row] for row in stay)
            if sentences:
                kept = torch.tensor(stay, device=tokens.device)
                tokens, state = tokens[kept], stepper.reorder(state, kept)


def collect(
    found: Iterable[Step],
    sentences: int,
    *,
    measure: Callable[[Step], Float[Tensor, "R"]] = Step.log_probs,
    penalty: float = 1.0,
) -> list[Hypothesis]:
    """All steps as one hypothesis per sentence; `measure` says what each token adds to its log-probability."""
    tokens: list[list[int]] = [[] for _ in range(sentences)]
    rows: list[list[int]] = [[] for _ in range(sentences)]
    log_probs = [0.0] * sentences
    finished = [False] * sentences
    for step in found:
        columns = zip(step.sentences, step.tokens.tolist(), measure(step).tolist(), step.endings, strict=True)
        for row, (sentence, token, log_prob, ending) in enumerate(columns):
            log_probs[sentence] += log_prob
            rows[sentence].append(row)
            if ending == "end":
                finished[sentence] = True
            else:
                tokens[sentence].append(token)
    scores = (normalised(log_prob, len(row), penalty) for log_prob, row in zip(log_probs, rows, strict=True))
    answers = zip(tokens, log_probs, scores, finished, rows, strict=True)
    return [Hypothesis(tuple(t), p, s, f, tuple(r)) for t, p, s, f, r in answers]


def _ending(stopped: bool, made: int, limit: int) -> Ending | None:
    if stopped:
        return "stop"
    return "limit" if made >= limit else None
