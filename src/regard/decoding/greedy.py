"""The likeliest word, one after another."""

import torch

from regard.decoding.search import Hypothesis, Request, normalised
from regard.decoding.stepper import Stepper


@torch.inference_mode()
def greedy(stepper: Stepper, request: Request, *, penalty: float = 1.0) -> list[Hypothesis]:
    """One hypothesis per sentence. A sentence that has ended leaves the batch, so that the others go faster."""
    state = stepper.start(request.source, request.prefix[:, :-1])
    tokens = request.prefix[:, -1]
    sentences = list(range(len(tokens)))
    made: list[list[int]] = [[] for _ in sentences]
    rows: list[list[int]] = [[] for _ in sentences]
    log_probs = [0.0 for _ in sentences]
    finished = [False for _ in sentences]
    limits = request.limits.tolist()
    while sentences:
        predicted, state = stepper.step(tokens, state)
        best, tokens = predicted.max(dim=-1)
        stay = []
        for row, (sentence, token, log_prob) in enumerate(zip(sentences, tokens.tolist(), best.tolist(), strict=True)):
            log_probs[sentence] += log_prob
            rows[sentence].append(row)
            if token == request.end:
                finished[sentence] = True
                continue
            made[sentence].append(token)
            if len(made[sentence]) < limits[sentence]:
                stay.append(row)
        if len(stay) < len(sentences):
            kept = torch.tensor(stay, device=tokens.device, dtype=torch.long)
            sentences = [sentences[row] for row in stay]
            if sentences:
                tokens, state = tokens[kept], stepper.reorder(state, kept)
    scores = (normalised(log_prob, len(row), penalty) for log_prob, row in zip(log_probs, rows, strict=True))
    answers = zip(made, log_probs, scores, finished, rows, strict=True)
    return [Hypothesis(tuple(t), p, s, f, tuple(r)) for t, p, s, f, r in answers]
