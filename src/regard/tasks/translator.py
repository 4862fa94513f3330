"""A trained translator: raw text in, raw text out, and where it looked."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import torch
from torch import nn

from regard import weights
from regard.attention import NothingRecordedError, capture
from regard.config import Tree
from regard.decoding import Hypothesis
from regard.errors import ConfigError, LimitError
from regard.insight import Trace
from regard.tasks.engine import BATCH_TOKENS, Engine, TorchEngine
from regard.tasks.pairs import EncodedPairs, Tokenizers
from regard.tasks.searching import NOTHING, USUAL, Asked, Habits, Search, Translation, room_for
from regard.tasks.traces import joined, token_row
from regard.text.target_codes import code_before, targets_of, with_code

__all__ = ["BATCH_TOKENS", "NOTHING", "Habits", "Search", "Translation", "Translator"]


class Translator:
    """What `regard.load` gives for a model that was trained to translate."""

    def __init__(
        self,
        model: nn.Module,
        tokenizers: Tokenizers,
        *,
        langs: tuple[str, str] = ("", ""),
        name: str = "",
        habits: Habits = USUAL,
    ) -> None:
        self.model, self.tokenizers, self.langs, self.name = model.eval(), tokenizers, langs, name
        self.habits = habits
        self.torch = TorchEngine(self.model, tokenizers, habits)
        self.engine: Engine = self.torch

    @classmethod
    def assemble(cls, model: nn.Module, tokenizers: Tokenizers, config: Tree, name: str) -> "Translator":
        """From the parts of a bundle."""
        source, target = config["data"]["langs"]
        habits = Habits.of(config.get("habits", {}))
        return cls(model, tokenizers, langs=(source, target), name=name, habits=habits)

    def use(self, engine: Engine | None) -> "Translator":
        """Lets another compute its searches (see regard.engines); gives itself. None: torch, which can do all."""
        self.engine = engine or self.torch
        return self

    @property
    def limit(self) -> int:
        """Longest sentence in tokens, end mark included."""
        config: Any = self.model.config
        return int(config.limit)

    @cached_property
    def targets(self) -> dict[str, str]:
        """Where it writes several languages: their names, and the codes that it knows them by."""
        return targets_of(self.tokenizers.source)

    def search(self, **asked: Any) -> Search:
        """How it searches: as asked, and for the rest as it is used to."""
        return self.habits.search(**asked)

    @overload
    def translate(self, texts: str, *, prefix: str = ..., to: str = ..., **search: Any) -> str: ...
    @overload
    def translate(
        self, texts: Sequence[str], *, prefix: str | Sequence[str] = ..., to: str = ..., **search: Any
    ) -> list[str]: ...
    def translate(
        self, texts: str | Sequence[str], *, prefix: str | Sequence[str] = "", to: str = "", **search: Any
    ) -> str | list[str]:
        """The best translation of each text; options as in `Search`. An empty text stays empty. prefix: what all
        translations begin with, or each of them its own; to: one of `targets`."""
        if isinstance(texts, str):
            return self.translate([texts], prefix=prefix, to=to, **search)[0]
        if to:
            code = code_before(to, self.targets)
            texts = [with_code(text, code) for text in texts]
        prefixes = [prefix] * len(texts) if isinstance(prefix, str) else prefix
        asked = self.search(**{"scores": False, **search})
        return [found[0].text for found in self.translations(texts, asked, prefixes)]

    def fingerprint(self) -> str:
        """SHA-256 of all that a translation depends on: weights, sizes, tokenizers, habits. Where the model lies, and
        what it is called, does not matter."""
        spelling = [side.backend.to_str() for side in (self.tokenizers.source, self.tokenizers.target)]
        return weights.fingerprint(self.model, self.model.config, self.habits, *spelling)

    def too_long(self, texts: Sequence[str]) -> int:
        """How many of the texts the model cannot take whole."""
        return sum(len(ids) >= self.limit for ids in self.tokenizers.source.encode_all(texts))

    def fits(self, text: str) -> bool:
        """Whether the model can take the text whole."""
        return len(self.tokenizers.source.encode(text)) < self.limit

    def check(self, texts: Sequence[str], first: int = 1) -> None:
        """Refuses a text that is too long by the number of its line; `first` is that of the first text."""
        full = {number: text for number, text in enumerate(texts, start=first) if text.strip()}
        self._encode(list(full.values()), list(full), truncate=False)

    def check_prefixes(self, prefixes: Sequence[str], first: int = 1) -> None:
        """Refuses a prefix that leaves no room for a translation, by the number of its line."""
        self._prefixes(prefixes, first)

    def translations(
        self, texts: Sequence[str], search: Search, prefixes: Sequence[str] = ()
    ) -> list[list[Translation]]:
        """The n best of each text, in the order of the texts. prefixes: what they begin with, if anything."""
        results: list[list[Translation]] = [[NOTHING] for _ in texts]
        for number, found in self.stream(texts, search, prefixes):
            results[number] = found
        return results

    def stream(
        self, texts: Sequence[str], search: Search, prefixes: Sequence[str] = ()
    ) -> Iterator[tuple[int, list[Translation]]]:
        """(number of the text, its translations) as they come; empty texts are passed over."""
        full = [i for i, text in enumerate(texts) if text.strip()]
        sources = self._encode([texts[i] for i in full], [i + 1 for i in full], truncate=search.truncate)
        beginnings = self._prefixes([prefixes[i] for i in full]) if any(prefixes) else [()] * len(full)
        asked = [Asked(*both) for both in zip(sources, beginnings, strict=True)]
        for batch, found in self.engine.search(asked, search):
            for i, some in zip(batch, found, strict=True):
                yield full[i], [self._translation(asked[i], one) for one in some] or [NOTHING]

    def attention(self, source: str, target: str | None = None) -> Trace:
        """Where every head of every layer looks while this target (default: the model's own translation) is made."""
        self.engine.aside("attention")
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
        return Trace(rows, weights, {name: joined(name) for name in weights}, {"model": self.name})

    def _translation(self, asked: Asked, found: Hypothesis) -> Translation:
        text = self.tokenizers.target.decode([*asked.prefix, *found.tokens])
        return Translation(text, found.score, found.log_prob, found.finished)

    def _encode(self, texts: Sequence[str], lines: Sequence[int], *, truncate: bool) -> list[tuple[int, ...]]:
        encoded = self.tokenizers.source.encode_all(texts)
        for line, ids in zip(lines, encoded, strict=True):
            if not truncate:
                self._check(len(ids) + 1, f"Line {line}", " (--split does), or cut it with --truncate")
        return [(*ids[: self.limit - 1], self.tokenizers.source.end) for ids in encoded]

    def _prefixes(self, prefixes: Sequence[str], first: int = 1) -> list[tuple[int, ...]]:
        """As tokens. A space at the end of one is part of the word that follows."""
        encoded = [tuple(ids) for ids in self.tokenizers.target.encode_all(map(str.rstrip, prefixes))]
        for number, (prefix, ids) in enumerate(zip(prefixes, encoded, strict=True), start=first):
            if room_for(self.model, self.habits, len(ids)) < 1:
                which = f"Prefix {number}" if len(prefixes) > 1 or number > 1 else "The prefix"
                raise LimitError(
                    f"{which}, {prefix[:40]!r} …, is longer than a translation can be.",
                    found=f"{len(ids)} tokens",
                    wanted=f"at most {room_for(self.model, self.habits, 0) - 1}",
                    do="give less of it",
                )
        return encoded

    def _check(self, length: int, what: str, or_else: str = "") -> None:
        if length > self.limit:
            raise LimitError(
                f"{what} is longer than the model can take.",
                found=f"{length} tokens",
                wanted=f"at most {self.limit}",
                do=f"split it into sentences{or_else}",
            )

    def _device(self) -> torch.device:
        return next(self.model.parameters()).device
