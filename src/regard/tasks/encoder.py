"""A pretrained BERT: it makes vectors of texts, fills in hidden words, and shows where it looks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor, nn

from regard.attention import capture
from regard.config import Tree
from regard.errors import ConfigError, DataError
from regard.insight import Trace
from regard.models.pretrained.networks import FOLLOWS, MASKED, POOLER
from regard.tasks.embedding import EmbeddingConfig, Vector, listed, too_long, vectors
from regard.tasks.texts import OneTokenizer, Place, numbered
from regard.tasks.traces import marked_row
from regard.text.wordpiece import PREFIX

MASK = "[MASK]"
PAIR = 2
LEARNED = {"masked-lm": (POOLER, MASKED, FOLLOWS)}
"""What a model of ours has learned besides its encoder, by its task."""


@dataclass(frozen=True)
class Filling:
    """A word that may have been hidden, and how likely that is."""

    text: str
    probability: float


class Encoder:
    """What `regard.load` gives for a BERT: one of ours, or one that others have trained.

    parts: what it has learned besides the encoder; embedding: how `embed` makes vectors if it is not told."""

    def __init__(
        self,
        model: nn.Module,
        tokenizers: OneTokenizer,
        *,
        parts: Sequence[str] = (),
        embedding: EmbeddingConfig | None = None,
        language: str = "",
        name: str = "",
    ) -> None:
        self.model, self.tokenizers, self.language, self.name = model.eval(), tokenizers, language, name
        self.tokenizer, self.parts = tokenizers.tokenizer, tuple(parts)
        self.bert: Any = model.bert
        self.engine: Any = self.bert
        self.embedding = self._limited(embedding or EmbeddingConfig())

    @classmethod
    def assemble(cls, model: nn.Module, tokenizers: OneTokenizer, config: Tree, name: str) -> "Encoder":
        """From the parts of a bundle."""
        parts = config.get("parts", LEARNED.get(config["task"], ()))
        if not config.get("masking", {}).get("next_sentence", True):
            parts = (MASKED,)
        embedding = EmbeddingConfig.parse(config.get("embedding", {}), where="embedding")
        language = config["data"].get("language", "")
        return cls(model, tokenizers, parts=parts, embedding=embedding, language=language, name=name)

    def use(self, engine: nn.Module | None) -> "Encoder":
        """Lets another read the texts that `embed` makes vectors of (see regard.engines); gives itself. None: torch."""
        self.engine = self.bert if engine is None else engine
        return self

    @property
    def limit(self) -> int:
        """Longest text in tokens, marks included."""
        return int(self.bert.config.limit)

    def embed(
        self, texts: Sequence[str], *, batch_tokens: int | None = None, truncate: bool = False, **how: Any
    ) -> Float32[np.ndarray, "N D"]:
        """A vector for each text, in their order. pooling: "cls", "mean" or "max"; normalize: to length 1; if they are
        not given, as the model was made for. truncate: cut what is longer than the model can take. batch_tokens: most
        tokens that are computed together; if it is not given, what suits a CPU. place: what to call text N, if it is
        too long."""
        found = np.empty((len(texts), self.bert.config.width), dtype=np.float32)
        for number, vector in self.vectors(texts, batch_tokens=batch_tokens, truncate=truncate, **how):
            found[number] = vector
        return found

    def vectors(
        self,
        texts: Sequence[str],
        *,
        batch_tokens: int | None = None,
        truncate: bool = False,
        place: Place = numbered,
        **how: Any,
    ) -> Iterator[tuple[int, Vector]]:
        """The same as (number of the text, its vector), as they come."""
        asked = {key: value for key, value in how.items() if value is not None}
        config = self._limited(EmbeddingConfig.parse(self.embedding.model_dump() | asked, where="embed"))
        known = listed(texts)
        return vectors(self.engine, self.tokenizer, known, config, budget=batch_tokens, truncate=truncate, place=place)

    def _limited(self, how: EmbeddingConfig) -> EmbeddingConfig:
        """With a limit that the model has."""
        return how.model_copy(update={"limit": min(how.limit or self.limit, self.limit)})

    @torch.inference_mode()
    def hidden(self, text: str, second: str | None = None, *, layer: int = -1) -> Float32[np.ndarray, "S D"]:
        """Each token of a text (or of two) in the light of all others, marks included. layer: 0 is the embedding, 1 the
        first layer, -1 the last."""
        self._aside("hidden states")
        states = list(self.bert.layers(*self._read(text, second)))
        if not -len(states) <= layer < len(states):
            raise ConfigError(f"There is no layer {layer}.", wanted=f"0 (the embedding) to {len(states) - 1}")
        found: np.ndarray = states[layer][0].float().cpu().numpy()
        return found

    @torch.inference_mode()
    def fill(self, text: str, *, top: int = 5) -> list[list[Filling]]:
        """For each [MASK] of the text, the likeliest words."""
        if MASKED not in self.parts:
            raise ConfigError(
                f"{self.name or 'This model'} cannot fill in words: it has no head for them.",
                do="load one that has, such as google-bert/bert-base-uncased",
            )
        self._aside("fill")
        parts = text.split(MASK)
        if len(parts) == 1:
            raise DataError(f"There is nothing to fill in: no {MASK} in the text.", found=repr(text[:80]))
        ids = [self.tokenizer.start]
        places = []
        for part in parts[:-1]:
            ids += self.tokenizer.encode(part)
            places.append(len(ids))
            ids.append(self.tokenizer.mask or 0)
        tokens, lengths, _ = self._batch([*ids, *self.tokenizer.encode(parts[-1]), self.tokenizer.end])
        model: Any = self.model
        hidden = self.bert(tokens, lengths)
        known = torch.tensor(sorted(self.tokenizer.backend.get_vocab().values()), device=tokens.device)
        scores = model.output(model.guesses(hidden[0, places])).float().softmax(-1)[:, known]
        found = scores.topk(min(top, len(known)))
        return [
            [Filling(self._surface(id), share) for id, share in zip(words.tolist(), shares.tolist(), strict=True)]
            for words, shares in zip(known[found.indices], found.values, strict=True)
        ]

    @torch.inference_mode()
    def attention(self, text: str, second: str | None = None) -> Trace:
        """Where every head of every layer looks, in one text or in two with [SEP] between them."""
        self._aside("attention")
        tokens, lengths, segments = self._read(text, second)
        with capture(self.model) as recording:
            self.bert(tokens, lengths, segments)
        weights = {name: recording.joined(name)[0].float().cpu().numpy() for name in recording.names}
        sides = [text] if second is None else [text, second]
        rows = {"text": marked_row(sides, self.tokenizer, self.language)}
        return Trace(rows, weights, dict.fromkeys(weights, ("text", "text")), {"model": self.name})

    def refuse_pairs(self) -> None:
        """If it has no way to tell a second text from the first."""
        if self.bert.config.segments < PAIR:
            raise DataError(
                f"{self.name or 'This model'} takes single texts, not pairs.",
                found="one segment only (type_vocab_size=1)",
                wanted="a segment for each text of a pair",
                do="give one text",
            )

    def _aside(self, what: str) -> None:
        """An engine hears of what it is not asked for: torch computes that."""
        if self.engine is not self.bert:
            self.engine.aside(what)

    def _read(self, text: str, second: str | None) -> tuple[Tensor, Tensor, Tensor]:
        """Tokens, lengths and segments of [CLS] text [SEP], or of [CLS] text [SEP] second [SEP]."""
        if second is not None:
            self.refuse_pairs()
        first = [self.tokenizer.start, *self.tokenizer.encode(text), self.tokenizer.end]
        behind = [] if second is None else [*self.tokenizer.encode(second), self.tokenizer.end]
        return self._batch(first, behind)

    def _batch(self, first: Sequence[int], second: Sequence[int] = ()) -> tuple[Tensor, Tensor, Tensor]:
        length = len(first) + len(second)
        if length > self.limit:
            raise too_long(length, self.limit)
        rows = ([[*first, *second]], [length], [[0] * len(first) + [1] * len(second)])
        tokens, lengths, segments = (torch.tensor(row, device=next(self.model.parameters()).device) for row in rows)
        return tokens, lengths, segments

    def _surface(self, id: int) -> str:
        return str(self.tokenizer.backend.id_to_token(id)).removeprefix(PREFIX)
