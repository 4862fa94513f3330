"""Beam search: several hypotheses side by side, the best kept at each step.

Two facts make the early stop exact, that is, never different from going on to the limit. Log-probabilities only
fall, so a hypothesis never gets more probable; and its score, log-probability / length^penalty, is then at best what
it would be at the longest length. A sentence is done when its n-th best finished hypothesis is not below that bound.

That is rarely soon: a third of all steps find nothing better. So a caller may have less patience, and end the search
of a sentence when some hypotheses are finished (Kasai 2022, "A Call for Clarity in Beam Search", arXiv:2204.05424).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.decoding.search import Hypothesis, Request, normalised
from regard.decoding.stepper import Stepper


@dataclass
class _Sentence:
    """What one sentence has found so far."""

    number: int
    limit: int
    finished: list[Hypothesis] = field(default_factory=list)


@dataclass(frozen=True)
class _Live:
    """The hypotheses that still grow: k for each of the B sentences left."""

    log_probs: Float[Tensor, "B k"]
    tokens: Int[Tensor, "B k t"]
    rows: Int[Tensor, "B k t"]

    def hypothesis(self, sentence: int, place: int, *, penalty: float) -> Hypothesis:
        """A live hypothesis as it stands, for when the limit cuts it off."""
        tokens = tuple(self.tokens[sentence, place].tolist())
        log_prob = float(self.log_probs[sentence, place])
        rows = tuple(self.rows[sentence, place].tolist())
        return Hypothesis(tokens, log_prob, normalised(log_prob, len(tokens), penalty), False, rows)


@dataclass(frozen=True)
class Layer:
    """What one step made of each sentence (B of them) that was still searched: its best continuations, best first."""

    sentences: tuple[int, ...]
    log_probs: Float[Tensor, "B c"]
    tokens: Int[Tensor, "B c"]
    rows: Int[Tensor, "B c"]
    """The row of the step that each of them continues."""
    ended: Bool[Tensor, "B c"]
    """The token is the end mark. Only one of the `size` best is then a finished hypothesis."""
    kept: Int[Tensor, "B k"]
    """Which of them go on, in the order of their rows in the next step; what is impossible does not count."""
    answers: Mapping[int, list[Hypothesis]]
    """The best hypotheses of the sentences whose search ends here."""


@torch.inference_mode()
def beam(
    stepper: Stepper, request: Request, *, size: int, nbest: int = 1, penalty: float = 1.0, patience: float = inf
) -> list[list[Hypothesis]]:
    """The `nbest` best hypotheses of each sentence, best first. penalty: 0 compares probabilities, 1 means per
    token. patience: how many times `size` hypotheses must be finished for a search to end, if nothing better can come
    or not."""
    answers: dict[int, list[Hypothesis]] = {}
    for layer in layers(stepper, request, size=size, nbest=nbest, penalty=penalty, patience=patience):
        answers |= layer.answers
    return [answers[number] for number in range(len(request.prefix))]


def layers(
    stepper: Stepper, request: Request, *, size: int, nbest: int = 1, penalty: float = 1.0, patience: float = inf
) -> Iterator[Layer]:
    """The same search step by step, for a caller that is in inference mode from the first to the last."""
    enough = max(nbest, patience * size)
    state = stepper.start(request.source, request.prefix[:, :-1])
    tokens = request.prefix[:, -1]
    sentences = [_Sentence(number, limit) for number, limit in enumerate(request.limits.tolist())]
    nothing = torch.zeros(len(sentences), 1, 0, dtype=torch.long, device=tokens.device)
    live = _Live(torch.zeros(len(sentences), 1, device=tokens.device), nothing, nothing)
    while sentences:
        log_probs, state = stepper.step(tokens, state)
        grown, ended = _grow(live, log_probs, size, request.end)
        _collect(sentences, grown, ended[:, :size], penalty)
        live, kept = _keep(grown, ~ended, size)
        done = [len(one.finished) >= enough or _done(one, live, i, nbest, penalty) for i, one in enumerate(sentences)]
        stay = [i for i, ends in enumerate(done) if not ends]
        gone = sorted(set(range(len(sentences))) - set(stay))
        answers = {sentences[i].number: _answer(sentences[i], live, i, nbest, penalty) for i in gone}
        numbers = tuple(sentence.number for sentence in sentences)
        yield Layer(numbers, grown.log_probs, grown.tokens[:, :, -1], grown.rows[:, :, -1], ended, kept, answers)
        sentences = [sentences[i] for i in stay]
        if sentences:
            chosen = torch.tensor(stay, device=tokens.device)
            live = _Live(live.log_probs[chosen], live.tokens[chosen], live.rows[chosen])
            tokens = live.tokens[:, :, -1].flatten()
            state = stepper.reorder(state, live.rows[:, :, -1].flatten())


def _grow(live: _Live, log_probs: Float[Tensor, "R V"], size: int, end: int) -> tuple[_Live, Tensor]:
    """The 2k best one-token continuations (k of them survive even if k end), and which of them have ended."""
    count, beams = live.log_probs.shape
    vocabulary = log_probs.shape[-1]
    totals = (live.log_probs[:, :, None] + log_probs.view(count, beams, vocabulary)).flatten(1)
    best, places = totals.topk(min(2 * size, totals.shape[1]))
    parents, tokens = places // vocabulary, places % vocabulary
    row_of_parent = parents + beams * torch.arange(count, device=parents.device)[:, None]
    history = parents[:, :, None].expand(-1, -1, live.tokens.shape[-1])
    grown = _Live(
        best,
        torch.cat((live.tokens.gather(1, history), tokens[:, :, None]), dim=-1),
        torch.cat((live.rows.gather(1, history), row_of_parent[:, :, None]), dim=-1),
    )
    return grown, tokens == end


def _collect(sentences: list[_Sentence], grown: _Live, ended: Tensor, penalty: float) -> None:
    """Moves what has ended among the k best to the finished hypotheses of its sentence. (An end further down is
    nothing: this beam would not have kept it.)"""
    for i, place in (ended & grown.log_probs[:, : ended.shape[1]].isfinite()).nonzero().tolist():
        tokens = tuple(grown.tokens[i, place].tolist())
        log_prob = float(grown.log_probs[i, place])
        rows = tuple(grown.rows[i, place].tolist())
        sentences[i].finished.append(
            Hypothesis(tokens[:-1], log_prob, normalised(log_prob, len(tokens), penalty), True, rows)
        )


def _keep(grown: _Live, alive: Tensor, size: int) -> tuple[_Live, Tensor]:
    """The k best that have not ended, in order, and which of the grown ones they are."""
    ranks = torch.where(alive, 0, 1).sort(dim=1, stable=True).indices[:, :size]
    history = ranks[:, :, None].expand(-1, -1, grown.tokens.shape[-1])
    log_probs = grown.log_probs.masked_fill(~alive, -torch.inf).gather(1, ranks)
    return _Live(log_probs, grown.tokens.gather(1, history), grown.rows.gather(1, history)), ranks


def _done(sentence: _Sentence, live: _Live, place: int, nbest: int, penalty: float) -> bool:
    made = live.tokens.shape[-1]
    if made >= sentence.limit:
        return True
    if len(sentence.finished) < nbest:
        return not bool(live.log_probs[place].isfinite().any())
    worst = sorted((h.score for h in sentence.finished), reverse=True)[nbest - 1]
    return worst >= normalised(float(live.log_probs[place, 0]), sentence.limit, penalty)


def _answer(sentence: _Sentence, live: _Live, place: int, nbest: int, penalty: float) -> list[Hypothesis]:
    """The best finished ones; where there are too few, the best that the limit cut off."""
    found = sorted(sentence.finished, key=lambda h: -h.score)[:nbest]
    cut = [k for k in range(live.log_probs.shape[1]) if live.log_probs[place, k].isfinite()]
    return found + [live.hypothesis(place, k, penalty=penalty) for k in cut[: nbest - len(found)]]
