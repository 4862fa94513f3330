"""A trained translator: raw text in, raw text out, and where it looked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import torch
from torch import nn

from regard.attention import NothingRecordedError, capture
from regard.config import Tree
from regard.data.batches import Sentences, group_by_length, pad
from regard.decoding import Hypothesis, Request, beam, greedy
from regard.errors import ConfigError, LimitError
from regard.insight import Trace
from regard.tasks.pairs import EncodedPairs, Tokenizers
from regard.tasks.traces import token_row

BATCH_TOKENS = 2048


@dataclass(frozen=True)
class Search:
    """How translations are looked for."""

    beam: int = 5
    nbest: int = 1
    penalty: float = 1.0
    truncate: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.nbest <= self.beam or not 0 <= self.penalty <= 10:
            raise ConfigError(
                "These search settings cannot be used.",
                found=f"beam {self.beam}, n-best {self.nbest}, length penalty {self.penalty}",
                wanted="beam ≥ n-best ≥ 1, length penalty from 0 to 10",
                do="raise --beam, or lower --nbest",
            )


@dataclass(frozen=True)
class Translation:
    """One translation of one sentence. score: log-probability per token; finished: the end mark was reached."""

    text: str
    score: float
    log_prob: float
    finished: bool


NOTHING = Translation("", 0.0, 0.0, True)
"""The translation of an empty text."""


class Translator:
    """What `regard.load` gives for a model that was trained to translate."""

    def __init__(
        self, model: nn.Module, tokenizers: Tokenizers, *, langs: tuple[str, str] = ("", ""), name: str = ""
    ) -> None:
        self.model, self.tokenizers, self.langs, self.name = model.eval(), tokenizers, langs, name

    @classmethod
    def assemble(cls, model: nn.Module, tokenizers: Tokenizers, config: Tree, name: str) -> "Translator":
        """From the parts of a bundle."""
        source, target = config["data"]["langs"]
        return cls(model, tokenizers, langs=(source, target), name=name)

    @property
    def limit(self) -> int:
        """Longest sentence in tokens, end mark included."""
        config: Any = self.model.config
        return int(config.limit)

    @overload
    def translate(self, texts: str, **search: Any) -> str: ...
    @overload
    def translate(self, texts: Sequence[str], **search: Any) -> list[str]: ...
    def translate(self, texts: str | Sequence[str], **search: Any) -> str | list[str]:
        """The best translation of each text; options as in `Search`. An empty text stays empty."""
        if isinstance(texts, str):
            return self.translate([texts], **search)[0]
        return [found[0].text for found in self.translations(texts, Search(**search))]

    def too_long(self, texts: Sequence[str]) -> int:
        """How many of the texts the model cannot take whole."""
        return sum(len(ids) >= self.limit for ids in self.tokenizers.source.encode_all(texts))

    def translations(self, texts: Sequence[str], search: Search) -> list[list[Translation]]:
        """The n best of each text, in the order of the texts."""
        results: list[list[Translation]] = [[NOTHING] for _ in texts]
        for number, found in self.stream(texts, search):
            results[number] = found
        return results

    def stream(self, texts: Sequence[str], search: Search) -> Iterator[tuple[int, list[Translation]]]:
        """(number of the text, its translations) as they come, the short ones first; empty texts are passed over."""
        full = [i for i, text in enumerate(texts) if text.strip()]
        encoded = self._encode([texts[i] for i in full], full, truncate=search.truncate)
        lengths = np.array([len(ids) for ids in encoded], dtype=np.int64).reshape(-1, 1)
        for group in group_by_length(lengths, max(BATCH_TOKENS // search.beam, self.limit), np.arange(len(full))):
            if len(group):
                found = self._search([encoded[i] for i in group], search)
                yield from ((full[i], one or [NOTHING]) for i, one in zip(group.tolist(), found, strict=True))

    def attention(self, source: str, target: str | None = None) -> Trace:
        """Where every head of every layer looks while this target (default: the model's own translation) is made."""
        target = self.translate(source) if target is None else target
        for side, tokenizer in ((source, self.tokenizers.source), (target, self.tokenizers.target)):
            self._check(len(tokenizer.encode(side)) + 1, "The text")
        batch = EncodedPairs.encode([source], [target], self.tokenizers).batch([0], self.tokenizers).to(self._device())
        try:
            with torch.inference_mode(), capture(self.model) as recording:
                self.model(batch.source, batch.source_lengths, batch.target[:, :-1])
        except NothingRecordedError:
            raise ConfigError(
                "This model has no attention: there is nothing to see.", do="take one that attends, such as bahdanau"
            ) from None
        weights = {name: recording.joined(name)[0].float().cpu().numpy() for name in recording.names}
        rows = {
            "source": token_row(source, self.tokenizers.source, self.langs[0], end=True),
            "target": token_row(target, self.tokenizers.target, self.langs[1], start=True),
            "prediction": token_row(target, self.tokenizers.target, self.langs[1], end=True),
        }
        return Trace(rows, weights, {name: _axes(name) for name in weights}, {"model": self.name})

    def _encode(self, texts: Sequence[str], numbers: Sequence[int], *, truncate: bool) -> list[list[int]]:
        encoded = self.tokenizers.source.encode_all(texts)
        for number, ids in zip(numbers, encoded, strict=True):
            if not truncate:
                self._check(len(ids) + 1, f"Line {number + 1}", ", or cut it with --truncate")
        return [[*ids[: self.limit - 1], self.tokenizers.source.end] for ids in encoded]

    def _check(self, length: int, what: str, or_else: str = "") -> None:
        if length > self.limit:
            raise LimitError(
                f"{what} is longer than the model can take.",
                found=f"{length} tokens",
                wanted=f"at most {self.limit}",
                do=f"split it into sentences{or_else}",
            )

    def _search(self, rows: Sequence[Sequence[int]], search: Search) -> list[list[Translation]]:
        source, lengths = pad(rows, self.tokenizers.source.pad)
        target = self.tokenizers.target
        prefix = torch.full((len(rows), 1), target.start)
        limits = torch.clamp(2 * lengths + 20, max=self.limit)
        device = self._device()
        sentences = Sentences(source.to(device), lengths.to(device))
        request = Request(sentences, prefix.to(device), target.end, limits)
        stepper: Any = self.model
        if search.beam == 1:
            found = [[hypothesis] for hypothesis in greedy(stepper, request, penalty=search.penalty)]
        else:
            found = beam(stepper, request, size=search.beam, nbest=search.nbest, penalty=search.penalty)
        return [[self._text(hypothesis) for hypothesis in one] for one in found]

    def _text(self, hypothesis: Hypothesis) -> Translation:
        text = self.tokenizers.target.decode(hypothesis.tokens)
        return Translation(text, hypothesis.score, hypothesis.log_prob, hypothesis.finished)

    def _device(self) -> torch.device:
        return next(self.model.parameters()).device


def _axes(name: str) -> tuple[str, str]:
    """Who asks and what is read, by the attention's name."""
    if name.startswith("encoder."):
        return "source", "source"
    return ("target", "target") if name.endswith(".self") else ("prediction", "source")
