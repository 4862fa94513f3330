"""How texts are continued: prompts in batches, a token a step, and what is known of each text on the way."""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import exp
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding import (
    Choice,
    Draw,
    Hypothesis,
    LogProbs,
    Penalised,
    Request,
    Sliding,
    Step,
    Stepper,
    beam,
    forgotten,
    likeliest,
    steps,
)
from regard.decoding.steps import Choose, Ending
from regard.seeds import derive
from regard.tasks.generation import Alternative, Chosen, Generation, Options
from regard.tasks.spelling import Growing, surface
from regard.text import Tokenizer

BATCH_TOKENS, BATCH_SCORES = 4096, 2**22
"""Most tokens that are kept for a batch, and most scores over the vocabulary that are computed at once."""


class Logits:
    """A language model as a stepper whose scores are logits, of the tokens that its tokenizer has. (The model may have
    more rows than that. On logits, the repetition penalty is that of others.)"""

    def __init__(self, model: Any, vocabulary: int) -> None:
        self._model, self._vocabulary = model, vocabulary

    def start(self, source: Any, prefix: Int[Tensor, "B P"]) -> Any:
        return self._model.start(source, prefix)

    @torch.inference_mode()
    def step(self, tokens: Int[Tensor, "R"], state: Any) -> tuple[Float[Tensor, "R V"], Any]:
        hidden, state = self._model._read(tokens[:, None], state)
        logits: Tensor = self._model.output(hidden[:, -1])[:, : self._vocabulary]
        return logits.to(torch.promote_types(logits.dtype, torch.float32)), state

    def reorder(self, state: Any, rows: Int[Tensor, "N"]) -> Any:
        return self._model.reorder(state, rows)


@dataclass(frozen=True)
class Prompt:
    """A prompt of which a text is wanted: `place` among those that were asked for, `number`: that of its lots, `cut`:
    how many of its tokens are left out, before those that are read."""

    place: int
    number: int
    text: str
    ids: tuple[int, ...]
    cut: int = 0

    @classmethod
    def several(cls, place: int, text: str, ids: Sequence[int], count: int, cut: int = 0) -> "list[Prompt]":
        """The same prompt for several texts. Their lots are the same wherever the prompt stands."""
        key = derive(0, "prompt", *ids)
        return [cls(place, derive(key, "sample", sample), text, tuple(ids), cut) for sample in range(count)]

    def out_of_sight(self, read: int, limit: int) -> int:
        """How many tokens were so when so many of them and of the continuation had been read."""
        return self.cut + forgotten(read, limit)


