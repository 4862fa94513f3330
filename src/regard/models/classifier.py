"""Classifiers of texts before BERT: a recurrent one, and the Transformer's encoder without pretraining.

The recurrent classifier of the literature (Elman 1990 to Yang 2016): an embedding, recurrent layers in one or two
directions, one vector for the text, one linear layer. What the vector is, is a choice, and one sees what each keeps:
`pooling="last"` is the last state of each direction (all that is kept must survive to the end), "mean" and "max" count
every word, "attention" lets the task decide which words count (Yang 2016, arXiv via NAACL N16-1174), and `look` shows
them.

The same headlines, labelled once by topic and once by something else, keep different words: tests/models/
test_headlines.py trains both.

A text comes as [CLS] words [SEP], two texts as [CLS] words [SEP] words [SEP], as in BERT.
"""

from typing import Literal

from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention import padding_mask
from regard.layers import POOLINGS, POSITIONS, Block, Dropout, Embedding, Encoder, Shape
from regard.sections import Section


class RecurrentClassifierConfig(Section):
    """Sizes and choices."""

    width: int = Field(128, gt=0, description="of the state, both directions together")
    embedding: int = Field(0, ge=0, description="0: the width of the state")
    layers: int = Field(1, ge=1, description="layers on top of each other")
    cell: Literal["gru", "gru-cho", "lstm"] = Field("lstm", description="kind of recurrent layer")
    directions: Literal[1, 2] = Field(2, description="2: also from the end of the sentence")
    pooling: Literal["last", "mean", "max", "attention"] = Field("attention", description="what of a text is kept")
    dropout: float = Field(0.3, ge=0, lt=1, description="share of numbers that are left out while training")
    limit: int = Field(256, gt=2, description="longest text in tokens, marks included")

    @model_validator(mode="after")
    def _directions_divide_width(self) -> "RecurrentClassifierConfig":
        if self.width % self.directions:
            raise ValueError(f"width {self.width} cannot be shared by two directions: it is odd")
        return self


RECURRENT_PRESETS: dict[str, dict[str, object]] = {
    "tiny": {},
    "small": {"width": 256},
    "stacked": {"width": 256, "layers": 2},
}


class RecurrentClassifier(nn.Module):
    """Reads a text word by word and says what it is."""

    fresh, asks = ("classify",), "classify"
    """What is new when it goes on from a model of another task, or of other classes."""

    def __init__(self, config: RecurrentClassifierConfig, *, vocabulary: int, labels: int) -> None:
        super().__init__()
        self.config = config
        embedding = config.embedding or config.width
        self.embedding = Embedding(vocabulary, embedding)
        self.encoder = Encoder(
            config.cell,
            inputs=embedding,
            width=config.width,
            layers=config.layers,
            directions=config.directions,
            dropout=config.dropout,
        )
        self.pool = None if config.pooling == "last" else POOLINGS[config.pooling](config.width)
        self.dropout = Dropout(config.dropout)
        self.classify = nn.Linear(config.width, labels)

    def forward(
        self, tokens: Int[Tensor, "B S"], lengths: Int[Tensor, "B"], segments: Int[Tensor, "B S"]
    ) -> Float[Tensor, "B C"]:
        """A score for each label. Which text a word belongs to is left to the [SEP] between them."""
        states, finals = self.encoder(self.dropout(self.embedding(tokens)), lengths)
        # "last" is not the state at the last word: the backward direction has read everything at the first
        pooled = finals[-1][0] if self.pool is None else self.pool(states, lengths)
        scores: Tensor = self.classify(self.dropout(pooled))
        return scores


class TransformerClassifierConfig(Section):
    """Sizes and choices."""

    width: int = Field(128, gt=0, description="numbers in the vector of a word")
    heads: int = Field(4, gt=0, description="attentions side by side; each takes an equal share of the width")
    hidden: int = Field(256, gt=0, description="width of the feed-forward network's middle")
    layers: int = Field(2, ge=1, description="layers on top of each other")
    dropout: float = Field(0.2, ge=0, lt=1, description="share of numbers that are left out while training")
    norm: Literal["pre", "post"] = Field("pre", description="before each sub-layer, or after it as in the paper")
    positions: Literal["sinusoidal", "learned", "none"] = Field(
        "sinusoidal", description="how a word knows where it stands"
    )
    pooling: Literal["first", "mean", "max", "attention"] = Field("mean", description="what of a text is kept")
    limit: int = Field(256, gt=2, description="longest text in tokens, marks included")

    @model_validator(mode="after")
    def _heads_divide_width(self) -> "TransformerClassifierConfig":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not divisible by heads {self.heads}: each takes an equal share")
        return self


TRANSFORMER_PRESETS: dict[str, dict[str, object]] = {
    "tiny": {},
    "small": {"width": 256, "hidden": 1024, "layers": 3},
}


class TransformerClassifier(nn.Module):
    """The Transformer's encoder, one vector of its states, one linear layer."""

    fresh, asks = ("classify",), "classify"
    """What is new when it goes on from a model of another task, or of other classes."""

    def __init__(self, config: TransformerClassifierConfig, *, vocabulary: int, labels: int) -> None:
        super().__init__()
        self.config = config
        shape = Shape(
            width=config.width, heads=config.heads, hidden=config.hidden, dropout=config.dropout, norm=config.norm
        )
        self.embedding = Embedding(vocabulary, config.width)
        self.positions = POSITIONS[config.positions](config.limit, config.width)
        self.encoder = nn.ModuleList(Block(shape, name=f"encoder.{i}") for i in range(config.layers))
        self.norm = nn.LayerNorm(config.width) if config.norm == "pre" else nn.Identity()
        self.pool = POOLINGS[config.pooling](config.width)
        self.dropout = Dropout(config.dropout)
        self.classify = nn.Linear(config.width, labels)

    def forward(
        self, tokens: Int[Tensor, "B S"], lengths: Int[Tensor, "B"], segments: Int[Tensor, "B S"]
    ) -> Float[Tensor, "B C"]:
        """A score for each label."""
        mask = padding_mask(lengths, tokens.shape[1])
        x: Tensor = self.dropout(self.embedding(tokens) + self.positions(0, tokens.shape[1]))
        for block in self.encoder:
            x, _ = block(x, mask=mask)
        scores: Tensor = self.classify(self.dropout(self.pool(self.norm(x), lengths)))
        return scores
