"""BERT. Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional Transformers", arXiv:1810.04805.

The Transformer's encoder on its own. New: it is trained without labels, by guessing words that were masked from both
their sides, and whether one sentence follows another; what it has learned then serves other tasks with one layer more.

    x(i) = norm(word + position + segment)  →  blocks, post-norm, activation f = GELU  →  h(i)
    masked words   softmax(E · norm(f(W h(i))) + b), E the embedding matrix
    next sentence  softmax(W tanh(W_p h([CLS])))

Differs from the paper: weights start from a normal distribution that is not cut off at two standard deviations.
"""

from collections.abc import Iterator
from typing import Any, Literal

import torch
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention import padding_mask
from regard.layers import ACTIVATIONS, Block, Dropout, Shape
from regard.layers.positions import Learned
from regard.sections import Section

START = 0.02
"""Standard deviation of all weights to begin with."""


class BertConfig(Section):
    """Sizes and choices; the defaults are BERT-base."""

    width: int = Field(768, gt=0, description="numbers in the vector of a word")
    heads: int = Field(12, gt=0, description="attentions side by side; each takes an equal share of the width")
    hidden: int = Field(3072, gt=0, description="width of the feed-forward network's middle")
    layers: int = Field(12, ge=1, description="layers on top of each other")
    dropout: float = Field(0.1, ge=0, lt=1, description="share of numbers that are left out while training")
    attention_dropout: float = Field(0.1, ge=0, lt=1, description="the same of attention weights")
    activation: Literal["relu", "gelu", "gelu-tanh"] = Field("gelu", description="of the feed-forward network")
    segments: int = Field(2, ge=1, description="kinds of sentences that are told apart: the first, the second")
    limit: int = Field(512, gt=2, description="longest text in tokens, marks included")
    epsilon: float = Field(1e-12, gt=0, description="keeps normalisation from dividing by zero")

    @model_validator(mode="after")
    def _heads_divide_width(self) -> "BertConfig":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not divisible by heads {self.heads}: each takes an equal share")
        return self


PRESETS: dict[str, dict[str, object]] = {
    "tiny": {"width": 128, "heads": 2, "hidden": 512, "layers": 2},
    "mini": {"width": 256, "heads": 4, "hidden": 1024, "layers": 4},
    "small": {"width": 512, "heads": 8, "hidden": 2048, "layers": 4},
    "base": {},
}
"""The small ones are those of Turc et al. 2019, "Well-Read Students Learn Better"."""


class Bert(nn.Module):
    """The encoder."""

    def __init__(self, config: BertConfig, *, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        shape = Shape(
            width=config.width,
            heads=config.heads,
            hidden=config.hidden,
            dropout=config.dropout,
            activation=config.activation,
            norm="post",
            attention_dropout=config.attention_dropout,
            epsilon=config.epsilon,
        )
        self.words = nn.Embedding(vocabulary, config.width)
        self.positions = Learned(config.limit, config.width)
        self.segments = nn.Embedding(config.segments, config.width)
        self.norm = nn.LayerNorm(config.width, eps=config.epsilon)
        self.dropout = Dropout(config.dropout)
        self.encoder = nn.ModuleList(Block(shape, name=f"encoder.{i}") for i in range(config.layers))
        self.pooler = nn.Linear(config.width, config.width)
        begin(self)

    def layers(
        self, tokens: Int[Tensor, "B S"], lengths: Int[Tensor, "B"], segments: Int[Tensor, "B S"] | None = None
    ) -> Iterator[Float[Tensor, "B S D"]]:
        """The embeddings, then what each layer makes of them."""
        kinds = torch.zeros_like(tokens) if segments is None else segments
        places = self.positions(0, tokens.shape[1])
        x: Tensor = self.dropout(self.norm(self.words(tokens) + places + self.segments(kinds)))
        mask = padding_mask(lengths, tokens.shape[1])
        yield x
        for block in self.encoder:
            x, _ = block(x, mask=mask)
            yield x

    def forward(
        self, tokens: Int[Tensor, "B S"], lengths: Int[Tensor, "B"], segments: Int[Tensor, "B S"] | None = None
    ) -> Float[Tensor, "B S D"]:
        """Each token in the light of all others."""
        *_, last = self.layers(tokens, lengths, segments)
        return last

    def pooled(self, hidden: Float[Tensor, "B S D"]) -> Float[Tensor, "B D"]:
        """tanh(W h([CLS])): the text as a whole, as next-sentence prediction has shaped it."""
        return torch.tanh(self.pooler(hidden[:, 0]))


class BertForPretraining(nn.Module):
    """With both tasks that it is pretrained by. `output` gives scores over the vocabulary, with the matrix of the
    embedding and a bias; it is applied to `guesses`."""

    def __init__(self, config: BertConfig, *, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        self.bert = Bert(config, vocabulary=vocabulary)
        self.transform = nn.Linear(config.width, config.width)
        self.activation = ACTIVATIONS[config.activation]
        self.norm = nn.LayerNorm(config.width, eps=config.epsilon)
        self.output = nn.Linear(config.width, vocabulary)
        self.follows = nn.Linear(config.width, 2)
        begin(self)
        self.output.weight = self.bert.words.weight

    def guesses(self, hidden: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        """What a token was, before the product with the vocabulary."""
        guessed: Tensor = self.norm(self.activation(self.transform(hidden)))
        return guessed

    def next_sentence(self, hidden: Float[Tensor, "B S D"]) -> Float[Tensor, "B 2"]:
        """Scores: the second sentence follows the first; it comes from elsewhere."""
        scores: Tensor = self.follows(self.bert.pooled(hidden))
        return scores


class BertEncoder(nn.Module):
    """Without any head: what sentence vectors are made with (Reimers 2019, "Sentence-BERT", arXiv:1908.10084)."""

    fresh = ()
    """It has nothing that a pretrained one has not."""

    def __init__(self, config: BertConfig, *, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        self.bert = Bert(config, vocabulary=vocabulary)

    def forward(self, tokens: Int[Tensor, "B S"], lengths: Int[Tensor, "B"]) -> Float[Tensor, "B S D"]:
        """Each token in the light of all others."""
        hidden: Tensor = self.bert(tokens, lengths)
        return hidden


class BertClassifier(nn.Module):
    """With a linear layer on what it makes of [CLS] (Devlin 2018, section 4.1)."""

    fresh, asks = ("classify",), "classify"
    """What is new when it goes on from a model of another task, or of other classes."""

    def __init__(self, config: BertConfig, *, vocabulary: int, labels: int) -> None:
        super().__init__()
        self.config = config
        self.bert = Bert(config, vocabulary=vocabulary)
        self.dropout = Dropout(config.dropout)
        self.classify = nn.Linear(config.width, labels)
        begin(self)

    def forward(
        self, tokens: Int[Tensor, "B S"], lengths: Int[Tensor, "B"], segments: Int[Tensor, "B S"]
    ) -> Float[Tensor, "B C"]:
        """A score for each label."""
        pooled = self.bert.pooled(self.bert(tokens, lengths, segments))
        scores: Tensor = self.classify(self.dropout(pooled))
        return scores


def begin(model: nn.Module) -> None:
    """Weights as BERT starts with them."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=START)
        bias: Any = getattr(module, "bias", None)
        if isinstance(module, nn.Linear) and bias is not None:
            nn.init.zeros_(bias)
