"""A pretrained BERT: it fills in hidden words, and shows where it looks."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention import capture
from regard.config import Tree
from regard.errors import DataError, LimitError
from regard.insight import Token, TokenRow, Trace
from regard.tasks.texts import OneTokenizer
from regard.tasks.traces import token_row
from regard.text.wordpiece import PREFIX

MASK = "[MASK]"


@dataclass(frozen=True)
class Filling:
    """A word that may have been hidden, and how likely that is."""

    text: str
    probability: float


class Encoder:
    """What `regard.load` gives for a BERT."""

    def __init__(self, model: nn.Module, tokenizers: OneTokenizer, *, language: str = "", name: str = "") -> None:
        self.model, self.tokenizers, self.language, self.name = model.eval(), tokenizers, language, name
        self.tokenizer = tokenizers.tokenizer

    @classmethod
    def assemble(cls, model: nn.Module, tokenizers: OneTokenizer, config: Tree, name: str) -> "Encoder":
        """From the parts of a bundle."""
        return cls(model, tokenizers, language=config["data"].get("language", ""), name=name)

    @property
    def limit(self) -> int:
        """Longest text in tokens, marks included."""
        config: Any = self.model.config
        return int(config.limit)

    @torch.inference_mode()
    def fill(self, text: str, *, top: int = 5) -> list[list[Filling]]:
        """For each [MASK] of the text, the likeliest words."""
        parts = text.split(MASK)
        if len(parts) == 1:
            raise DataError(f"There is nothing to fill in: no {MASK} in the text.", found=repr(text[:80]))
        ids = [self.tokenizer.start]
        places = []
        for part in parts[:-1]:
            ids += self.tokenizer.encode(part)
            places.append(len(ids))
            ids.append(self.tokenizer.mask or 0)
        ids += [*self.tokenizer.encode(parts[-1]), self.tokenizer.end]
        self._check(len(ids))
        model: Any = self.model
        tokens = torch.tensor([ids], device=self._device())
        hidden = model.bert(tokens, self._lengths(tokens))
        scores = model.output(model.guesses(hidden[0, places])).float().softmax(-1)
        found = scores.topk(min(top, scores.shape[-1]))
        return [
            [Filling(self._surface(id), share) for id, share in zip(words.tolist(), shares.tolist(), strict=True)]
            for words, shares in zip(found.indices, found.values, strict=True)
        ]

    @torch.inference_mode()
    def attention(self, text: str, second: str | None = None) -> Trace:
        """Where every head of every layer looks, in one text or in two with [SEP] between them."""
        sides = [text] if second is None else [text, second]
        ids, kinds, row = [self.tokenizer.start], [0], [Token("[CLS]", 0, 0, special=True)]
        for number, side in enumerate(sides):
            pieces = self.tokenizer.encode(side)
            before = sum(len(earlier) + 1 for earlier in sides[:number])
            ids += [*pieces, self.tokenizer.end]
            kinds += [number] * (len(pieces) + 1)
            shown = token_row(side, self.tokenizer, self.language).tokens
            row += [Token(token.surface, token.start + before, token.end + before) for token in shown]
            row.append(Token("[SEP]", before + len(side), before + len(side), special=True))
        self._check(len(ids))
        tokens, segments = (torch.tensor([numbers], device=self._device()) for numbers in (ids, kinds))
        model: Any = self.model
        with capture(self.model) as recording:
            model.bert(tokens, self._lengths(tokens), segments)
        weights = {name: recording.joined(name)[0].float().cpu().numpy() for name in recording.names}
        rows = {"text": TokenRow(" ".join(sides), tuple(row), self.language)}
        return Trace(rows, weights, dict.fromkeys(weights, ("text", "text")), {"model": self.name})

    def _lengths(self, tokens: Tensor) -> Tensor:
        return torch.tensor([tokens.shape[1]], device=tokens.device)

    def _surface(self, id: int) -> str:
        return str(self.tokenizer.backend.id_to_token(id)).removeprefix(PREFIX)

    def _check(self, length: int) -> None:
        if length > self.limit:
            raise LimitError(
                "The text is longer than the model can take.",
                found=f"{length} tokens",
                wanted=f"at most {self.limit}",
                do="split it into parts",
            )

    def _device(self) -> torch.device:
        return next(self.model.parameters()).device
