"""Texts continued by CTranslate2: the likeliest tokens and searches. What is drawn, shown or slides, torch writes."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from regard.decoding import Hypothesis
from regard.engines.conversion import words_of
from regard.engines.opening import NAMES, Aside, Converted, Precision, Say, attends
from regard.tasks.generation import Options
from regard.tasks.generator import Generator
from regard.tasks.writing import Prompt, Writer

PATIENCE: dict[Precision, float] = {"float32": 2.0, "int8": 1.0}
"""A search ends when so many times as many hypotheses are finished as the beam has. Twice as many as usual nearly
always find what torch finds, which goes on until nothing better can come; int8 is for speed."""


class CTranslate2Writer:
    """One language model's engine. say: is told, once for each, what torch does instead."""

    reader = "Generator"

    def __init__(self, generator: Generator, converted: Converted, say: Say) -> None:
        self.name, self.converted = NAMES[converted.precision], converted
        (self.words,) = words_of(generator)
        self.aside = Aside(self.name, say)
        self.end, self.attends = generator.tokenizer.end, attends(generator.model)

    def continued(self, writer: Writer, prompts: Sequence[Prompt]) -> Iterator[tuple[Prompt, list[Hypothesis]]] | None:
        """A search that comes to its limit is done again by torch: there the two rank differently."""
        if reason := self._lacks(writer, prompts):
            self.aside(reason)
            return None
        return self._written(writer, prompts)

    def _written(self, writer: Writer, prompts: Sequence[Prompt]) -> Iterator[tuple[Prompt, list[Hypothesis]]]:
        groups = [list(alike) for batch in writer.batches(prompts) for _, alike in groupby(batch, _length)]
        waiting = [self._begun(group, writer.options) for group in groups]
        for group, results in zip(groups, waiting, strict=True):
            for prompt, result in zip(group, results, strict=True):
                found = self._hypotheses(result.result())
                cut = writer.options.beam is not None and not all(one.finished for one in found)
                yield prompt, writer.hypotheses([prompt])[0] if cut else found

    def _lacks(self, writer: Writer, prompts: Sequence[Prompt]) -> str:
        """What of a request is beyond it; nothing if it can do all."""
        how = writer.options
        longest = max((len(prompt.ids) for prompt in prompts), default=0)
        wanted = {
            "attention": any(one.tap() is not None for one in self.attends),
            "what is drawn": how.beam is None and not how.greedy,
            "--repetition-penalty": how.repetition_penalty != 1,
            "--stop": bool(how.stops),
            "--explain": how.alternatives > 0,
            "a text longer than the model can look at": longest + how.max_new_tokens - 1 > writer.limit,
            f"--beam {how.beam}": 2 * (how.beam or 1) > len(self.words.names),
        }
        return next((what for what, is_so in wanted.items() if is_so), "")

    def _begun(self, prompts: Sequence[Prompt], how: Options) -> Any:
        names = self.words.names
        return self.converted.open().generate_batch(
            [[names[id] for id in prompt.ids] for prompt in prompts],
            asynchronous=True,
            beam_size=how.beam or 1,
            num_hypotheses=how.num,
            patience=PATIENCE[self.converted.precision],
            length_penalty=1.0,
            min_length=0,
            max_length=how.max_new_tokens,
            sampling_topk=1,
            include_prompt_in_result=False,
            return_end_token=True,
            return_scores=True,
        )

    def _hypotheses(self, result: Any) -> list[Hypothesis]:
        pairs = zip(result.sequences_ids, result.scores, strict=True)
        return [self._hypothesis(tuple(ids), score) for ids, score in pairs]

    def _hypothesis(self, ids: tuple[int, ...], score: float) -> Hypothesis:
        finished = ids[-1:] == (self.end,)
        return Hypothesis(ids[:-1] if finished else ids, score * len(ids), score, finished, ())


def _length(prompt: Prompt) -> int:
    """Of prompts that are not of equal length, CTranslate2 gives the ends back with what it writes."""
    return len(prompt.ids)
