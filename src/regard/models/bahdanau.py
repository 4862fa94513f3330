"""The first attention. Bahdanau, Cho & Bengio 2015, "Neural Machine Translation by Jointly Learning to Align and
Translate", arXiv:1409.0473.

New since Cho 2014: the source is not one vector but one annotation h(j) per word, from both directions; for each target
word the decoder, in its state *before* that word, looks for the annotations that matter. In the paper's order,

    c(i) = c(H, s(i-1))              look            `Align` with the additive score
    s(i) = f(c(i), s(i-1), y(i-1))   then update     `Update`
    y(i) = g(c(i), s(i), y(i-1))     then speak      `Readout`

(Luong 2015 updates first and looks afterwards.) The letters below are those of the paper's appendix A.

Differs from the paper: the appendix prints s(i-1) in the readout where section 3.1, eq. 4, has s(i); we take s(i), as
it has seen c(i). W_a, U_a and the maxout have no bias, as printed; gates and s(0) have one, which the paper leaves out
of its equations for brevity. Embeddings are multiplied by √m. Dropout on embeddings, annotations and readout. Weights
start orthogonal (state to state) or Glorot-uniform.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn

from regard.attention import Additive
from regard.data.batches import Sentences
from regard.layers import Align, Dropout, Encoder, Memory, embeddings, log_probabilities, output_layer
from regard.layers.recurrent import ChoGRU
from regard.sections import Section


class BahdanauConfig(Section):
    """Sizes and choices; the preset `paper` is RNNsearch."""

    width: int = Field(1000, gt=0, description="n: of the decoder's state, and of each direction of the encoder")
    embedding: int = Field(0, ge=0, description="m; 0: the width")
    alignment: int = Field(0, ge=0, description="n': hidden units of the score; 0: the width")
    readout: int = Field(0, ge=0, description="l: maxout units; 0: the width of the embedding")
    normalise: Literal["soft", "hard"] = Field("soft", description="hard: the best place only, after training")
    dropout: float = Field(0.0, ge=0, lt=1, description="share of numbers that are left out while training")
    tie: Literal["all", "target", "none"] = Field(
        "none", description="one embedding matrix for all, for target and output, or none shared"
    )
    limit: int = Field(256, gt=1, description="longest sentence in tokens, end mark included")


PRESETS: dict[str, dict[str, object]] = {
    "tiny": {"width": 160, "dropout": 0.2, "tie": "all"},
    "small": {"width": 384, "dropout": 0.2, "tie": "all"},
    "paper": {"embedding": 620, "readout": 500},
}


class Update(nn.Module):
    """f: s(i) = (1 − z) ∘ s(i-1) + z ∘ s̃, gated by what was said, what was looked at and the state before:

    z = σ(W_z E y + U_z s + C_z c)    r = σ(W_r E y + U_r s + C_r c)    s̃ = tanh(W E y + U [r ∘ s] + C c)
    """

    def __init__(self, *, embedding: int, context: int, width: int) -> None:
        super().__init__()
        self.cell = ChoGRU(embedding, width)
        self.context = nn.Linear(context, 3 * width, bias=False)
        for block in self.context.weight.chunk(3):
            nn.init.xavier_uniform_(block)

    def project(self, y: Float[Tensor, "R T E"]) -> Float[Tensor, "R T G"]:
        """W E y for all words at once, the gates z, r and the candidate side by side."""
        return self.cell.project(y)

    def forward(
        self, c: Float[Tensor, "R C"], s: Float[Tensor, "R D"], projected: Float[Tensor, "R G"]
    ) -> Float[Tensor, "R D"]:
        (state,) = self.cell.step(projected + self.context(c), (s,))
        return state


class Readout(nn.Module):
    """g: t(i) = pairwise max of t̃(i) = U_o s(i) + V_o E y(i-1) + C_o c(i) (maxout, Goodfellow 2013)."""

    def __init__(self, *, context: int, width: int, embedding: int, units: int) -> None:
        super().__init__()
        self.state = nn.Linear(width, 2 * units, bias=False)
        self.word = nn.Linear(embedding, 2 * units, bias=False)
        self.context = nn.Linear(context, 2 * units, bias=False)
        for part in (self.state, self.word, self.context):
            nn.init.xavier_uniform_(part.weight)

    def forward(
        self, c: Float[Tensor, "R T C"], s: Float[Tensor, "R T D"], y: Float[Tensor, "R T E"]
    ) -> Float[Tensor, "R T L"]:
        pairs = (self.state(s) + self.word(y) + self.context(c)).unflatten(-1, (-1, 2))
        return torch.maximum(pairs[..., 0], pairs[..., 1])


@dataclass(frozen=True)
class State:
    """What decoding carries: per sentence (B) the annotations, per hypothesis (R) the decoder's state."""

    memory: Memory
    s: Float[Tensor, "R D"]


class Bahdanau(nn.Module):
    """RNNsearch: a bidirectional encoder, and a decoder that searches through it."""

    def __init__(
        self, config: BahdanauConfig, *, source_vocabulary: int, target_vocabulary: int, joint: bool = True
    ) -> None:
        super().__init__()
        self.config = config
        width, embedding = config.width, config.embedding or config.width
        readout = config.readout or embedding
        self.target_embedding, self.source_embedding = embeddings(
            config.tie, embedding, source=source_vocabulary, target=target_vocabulary, joint=joint
        )
        self.encoder = Encoder("gru-cho", inputs=embedding, width=2 * width, directions=2)
        self.begin = nn.Linear(width, width)
        self.align = Align(Additive(query=width, key=2 * width, width=config.alignment), normalise=config.normalise)
        self.update = Update(embedding=embedding, context=2 * width, width=width)
        self.readout = Readout(context=2 * width, width=width, embedding=embedding, units=readout)
        self.dropout = Dropout(config.dropout)
        self.output = output_layer(self.target_embedding, tied=config.tie != "none", width=readout)

    def encode(self, source: Int[Tensor, "B S"], lengths: Int[Tensor, "B"]) -> State:
        """h(j) = [→h(j); ←h(j)] for each source word, and s(0) = tanh(W_s ←h(1))."""
        annotations, ((last,),) = self.encoder(self.dropout(self.source_embedding(source)), lengths)
        _, backward = last.chunk(2, dim=-1)
        memory = self.align.remember(self.dropout(annotations), lengths)
        return State(memory, torch.tanh(self.begin(backward)))

    def forward(
        self, source: Int[Tensor, "B S"], lengths: Int[Tensor, "B"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T L"]:
        """For every prefix of the target, the t(i) from which its next word is predicted."""
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
        return State(state.memory.keep(rows, of=len(state.s)), state.s[rows])

    def _decode(self, target: Int[Tensor, "R T"], state: State) -> tuple[Float[Tensor, "R T L"], State]:
        y, s = self.dropout(self.target_embedding(target)), state.s
        contexts, states = [], []
        for projected in self.update.project(y.transpose(0, 1)).unbind(0):
            c = self.align(s[:, None], state.memory)[:, 0]
            s = self.update(c, s, projected)
            contexts.append(c)
            states.append(s)
        hidden = self.readout(torch.stack(contexts, dim=1), torch.stack(states, dim=1), y)
        return self.dropout(hidden), State(state.memory, s)
