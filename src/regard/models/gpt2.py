"""GPT-2. Radford et al. 2019, "Language Models are Unsupervised Multitask Learners".

The Transformer's decoder on its own: without a source there is no cross-attention, and each word looks back at those
before it, nowhere else. New: only the next word is ever asked for, of any text, so that all text teaches; what it is
to do is then said in the prompt. The norm stands before each sub-layer and once at the end, and what is added to the
residual stream starts smaller the more often something is added.

    x(i) = word + position  →  blocks, pre-norm, GELU by tanh  →  norm  →  softmax(E h(i)), E the embedding matrix

Differs from the paper: positions start as words do, with a deviation of 0.02 (it has 0.01); `bias=false` leaves out
every bias, as nanoGPT does.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any, Literal

import torch
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention import both, look_ahead_mask, padding_mask
from regard.errors import LimitError
from regard.layers import Block, Dropout, Shape, log_probabilities
from regard.layers.cache import Cache
from regard.layers.positions import Learned
from regard.sections import Section

START = 0.02
"""Standard deviation of all weights to begin with, but of those whose result is added to the residual stream."""


class GPT2Config(Section):
    """Sizes and choices; the defaults are the smallest model of the paper, of 124 million parameters."""

    width: int = Field(768, gt=0, description="numbers in the vector of a word")
    heads: int = Field(12, gt=0, description="attentions side by side; each takes an equal share of the width")
    hidden: int = Field(3072, gt=0, description="width of the feed-forward network's middle")
    layers: int = Field(12, ge=1, description="layers on top of each other")
    dropout: float = Field(0.1, ge=0, lt=1, description="of what each sub-layer adds")
    embedding_dropout: float = Field(0.1, ge=0, lt=1, description="the same of the embeddings")
    attention_dropout: float = Field(0.1, ge=0, lt=1, description="the same of attention weights")
    activation: Literal["relu", "gelu", "gelu-tanh"] = Field("gelu-tanh", description="of the feed-forward network")
    bias: bool = Field(True, description="of products and normalisations")
    limit: int = Field(1024, gt=1, description="how many tokens it can look at, the one that asks included")
    epsilon: float = Field(1e-5, gt=0, description="keeps normalisation from dividing by zero")

    @model_validator(mode="after")
    def _heads_divide_width(self) -> "GPT2Config":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not divisible by heads {self.heads}: each takes an equal share")
        return self


NO_DROPOUT: dict[str, object] = {"dropout": 0.0, "embedding_dropout": 0.0, "attention_dropout": 0.0}
PRESETS: dict[str, dict[str, object]] = {
    "tiny": {"width": 256, "heads": 4, "hidden": 1024, "layers": 4, "limit": 256},
    "char": {
        "width": 128, "heads": 4, "hidden": 512, "layers": 4, "limit": 64,
        "activation": "gelu", "bias": False, **NO_DROPOUT,
    },
    "small": {},
    "medium": {"width": 1024, "heads": 16, "hidden": 4096, "layers": 24},
}  # fmt: skip
"""char: what nanoGPT trains on a CPU, on the characters of Shakespeare. small and medium: those of the paper."""


@dataclass(frozen=True)
class State:
    """What decoding carries. `padding`: how many tokens before each row are none of its text; None if there are none.
    `least`: the fewest of them."""

    cache: Cache
    padding: Int[Tensor, "R"] | None
    least: int = 0


class GPT2(nn.Module):
    """Blocks that look back. `output` gives scores over the vocabulary, with the matrix of the embedding; it is applied
    to what `forward` gives."""

    def __init__(self, config: GPT2Config, *, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        shape = Shape(
            width=config.width,
            heads=config.heads,
            hidden=config.hidden,
            dropout=config.dropout,
            activation=config.activation,
            norm="pre",
            attention_dropout=config.attention_dropout,
            epsilon=config.epsilon,
            bias=config.bias,
        )
        self.words = nn.Embedding(vocabulary, config.width)
        self.positions = Learned(config.limit, config.width)
        self.dropout = Dropout(config.embedding_dropout)
        self.decoder = nn.ModuleList(Block(shape, name=f"decoder.{i}") for i in range(config.layers))
        self.norm = nn.LayerNorm(config.width, eps=config.epsilon, bias=config.bias)
        self.output = nn.Linear(config.width, vocabulary, bias=False, device="meta")  # it gets its matrix below
        self.output.weight = self.words.weight
        _begin(self)

    def forward(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """For every place at once, the state from which its next word is predicted. Padding behind a text needs no
        mask: nobody looks that way."""
        length = tokens.shape[1]
        self._check(length)
        x = self.dropout(self.words(tokens) + self.positions(0, length))
        mask = look_ahead_mask(length, device=tokens.device)
        for block in self.decoder:
            x, _ = block(x, mask=mask)
        normed: Tensor = self.norm(x)
        return normed

    # The stepper: one word at a time, with everything reused that does not change.

    @torch.inference_mode()
    def start(self, source: Int[Tensor, "B"] | None, prefix: Int[Tensor, "B P"]) -> State:
        """Reads prompts in one pass. Where they differ in length, the shorter ones have padding before them, and
        `source` says how much each of them has. (None: none has any.)"""
        rows, length = prefix.shape
        cache = Cache.empty(
            self.words.weight,
            layers=self.config.layers,
            rows=rows,
            heads=self.config.heads,
            width=self.config.width // self.config.heads,
        )
        state = _padded(cache, source)
        return self._read(prefix, state)[1] if length else state

    @torch.inference_mode()
    def step(self, tokens: Int[Tensor, "R"], state: State) -> tuple[Float[Tensor, "R V"], State]:
        """Log-probabilities of the word after `tokens`, for each hypothesis."""
        hidden, state = self._read(tokens[:, None], state)
        return log_probabilities(self.output, hidden[:, -1]), state

    @torch.inference_mode()
    def reorder(self, state: State, rows: Int[Tensor, "N"]) -> State:
        """The state in which hypothesis i continues what was hypothesis rows[i]."""
        padding = None if state.padding is None else state.padding[rows]
        return _padded(state.cache.reordered(rows), padding)

    def _read(self, tokens: Int[Tensor, "R T"], state: State) -> tuple[Float[Tensor, "R T D"], State]:
        """What forward gives for tokens that follow those of the state."""
        first, steps = state.cache.length, tokens.shape[1]
        self._check(first + steps - state.least)
        cache = state.cache.longer(steps)
        x = self.dropout(self.words(tokens) + self._places(first, steps, state.padding))
        mask = _mask(steps, cache.length, state.padding, tokens.device)
        blocks: Iterable[Any] = self.decoder
        for layer, block in enumerate(blocks):
            x = block.step(x, extend=partial(cache.extend, layer), mask=mask)
        return self.norm(x), State(cache, state.padding, state.least)

    def _places(self, first: int, steps: int, padding: Tensor | None) -> Float[Tensor, "*R T D"]:
        """Each text begins at position 0, behind its padding."""
        if padding is None:
            alike: Tensor = self.positions(first, steps)
            return alike
        places = torch.arange(first, first + steps, device=padding.device) - padding[:, None]
        return self.positions.at(places.clamp(min=0))

    def _check(self, length: int) -> None:
        if length > self.config.limit:
            raise LimitError(
                "The text is longer than the model can look back.",
                found=f"{length} tokens",
                wanted=f"at most {self.config.limit} (model.limit)",
                do="give less of it, or let the window slide",
            )


def _padded(cache: Cache, padding: Tensor | None) -> State:
    """Rows of which none has padding need no mask."""
    if padding is None or not padding.any():
        return State(cache, None)
    return State(cache, padding, int(padding.min()))


def _mask(steps: int, keys: int, padding: Tensor | None, device: torch.device) -> Tensor | None:
    """Backwards only, and not at padding; a single new word may look at everything else so far."""
    text = None if padding is None else ~padding_mask(padding, keys)
    return both(look_ahead_mask(steps, keys, device=device) if steps > 1 else None, text)


def _begin(model: GPT2) -> None:
    """Weights as GPT-2 starts with them (section 2.3): what 2L sub-layers add is divided by √(2L), so that the sum does
    not grow with depth."""
    blocks: Iterable[Any] = model.decoder
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding) and module is not model.output:
            nn.init.normal_(module.weight, std=START)
    for block in blocks:
        for adds in (block.self_attention.output, block.feed_forward.contract):
            nn.init.normal_(adds.weight, std=START / sqrt(2 * model.config.layers))
