"""Texts of many requests, continued side by side, a token a step.

Between two steps others join: then all that is written so far is read again, together with the new prompts, in one
pass. That costs what some steps cost, so it is done every few steps at most. What is drawn for a text depends on its
seed, its prompt and its number alone, so a text is the same whoever is written beside it.
"""

import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding import Distribution, Request, Sliding, Step, Stepper, steps
from regard.decoding.distribution import best
from regard.decoding.sampling import drawn, lot
from regard.decoding.steps import Choice, Ending, Rows
from regard.server.messages import Done, Event, Failed, Job, Piece
from regard.server.work.prompts import logprobs, prompt_ids
from regard.tasks.generation import Options
from regard.tasks.spelling import Growing
from regard.tasks.writing import Logits, Prompt
from regard.text import Tokenizer

logger = logging.getLogger("regard.server")
COMPLETE = "complete"
"""The verb of these jobs."""
JOIN_AFTER = 8
"""Steps before what is written may be read again."""


@dataclass(eq=False)
class Row:
    """A text that grows. cost: the tokens that it takes of a batch."""

    job: Job
    prompt: Prompt
    options: Options
    growing: Growing
    cost: int
    made: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    """Where each token begins in the text."""
    choices: list[Choice] = field(default_factory=list)
    told: int = 0
    """So many of the choices were told, in pieces."""
    log_prob: float = 0.0
    dropped: bool = False


Known = dict[tuple[bool, str | tuple[int, ...]], list[int]]
"""Prompts, cut or not, and their tokens: of one prompt several texts may be wanted."""


def row(generator: Any, job: Job, known: Known | None = None) -> Row:
    """A text that has not begun to grow. The payload is the prompt, a text or tokens, and which of several texts it is
    to be."""
    given, sample = job.payload
    how = dict(job.options)
    truncate, options = bool(how.pop("truncate")), Options(**how)
    tokenizer: Tokenizer = generator.tokenizer
    known, key = {} if known is None else known, (truncate, given if isinstance(given, str) else tuple(given))
    if key not in known:
        known[key] = prompt_ids(generator, given, truncate)
    ids = known[key]
    prompt = Prompt.several(0, given if isinstance(given, str) else tokenizer.decode(ids), ids, sample + 1)[-1]
    cost = min(len(ids) + options.max_new_tokens, generator.limit)
    return Row(job, prompt, options, Growing(tokenizer, prompt.ids, options.stops), cost)


def each_alone(generator: Any, rows: Sequence[Row]) -> "tuple[Writing, list[Event]]":
    """After a step that went wrong: each text takes its step by itself, and those with which nothing is wrong go on
    together."""
    writing, told, sound = Writing(generator), list[Event](), list[Row]()
    for text in rows:
        alone = Writing(generator)
        alone.join([text])
        try:
            told += alone.step()
        except Exception:
            logger.exception("A text could not be written.")
            told.append(Failed(text.job.id))
        else:
            sound += alone.rows
    if sound:
        writing.join(sound)
    return writing, told


