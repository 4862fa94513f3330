"""Attention made simpler and tried in every form. Luong, Pham & Manning 2015, "Effective Approaches to Attention-based
Neural Machine Translation", arXiv:1508.04025.

New since Bahdanau 2015: the decoder updates first and looks afterwards, with its new state h(t) as query; stacked
LSTMs on both sides; several scores; and windows, so that a long source is not looked at as a whole:

    global    everywhere
    local-m   around p(t) = t: source and target are taken to run in step
    local-p   around p(t) = S · σ(v_p · tanh(W_p h(t))), predicted; the weights are multiplied by a Gaussian around it

The attentional vector h̃(t) = tanh(W_c [c(t); h(t)]) speaks, and, with input feeding, is read beside the next word, so
that the decoder knows where it has looked (eq. 5; section 3.3).

Differs from the paper: `directions=2` (not in the paper) gives each direction half of the width; dropout also falls on
the embeddings and on h̃(t) before the output; embeddings are multiplied by √D; weights start orthogonal or
Glorot-uniform; the memory of a source that was read backwards is put in order again, so that windows move forwards;
p(t) counts places from 0. A local-m window beyond the end of the source shows nothing: its context is zero.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention import SCORES, window_mask
from regard.data.batches import Sentences
from regard.layers import (
    Align,
    Decoder,
    Dropout,
    Encoder,
    Memory,
    backwards,
    embeddings,
    fold,
    log_probabilities,
    output_layer,
)
from regard.layers import State as Layer
from regard.sections import Section

ALLOWED = {
    "global": ("dot", "general", "concat", "location"),
    "local-m": ("dot", "general", "concat"),
    "local-p": ("dot", "general", "concat"),
}
"""The scores of each window (the paper's sections 3.1 and 3.2: in a window, the alignment is by content)."""


class LuongConfig(Section):
    """Sizes and choices; the defaults are the paper's best single model."""

    width: int = Field(1000, gt=0, description="of the states on both sides")
    embedding: int = Field(0, ge=0, description="0: the width of the states")
    layers: int = Field(4, ge=1, description="layers on top of each other")
    cell: Literal["lstm", "gru", "gru-cho"] = Field("lstm", description="kind of recurrent layer")
    directions: Literal[1, 2] = Field(1, description="2: also from the end of the sentence")
    reverse: bool = Field(True, description="read the source from its end")
    score: Literal["dot", "general", "concat", "location"] = Field(
        "general", description="how queries and keys are compared"
    )
    window: Literal["global", "local-m", "local-p"] = Field(
        "local-p", description="which part of the source may be looked at"
    )
    radius: int = Field(10, gt=0, description="D: places to either side that a window shows")
    input_feeding: bool = Field(True, description="give h̃(t-1) to the decoder beside the word")
    normalise: Literal["soft", "hard"] = Field("soft", description="hard: the best place only, after training")
    dropout: float = Field(0.2, ge=0, lt=1, description="share of numbers that are left out while training")
    tie: Literal["all", "target", "none"] = Field(
        "none", description="one embedding matrix for all, for target and output, or none shared"
    )
    limit: int = Field(256, gt=1, description="longest sentence in tokens, end mark included")

    @model_validator(mode="after")
    def _is_in_the_paper(self) -> "LuongConfig":
        if self.width % self.directions:
            raise ValueError(f"width {self.width} cannot be shared by two directions: it is odd")
        if self.score not in ALLOWED[self.window]:
            windows = [window for window, scores in ALLOWED.items() if self.score in scores]
            raise ValueError(
                f"score {self.score} with window {self.window} is not in the paper. With window={self.window}: score="
                f"{', '.join(ALLOWED[self.window])}. With score={self.score}: window={', '.join(windows)}"
            )
        return self


PRESETS: dict[str, dict[str, object]] = {
    "tiny": {
        "width": 192, "layers": 1, "directions": 2, "reverse": False, "window": "global", "tie": "all",
    },
    "small": {
        "width": 384, "layers": 2, "directions": 2, "reverse": False, "window": "global", "tie": "all",
    },
    "paper": {},
}  # fmt: skip


class Position(nn.Module):
    """p(t) = S · σ(v_p · tanh(W_p h(t))) (eq. 9)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, 1, bias=False)

    def forward(self, h: Float[Tensor, "B N D"], lengths: Int[Tensor, "B"]) -> Float[Tensor, "B N"]:
        share: Tensor = torch.sigmoid(self.v(torch.tanh(self.hidden(h))))[..., 0]
        return lengths[:, None] * share


@dataclass(frozen=True)
class State:
    """What decoding carries: per sentence (B) the memory, per hypothesis (R) each layer's state and the last h̃."""

    memory: Memory
    layers: list[Layer]
    attentional: Float[Tensor, "R D"]
    length: int
    rows: int


class Luong(nn.Module):
    """Stacked recurrent encoder and decoder; the decoder's top state looks at the encoder's."""

    def __init__(
        self, config: LuongConfig, *, source_vocabulary: int, target_vocabulary: int, joint: bool = True
    ) -> None:
        super().__init__()
        self.config = config
        width, embedding = config.width, config.embedding or config.width
        self.target_embedding, self.source_embedding = embeddings(
            config.tie, embedding, source=source_vocabulary, target=target_vocabulary, joint=joint
        )
        layers, dropout = config.layers, config.dropout
        self.encoder = Encoder(
            config.cell, inputs=embedding, width=width, layers=layers, directions=config.directions, dropout=dropout
        )
        fed = embedding + width if config.input_feeding else embedding
        self.decoder = Decoder(config.cell, inputs=fed, width=width, layers=layers, dropout=dropout)
        score = SCORES[config.score](query=width, key=width, limit=config.limit)
        self.align = Align(score, normalise=config.normalise)
        self.position = Position(width) if config.window == "local-p" else None
        self.combine = nn.Linear(2 * width, width, bias=False)
        self.dropout = Dropout(config.dropout)
        self.output = output_layer(self.target_embedding, tied=config.tie != "none", width=width)

    def encode(self, source: Int[Tensor, "B S"], lengths: Int[Tensor, "B"]) -> State:
        """One annotation per source word; the decoder begins with the encoder's last states."""
        reverse = self.config.reverse
        read = backwards(source, lengths) if reverse else source
        annotations, layers = self.encoder(self.dropout(self.source_embedding(read)), lengths)
        annotations = backwards(annotations, lengths) if reverse else annotations
        memory = self.align.remember(annotations, lengths)
        return State(memory, layers, torch.zeros_like(layers[-1][0]), 0, len(source))

    def forward(
        self, source: Int[Tensor, "B S"], lengths: Int[Tensor, "B"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T D"]:
        """For every prefix of the target, the h̃(t) from which its next word is predicted."""
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
        memory = state.memory.keep(rows, of=state.rows)
        return State(memory, layers, state.attentional[rows], state.length, len(rows))

    def _decode(self, target: Int[Tensor, "R T"], state: State) -> tuple[Float[Tensor, "R T D"], State]:
        """With input feeding each step waits for the one before; without it all are made at once."""
        words = self.dropout(self.target_embedding(target))
        if not self.config.input_feeding:
            h, layers = self.decoder(words, state.layers)
            hidden, state = self._look(h, layers, state)
            return self.dropout(hidden), state
        made = []
        for word in words.unbind(1):
            fed = torch.cat((word, state.attentional), dim=-1)
            h, layers = self.decoder(fed[:, None], state.layers)
            hidden, state = self._look(h, layers, state)
            made.append(hidden)
        return self.dropout(torch.cat(made, dim=1)), state

    def _look(self, h: Float[Tensor, "R T D"], layers: list[Layer], state: State) -> tuple[Tensor, State]:
        """h̃ = tanh(W_c [c; h]) for each h(t), c from the window's part of the memory."""
        window, focus = self._window(h, state)
        c = self.align(h, state.memory, window=window, focus=focus)
        attentional = torch.tanh(self.combine(torch.cat((c, h), dim=-1)))
        return attentional, State(state.memory, layers, attentional[:, -1], state.length + h.shape[1], state.rows)

    def _window(self, h: Float[Tensor, "R T D"], state: State) -> tuple[Tensor | None, Tensor | None]:
        """Who may look where, and by how much less away from the middle: exp(−(s − p)² / 2σ²), σ = D / 2 (eq. 10)."""
        memory, radius, size = state.memory, self.config.radius, state.memory.keys.shape[2]
        if self.config.window == "global":
            return None, None
        if self.position is None:
            steps = torch.arange(state.length, state.length + h.shape[1], device=h.device)
            centres = fold(steps.expand(len(h), -1), memory)
            return window_mask(centres, size, radius=radius), None
        predicted = self.position(fold(h, memory), memory.lengths)
        away = torch.arange(size, device=h.device) - predicted[..., None]
        focus = torch.exp(-(away**2) / (2 * (radius / 2) ** 2))[:, None]
        return window_mask(predicted, size, radius=radius), focus