class Writer:
    """A model and its tokenizer, at work on prompts."""

    def __init__(self, model: Any, tokenizer: Tokenizer, options: Options) -> None:
        self.tokenizer, self.options, self.limit = tokenizer, options, int(model.config.limit)
        self.device = next(model.parameters()).device
        self.stepper: Stepper = Sliding(Logits(model, len(tokenizer)), self.limit)
        self.seed = secrets.randbits(63) if options.seed is None else options.seed

    def batches(self, prompts: Sequence[Prompt]) -> list[list[Prompt]]:
        """Prompts that are continued together. Those whose text outgrows the model's window are of equal length, so
        that they slide together and nothing is read again for the sake of others."""
        found: list[list[Prompt]] = []
        more = self.options.max_new_tokens - 1  # the last one is not read
        ordered = sorted(prompts, key=lambda prompt: len(prompt.ids))
        for _, alike in groupby(ordered, lambda prompt: max(len(prompt.ids) + more - self.limit, 0)):
            group = list(alike)
            size = self._rows(min(len(group[-1].ids) + more, self.limit))
            found += [group[first : first + size] for first in range(0, len(group), size)]
        return found

    def searched(self, prompts: Sequence[Prompt]) -> list[list[Generation]]:
        """By beam search: the best of each prompt."""
        pairs = zip(prompts, self.hypotheses(prompts), strict=True)
        return [[self.generation(prompt, one) for one in found] for prompt, found in pairs]

    def hypotheses(self, prompts: Sequence[Prompt]) -> list[list[Hypothesis]]:
        """The same before they are texts."""
        stepper: Stepper = LogProbs(self.stepper)
        if self.options.repetition_penalty != 1:
            stepper = Penalised(stepper, self.options.repetition_penalty, [prompt.ids for prompt in prompts])
        return beam(stepper, self.request(prompts), size=self.options.beam or 1, nbest=self.options.num)

    def request(self, prompts: Sequence[Prompt]) -> Request:
        """Prompts as one rectangle, with padding before the shorter ones."""
        longest = max(len(prompt.ids) for prompt in prompts)
        padding = [longest - len(prompt.ids) for prompt in prompts]
        rows = [[self.tokenizer.end] * some + list(one.ids) for one, some in zip(prompts, padding, strict=True)]
        limits = torch.full((len(prompts),), self.options.max_new_tokens)
        source, prefix = (torch.tensor(numbers, device=self.device) for numbers in (padding, rows))
        return Request(source, prefix, self.tokenizer.end, limits)

    def choose(self, prompts: Sequence[Prompt]) -> Choose:
        """How tokens are chosen for these."""
        distribution = self.options.distribution()
        if self.options.greedy and distribution.repetition_penalty == 1:
            return likeliest
        numbers, texts = [prompt.number for prompt in prompts], [prompt.ids for prompt in prompts]
        return Draw(distribution, self.seed, numbers, texts)

    def chosen(self, choice: Choice) -> Chosen:
        """In words."""
        others = (Alternative(surface(self.tokenizer, id), exp(p)) for id, p in choice.alternatives)
        told = surface(self.tokenizer, choice.token)
        return Chosen(told, choice.token, exp(choice.log_prob), choice.rank, tuple(others))

    def generation(self, prompt: Prompt, found: Hypothesis) -> Generation:
        """What was found for a prompt, as a text."""
        text = Growing(self.tokenizer, prompt.ids)
        for token in found.tokens:
            text.add(token)
        text.close()
        ending: Ending = "end" if found.finished else "limit"
        out_of_sight = prompt.out_of_sight(len(prompt.ids) + len(found.rows) - 1, self.limit)
        return Generation(prompt.text, text.text, found.tokens, found.log_prob, ending, out_of_sight)

    def _rows(self, length: int) -> int:
        """How many texts of a length are continued together."""
        most = min(BATCH_TOKENS // length, BATCH_SCORES // len(self.tokenizer))
        return max(1, most // (self.options.beam or 1))


@runtime_checkable
class WritingEngine(Protocol):
    """Who continues texts instead of torch, where it can."""

    name: str

    def continued(self, writer: Writer, prompts: Sequence[Prompt]) -> Iterator[tuple[Prompt, list[Hypothesis]]] | None:
        """Of each prompt what was found, as it comes; None where it cannot do what is asked."""
        ...

    def aside(self, what: str) -> None:
        """Hears of what else is asked of the model: torch computes that."""
        ...


@dataclass
class _Record:
    """What is known of one continuation so far."""

    growing: Growing
    tokens: list[int] = field(default_factory=list)
    choices: list[Chosen] = field(default_factory=list)
    log_prob: float = 0.0
    ending: Ending = "limit"
    steps: int = 0


class Continuations:
    """Texts that are written side by side, a token a step."""

    def __init__(self, writer: Writer, prompts: Sequence[Prompt]) -> None:
        self.writer, self.prompts = writer, prompts
        stops, tokenizer = writer.options.stops, writer.tokenizer
        self.records = [_Record(Growing(tokenizer, prompt.ids, stops)) for prompt in prompts]

    def steps(self) -> Iterator[Step]:
        """Yields each step when what it adds is known. Nothing outlives the iterator, wherever it is left."""
        writer = self.writer
        found = steps(
            writer.stepper, writer.request(self.prompts), choose=writer.choose(self.prompts), stop=self._stopped
        )
        for step in found:
            self._note(step)
            yield step

    def results(self) -> list[Generation]:
        """The texts as far as they have come."""
        return [self._result(prompt, record) for prompt, record in zip(self.prompts, self.records, strict=True)]

    def _stopped(self, sentence: int, made: Sequence[int]) -> bool:
        record = self.records[sentence]
        record.tokens.append(made[-1])
        return record.growing.add(made[-1])

    def _note(self, step: Step) -> None:
        alternatives = self.writer.options.alternatives
        choices = step.choices(alternatives) if alternatives else ()
        for choice in choices:
            self.records[choice.sentence].choices.append(self.writer.chosen(choice))
        for sentence, log_prob, ending in zip(step.sentences, step.log_probs().tolist(), step.endings, strict=True):
            record = self.records[sentence]
            record.log_prob += log_prob
            record.steps += 1
            if ending is not None:
                record.ending = ending
                record.growing.close()

    def _result(self, prompt: Prompt, record: _Record) -> Generation:
        out_of_sight = prompt.out_of_sight(len(prompt.ids) + record.steps - 1, self.writer.limit)
        return Generation(
            prompt.text,
            record.growing.text,
            tuple(record.tokens),
            record.log_prob,
            record.ending,
            out_of_sight,
            tuple(record.choices),
        )
