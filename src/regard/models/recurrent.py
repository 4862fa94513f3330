"""The recurrent encoder–decoder, without attention.

Cho et al. 2014, "Learning Phrase Representations using RNN Encoder–Decoder", arXiv:1406.1078;
Sutskever et al. 2014, "Sequence to Sequence Learning with Neural Networks", arXiv:1409.3215.

New: one network reads a sentence of any length into one vector, c = h(T); another writes a sentence from it. Everything
that the second will ever know of the source must fit that vector, however long the sentence was: the bottleneck that
attention removed.

`context="every-step"` is Cho's: c is given to the decoder at each step, s(i) = f(s(i-1), y(i-1), c), and to the output.
`context="start"` is Sutskever's: c is only where the decoder begins; `reverse` reads the source from its end, as there.

Differs from the papers: where Cho has a maxout before the output, there is a tanh layer (of the embedding's width, so
that the output can share its matrix), in Sutskever's form too; c is h(T) itself, without a layer of its own, and enters
the decoder's gates as part of the input, not under the reset gate; embeddings are multiplied by √m; dropout on
embeddings, between layers and before the output; weights start orthogonal or Glorot-uniform; `directions=2` gives each
direction half of the width.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.data.batches import Sentences
from regard.layers import Decoder, Dropout, Encoder, backwards, embeddings, log_probabilities, output_layer
from regard.layers import State as Layer
from regard.sections import Section


class RecurrentConfig(Section):
    """Sizes and choices; the presets `cho` and `sutskever` are the papers' (Cho's in the sizes of Bahdanau 2015)."""

    width: int = Field(1000, gt=0, description="of the state")
    embedding: int = Field(0, ge=0, description="0: the width of the state")
    layers: int = Field(1, ge=1, description="layers on top of each other")
    cell: Literal["gru", "gru-cho", "lstm"] = Field("gru-cho", description="kind of recurrent layer")
    directions: Literal[1, 2] = Field(1, description="2: also from the end of the sentence")
    reverse: bool = Field(False, description="read the source from its end (Sutskever 2014)")
    context: Literal["every-step", "start"] = Field(
        "every-step", description="given at every step (Cho), or only to begin with (Sutskever)"
    )
    dropout: float = Field(0.0, ge=0, lt=1, description="share of numbers that are left out while training")
    tie: Literal["all", "target", "none"] = Field(
        "none", description="one embedding matrix for all, for target and output, or none shared"
    )
    limit: int = Field(256, gt=1, description="longest sentence in tokens, end mark included")

    @model_validator(mode="after")
    def _directions_divide_width(self) -> "RecurrentConfig":
        if self.width % self.directions:
            raise ValueError(f"width {self.width} cannot be shared by two directions: it is odd")
        return self


PRESETS: dict[str, dict[str, object]] = {
    "tiny": {"width": 192, "cell": "gru", "directions": 2, "dropout": 0.2, "tie": "all"},
    "small": {"width": 512, "cell": "gru", "directions": 2, "dropout": 0.2, "tie": "all"},
    "cho": {"embedding": 620},
    "sutskever": {"cell": "lstm", "layers": 4, "reverse": True, "context": "start"},
}


@dataclass(frozen=True)
class State:
    """What decoding carries, per hypothesis: what the source was, and each layer's state."""

    context: Float[Tensor, "R D"]
    layers: list[Layer]


class Recurrent(nn.Module):
    """An encoder that ends in one vector, and a decoder that begins with it."""

    def __init__(
        self, config: RecurrentConfig, *, source_vocabulary: int, target_vocabulary: int, joint: bool = True
    ) -> None:
        super().__init__()
        self.config = config
        width, embedding = config.width, config.embedding or config.width
        self.target_embedding, self.source_embedding = embeddings(
            config.tie, embedding, source=source_vocabulary, target=target_vocabulary, joint=joint
        )
        self.encoder = Encoder(
            config.cell,
            inputs=embedding,
            width=width,
            layers=config.layers,
            directions=config.directions,
            dropout=config.dropout,
        )
        every_step = config.context == "every-step"
        self.begin = nn.Linear(width, width) if every_step else None
        fed = embedding + width if every_step else embedding
        self.decoder = Decoder(config.cell, inputs=fed, width=width, layers=config.layers, dropout=config.dropout)
        self.readout = nn.Linear(width + fed, embedding)
        self.dropout = Dropout(config.dropout)
        self.output = output_layer(self.target_embedding, tied=config.tie != "none")

    def encode(self, source: Int[Tensor, "B S"], lengths: Int[Tensor, "B"]) -> State:
        """Reads the source; all that is kept of it is the last state."""
        source = backwards(source, lengths) if self.config.reverse else source
        _, layers = self.encoder(self.dropout(self.source_embedding(source)), lengths)
        context = layers[-1][0]
        if self.begin is not None:  # h'(0) = tanh(V c), in every layer (Cho 2014, appendix A)
            begin = torch.tanh(self.begin(context))
            layers = [(begin, *(torch.zeros_like(part) for part in rest)) for _, *rest in layers]
        return State(context, layers)

    def forward(
        self, source: Int[Tensor, "B S"], lengths: Int[Tensor, "B"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T D"]:
        """For every prefix of the target, the state from which its next word is predicted."""
        hidden, _ = self._decode(target, self.encode(source, lengths))
        return hidden

    # The stepper: one word at a time.

    def start(self, source: Sentences, prefix: Int[Tensor, "B P"]) -> State:
        """Reads the source, and the prefix (which may be empty)."""
        state = self.encode(source.tokens, source.lengths)
        return self._decode(prefix, state)[1] if prefix.shape[1] else state

    def step(self, tokens: Int[Tensor, "R"], state: State) -> tuple[Float[Tensor, "R V"], State]:
        """Log-probabilities of the word after `tokens`, for each hypothesis."""
        hidden, state = self._decode(tokens[:, None], state)
        return log_probabilities(self.output, hidden[:, -1]), state

    def reorder(self, state: State, rows: Int[Tensor, "N"]) -> State:
        """The state in which hypothesis i continues what was hypothesis rows[i]."""
        layers = [tuple(part[rows] for part in layer) for layer in state.layers]
        return State(state.context[rows], layers)

    def _decode(self, target: Int[Tensor, "R T"], state: State) -> tuple[Float[Tensor, "R T D"], State]:
        x = self.dropout(self.target_embedding(target))
        if self.begin is not None:
            x = torch.cat((x, state.context[:, None].expand(-1, x.shape[1], -1)), dim=-1)
        said, layers = self.decoder(x, state.layers)
        hidden = torch.tanh(self.readout(torch.cat((self.dropout(said), x), dim=-1)))
        return self.dropout(hidden), State(state.context, layers)
