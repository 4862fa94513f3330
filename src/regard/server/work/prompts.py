"""A prompt in tokens, and how likely a model thinks each of them, as OpenAI tells it."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.data.batches import pad
from regard.decoding.steps import Choice, Step
from regard.errors import DataError, LimitError
from regard.server.work.limits import LETTERS, refuse_at_sight
from regard.tasks.spelling import spelt, surface
from regard.text import Tokenizer

PLACES = 128
"""Of so many, the scores over the vocabulary are computed at once."""
NEVER = -9999.0
"""What OpenAI tells for the logarithm of 0."""


def prompt_ids(generator: Any, given: str | Sequence[int], truncate: bool) -> list[int]:
    """The tokens of a prompt, which is a text or tokens; the start mark, if it has none. truncate: of one that is too
    long, the end."""
    tokenizer: Tokenizer = generator.tokenizer
    if isinstance(given, str):
        if not truncate:
            refuse_at_sight((given,), generator.limit)
        ids = tokenizer.encode(given[-LETTERS * generator.limit :])
    else:
        ids = _checked(given, tokenizer)
    if len(ids) > generator.limit and not truncate:
        raise LimitError(
            "The prompt is longer than the model can look at.",
            found=f"{len(ids)} tokens",
            wanted=f"at most {generator.limit}",
            do="give less of it, or let truncate keep its end",
        )
    return list(ids[-generator.limit :]) or [tokenizer.start]


def _checked(ids: Sequence[int], tokenizer: Tokenizer) -> list[int]:
    if strange := [id for id in ids if not 0 <= id < len(tokenizer)]:
        raise DataError(
            "The prompt has a token that the model does not have.",
            found=str(strange[0]),
            wanted=f"numbers from 0 to {len(tokenizer) - 1}, as /tokenize gives them",
        )
    return list(ids)


@torch.inference_mode()
def judged(generator: Any, prompts: Sequence[list[int]], most: int) -> list[dict[str, Any]]:
    """Of each prompt its text, and what the model makes of each of its tokens. Nothing stands before the first one: of
    that, nothing is told."""
    tokenizer: Tokenizer = generator.tokenizer
    rows = pad(prompts, tokenizer.pad)[0].to(next(generator.model.parameters()).device)
    found = []
    for ids, row, states in zip(prompts, rows, generator.model(rows), strict=True):
        text, places = spelt(tokenizer, ids)
        choices = _choices(generator, row[1 : len(ids)], states, most)
        known = [(choice, start) for choice, (start, _) in zip(choices, places[1:], strict=True)]
        first = {"tokens": surface(tokenizer, ids[0]), "text_offset": 0, "token_logprobs": None, "top_logprobs": None}
        told = logprobs(tokenizer, known, most)
        found.append({"text": text, "logprobs": {name: [first[name], *column] for name, column in told.items()}})
    return found


def _choices(generator: Any, tokens: Int[Tensor, "N"], states: Float[Tensor, "L D"], most: int) -> list[Choice]:
    """What the model thinks of each token in the state before it. Part by part: the scores over the vocabulary take
    much room."""
    vocabulary, found = len(generator.tokenizer), list[Choice]()
    for first in range(0, len(tokens), PLACES):
        some = tokens[first : first + PLACES]
        scores = generator.model.output(states[first : first + len(some)])[:, :vocabulary].float()
        found += Step(tuple(range(len(some))), some, scores, (None,) * len(some)).choices(most)
    return found


def logprobs(tokenizer: Tokenizer, known: Sequence[tuple[Choice, int]], most: int) -> dict[str, list[Any]]:
    """Of tokens and where each begins; with so many of the likeliest for each place."""
    return {
        "tokens": [surface(tokenizer, choice.token) for choice, _ in known],
        "token_logprobs": [max(choice.log_prob, NEVER) for choice, _ in known],
        "top_logprobs": [_likeliest(tokenizer, choice, most) for choice, _ in known],
        "text_offset": [start for _, start in known],
    }


def _likeliest(tokenizer: Tokenizer, choice: Choice, most: int) -> dict[str, float]:
    told = (*choice.alternatives[:most], (choice.token, choice.log_prob))
    return {surface(tokenizer, id): max(log_prob, NEVER) for id, log_prob in told}