class Writing:
    """The texts that grow now."""

    def __init__(self, generator: Any) -> None:
        self._tokenizer: Tokenizer = generator.tokenizer
        self._device = next(generator.model.parameters()).device
        self._stepper: Stepper = Sliding(Logits(generator.model, len(self._tokenizer)), generator.limit)
        self.rows: list[Row] = []
        self._steps: Iterator[Step] = iter(())
        self._together: list[Row] = []
        self._since = JOIN_AFTER

    @property
    def open(self) -> bool:
        """Whether others may join now."""
        return not self.rows or self._since >= JOIN_AFTER

    def join(self, rows: Sequence[Row]) -> None:
        """All of them go on together from here."""
        self.rows += rows
        self._together, self._since = list(self.rows), 0
        self._steps = steps(self._stepper, self._request(), choose=self._choose, stop=self._stop)

    def step(self) -> list[Event]:
        """One more token for each text: what can be told then. A text that has ended is no longer among them."""
        self._since += 1
        found = next(self._steps)
        self._note(found)
        told: list[Event] = []
        for place, ending in zip(found.sentences, found.endings, strict=True):
            text = self._together[place]
            if ending is not None:
                text.growing.close()
                self.rows.remove(text)
            if text.dropped:
                continue
            if text.job.streamed and (piece := text.growing.news()):
                told.append(Piece(text.job.id, {"text": piece, "logprobs": self._logprobs(text)}))
            if ending is not None:
                told.append(self._done(text, ending))
        return told

    def drop(self, ids: Collection[int]) -> None:
        """Nobody waits for these: they end with the next step."""
        for text in self.rows:
            text.dropped |= text.job.id in ids

    def _request(self) -> Request:
        """All texts as far as they are written, as one rectangle with padding before the shorter ones."""
        texts = [[*text.prompt.ids, *text.made] for text in self._together]
        longest = max(map(len, texts))
        padding = [longest - len(text) for text in texts]
        filled = [[self._tokenizer.end] * some + text for text, some in zip(texts, padding, strict=True)]
        source, prefix = (torch.tensor(numbers, device=self._device) for numbers in (padding, filled))
        limits = torch.tensor([text.options.max_new_tokens - len(text.made) for text in self._together])
        return Request(source, prefix, self._tokenizer.end, limits)

    def _choose(self, scores: Float[Tensor, "R V"], rows: Rows) -> Int[Tensor, "R"]:
        """Each text by its own options; those with the same ones at once."""
        alike: dict[Distribution, list[int]] = {}
        for place, sentence in enumerate(rows.sentences):
            alike.setdefault(self._together[sentence].options.distribution(), []).append(place)
        tokens = torch.empty(len(scores), dtype=torch.long, device=scores.device)
        for distribution, places in alike.items():
            texts = [self._together[rows.sentences[place]] for place in places]
            chosen = torch.tensor(places, device=scores.device)
            tokens[chosen] = _drawn(scores[chosen], distribution, texts)
        return tokens

    def _stop(self, sentence: int, made: Sequence[int]) -> bool:
        text = self._together[sentence]
        text.made.append(made[-1])
        text.starts.append(len(text.growing.text))
        return text.growing.add(made[-1]) or text.dropped

    def _note(self, step: Step) -> None:
        """Probabilities, where somebody wants to know them."""
        texts = [self._together[place] for place in step.sentences]
        most = max(text.options.alternatives for text in texts)
        if not most:
            return
        for text, choice in zip(texts, step.choices(most), strict=True):
            text.log_prob += choice.log_prob
            if text.options.alternatives and choice.ending != "end":
                text.choices.append(choice)

    def _done(self, text: Row, ending: Ending) -> Done:
        value = {
            "text": text.growing.text,
            "prompt": text.prompt.text,
            "finish": "length" if ending == "limit" else "stop",
            "log_prob": text.log_prob / max(1, len(text.choices)),
            "logprobs": self._logprobs(text),
        }
        return Done(text.job.id, value, read=len(text.prompt.ids), made=len(text.made))

    def _logprobs(self, text: Row) -> dict[str, Any] | None:
        """Those of the tokens that are in the text, as far as they were not told."""
        if not text.options.alternatives:
            return None
        end = text.growing.shown if text.job.streamed else len(text.growing.text)
        left = zip(text.choices[text.told :], text.starts[text.told :], strict=True)
        known = [(choice, start) for choice, start in left if start < end]
        text.told += len(known)
        return logprobs(self._tokenizer, known, text.options.alternatives)


def _drawn(scores: Float[Tensor, "R V"], distribution: Distribution, texts: Sequence[Row]) -> Int[Tensor, "R"]:
    """As `Draw` does it for texts of one request."""
    if distribution.temperature == 0 and distribution.repetition_penalty == 1:
        return best(scores)
    so_far = [[*text.prompt.ids, *text.made] for text in texts]
    lots = [lot(text.options.seed or 0, text.prompt.number, len(text.made)) for text in texts]
    return drawn(distribution(scores, so_far), torch.tensor(lots, dtype=torch.float64, device=scores.device))
