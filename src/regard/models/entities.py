"""Attention over things, not words: a set of entities, and any relation "can i see j?".

As in AlphaStar (Vinyals 2019, "Grandmaster level in StarCraft II", units) and the hide-and-seek agents (Baker 2020,
"Emergent Tool Use From Multi-Agent Autocurricula", arXiv:1909.07528, section 4: objects, masked by line of sight). New:
nothing is a word and nothing has a place in a row. An entity is what its features say,

    e(i) = W numbers(i) + the sum of E[category] over its categories,    x(i) = e(i) + FFN(e(i))

and the blocks are the Transformer's, without positions, under a mask that may be any relation. So the order in which
the entities are told means nothing: told in another order, they get the same outputs in that order (Zaheer 2017, "Deep
Sets"; Lee 2019, "Set Transformer"). What is asked for may be something of each entity or, pooled, of the whole.

Differs from the papers: they put a recurrent network behind the attention, to remember what was seen before.
"""

from typing import Literal

from jaxtyping import Bool, Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention import both, padding_mask, relation_mask
from regard.layers import POOLINGS, Block, Dropout, FeedForward, Shape
from regard.sections import Section


class EntitiesConfig(Section):
    """Sizes and choices."""

    width: int = Field(64, gt=0)
    heads: int = Field(4, gt=0)
    hidden: int = Field(128, gt=0)
    layers: int = Field(2, ge=1)
    dropout: float = Field(0.0, ge=0, lt=1)
    norm: Literal["pre", "post"] = "pre"
    pooling: Literal["mean", "max", "attention"] = Field("attention", description="for targets of the whole")
    limit: int = Field(256, gt=0, description="most entities of a scene")

    @model_validator(mode="after")
    def _heads_divide_width(self) -> "EntitiesConfig":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not divisible by heads {self.heads}: each takes an equal share")
        return self


PRESETS: dict[str, dict[str, object]] = {
    "tiny": {},
    "small": {"width": 128, "hidden": 512, "layers": 3, "dropout": 0.1},
}


class Entities(nn.Module):
    """Every entity looks at those that it can see; then each one, or all of them pooled, say what is asked for."""

    fresh, asks = ("features", "answer", "pool"), "answer"
    """What is new when it goes on from a model of other entities; what is if it has another target."""

    def __init__(
        self, config: EntitiesConfig, *, numbers: int, categories: int, outputs: int, of_each: bool = True
    ) -> None:
        """numbers, categories: how many an entity can have; outputs: classes, or 1 for a number; of_each: whether they
        are asked of every entity or of the whole."""
        super().__init__()
        self.config = config
        shape = Shape(
            width=config.width, heads=config.heads, hidden=config.hidden, dropout=config.dropout, norm=config.norm
        )
        self.features = Features(numbers, categories, config.width, config.hidden)
        self.encoder = nn.ModuleList(Block(shape, name=f"encoder.{i}") for i in range(config.layers))
        self.norm = nn.LayerNorm(config.width) if config.norm == "pre" else nn.Identity()
        self.pool = None if of_each else POOLINGS[config.pooling](config.width)
        self.dropout = Dropout(config.dropout)
        self.answer = nn.Linear(config.width, outputs)

    def forward(
        self,
        numbers: Float[Tensor, "B N F"],
        categories: Int[Tensor, "B N C"],
        lengths: Int[Tensor, "B"],
        relation: Bool[Tensor, "B N N"] | None = None,
    ) -> Float[Tensor, "B *N O"]:
        """Scores of classes, or a number: (B N O) of each entity, (B O) of the whole. relation[b, i, j]: i may look at
        j; None: everybody at everybody."""
        mask = padding_mask(lengths, numbers.shape[1])
        seen = mask if relation is None else both(mask, relation_mask(relation))
        x: Tensor = self.dropout(self.features(numbers, categories))
        for block in self.encoder:
            x, _ = block(x, mask=seen)
        states = self.norm(x)
        answers: Tensor = self.answer(self.dropout(states if self.pool is None else self.pool(states, lengths)))
        return answers


class Features(nn.Module):
    """What an entity is, as one vector. A category is a row of one table for all fields; row 0 means nothing."""

    def __init__(self, numbers: int, categories: int, width: int, hidden: int) -> None:
        super().__init__()
        self.numbers = nn.Linear(numbers, width)
        self.categories = nn.Embedding(categories + 1, width, padding_idx=0)
        self.mixed = FeedForward(width=width, hidden=hidden)

    def forward(self, numbers: Float[Tensor, "B N F"], categories: Int[Tensor, "B N C"]) -> Float[Tensor, "B N D"]:
        x: Tensor = self.numbers(numbers) + self.categories(categories).sum(-2)
        mixed: Tensor = self.mixed(x)
        return x + mixed
