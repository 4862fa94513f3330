"""The Transformer. Vaswani et al. 2017, "Attention Is All You Need", arXiv:1706.03762.

New since Luong 2015: no recurrence. Each word looks at all words of its sentence at once (self-attention), in
several heads; order comes back in through positions; the decoder looks at itself (backwards only) and at the
encoder's result.

Differs from the paper: `norm="pre"` normalises before each sub-layer and once more at the end of each stack (Baevski
& Auli 2019, Xiong et al. 2020); the small presets use it because it trains faster there. base and big are as written.

The models of Marian (Junczys-Dowmunt 2018) are this model, too: `positions="halves"`, `activation="swish"` and
`output_bias=True` are theirs.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention import KeysValues, look_ahead_mask, padding_mask
from regard.data.batches import Sentences
from regard.layers import POSITIONS, Block, Dropout, Shape, embeddings, log_probabilities, output_layer, sentences_left
from regard.sections import Section


class TransformerConfig(Section):
    """Sizes and choices; the defaults are the paper's base model."""

    width: int = Field(512, gt=0, description="numbers in the vector of a word")
    heads: int = Field(8, gt=0, description="attentions side by side; each takes an equal share of the width")
    hidden: int = Field(2048, gt=0, description="width of the feed-forward network's middle")
    encoder_layers: int = Field(6, ge=1, description="blocks that read the source")
    decoder_layers: int = Field(6, ge=1, description="blocks that write the target")
    dropout: float = Field(0.1, ge=0, lt=1, description="share of numbers that are left out while training")
    attention_dropout: float = Field(0.0, ge=0, lt=1, description="the same of attention weights")
    activation_dropout: float = Field(0.0, ge=0, lt=1, description="the same in the feed-forward's middle")
    activation: Literal["relu", "gelu", "gelu-tanh", "swish"] = Field("relu", description="of the feed-forward network")
    norm: Literal["pre", "post"] = Field("post", description="before each sub-layer, or after it as in the paper")
    positions: Literal["sinusoidal", "halves", "learned", "none"] = Field(
        "sinusoidal", description="how a word knows where it stands"
    )
    tie: Literal["all", "target", "none"] = Field(
        "all", description="one embedding matrix for all, for target and output, or none shared"
    )
    scaled: bool = Field(True, description="embeddings are multiplied by the root of the width")
    output_bias: bool = Field(False, description="each word has a score of its own, whatever the state")
    limit: int = Field(256, gt=1, description="longest sentence in tokens, end mark included")

    @model_validator(mode="after")
    def _heads_divide_width(self) -> "TransformerConfig":
        if self.width % self.heads:
            fits = [heads for heads in (1, 2, 4, 8, 16) if self.width % heads == 0]
            raise ValueError(
                f"width {self.width} is not divisible by heads {self.heads}: each head takes an equal share. "
                f"Numbers of heads that fit: {', '.join(map(str, fits))}"
            )
        return self


PRESETS: dict[str, dict[str, object]] = {
    "tiny": {"width": 128, "heads": 4, "hidden": 256, "encoder_layers": 4, "decoder_layers": 4, "norm": "pre"},
    "small": {"width": 256, "heads": 4, "hidden": 1024, "encoder_layers": 3, "decoder_layers": 3, "norm": "pre"},
    "deep-shallow": {
        "width": 128, "heads": 4, "hidden": 256, "encoder_layers": 7, "decoder_layers": 2, "norm": "pre",
        "dropout": 0.2,
    },
    "base": {},
    "big": {"width": 1024, "heads": 16, "hidden": 4096, "dropout": 0.3},
}  # fmt: skip
"""deep-shallow: as large as tiny. Most of it reads, which is done once; little writes, which is done at each word
(Kasai 2021, "Deep Encoder, Shallow Decoder", arXiv:2006.10369). Dropout disturbs a sentence in each layer that reads:
with 0.3 seven of them learn too slowly."""


@dataclass(frozen=True)
class State:
    """What decoding carries: per sentence (B) what the encoder found, per hypothesis (R) what was said so far."""

    memory: tuple[KeysValues, ...]
    memory_mask: Tensor
    past: tuple[KeysValues, ...] | None
    length: int
    rows: int


class Transformer(nn.Module):
    """Encoder, decoder and, by default, one embedding matrix for source, target and output."""

    def __init__(
        self, config: TransformerConfig, *, source_vocabulary: int, target_vocabulary: int, joint: bool = True
    ) -> None:
        super().__init__()
        self.config = config
        shape = Shape(
            width=config.width,
            heads=config.heads,
            hidden=config.hidden,
            dropout=config.dropout,
            activation=config.activation,
            norm=config.norm,
            attention_dropout=config.attention_dropout,
            activation_dropout=config.activation_dropout,
        )
        self.target_embedding, self.source_embedding = embeddings(
            config.tie, config.width, source=source_vocabulary, target=target_vocabulary, joint=joint
        )
        if not config.scaled:
            self.target_embedding.scale = self.source_embedding.scale = 1.0
        self.positions = POSITIONS[config.positions](config.limit, config.width)
        self.dropout = Dropout(config.dropout)
        self.encoder = nn.ModuleList(Block(shape, name=f"encoder.{i}") for i in range(config.encoder_layers))
        self.decoder = nn.ModuleList(
            Block(shape, name=f"decoder.{i}", cross=True) for i in range(config.decoder_layers)
        )
        self.encoder_norm = nn.LayerNorm(config.width) if config.norm == "pre" else nn.Identity()
        self.decoder_norm = nn.LayerNorm(config.width) if config.norm == "pre" else nn.Identity()
        self.output = output_layer(self.target_embedding, tied=config.tie != "none", bias=config.output_bias)

    def encode(self, source: Int[Tensor, "B S"], lengths: Int[Tensor, "B"]) -> Float[Tensor, "B S D"]:
        """Each source word in the light of all others."""
        mask = padding_mask(lengths, source.shape[1])
        x = self.dropout(self.source_embedding(source) + self.positions(0, source.shape[1]))
        for block in self.encoder:
            x, _ = block(x, mask=mask)
        encoded: Tensor = self.encoder_norm(x)
        return encoded

    def forward(
        self, source: Int[Tensor, "B S"], lengths: Int[Tensor, "B"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T D"]:
        """For every prefix of the target at once, the state from which its next word is predicted."""
        state = self._remember(self.encode(source, lengths), lengths)
        hidden, _ = self._decode(target, state)
        return hidden

    # The stepper: one word at a time, with everything reused that does not change.

    def start(self, source: Sentences, prefix: Int[Tensor, "B P"]) -> State:
        """Reads the source, and in one pass the prefix (which may be empty)."""
        state = self._remember(self.encode(source.tokens, source.lengths), source.lengths)
        return self._decode(prefix, state)[1] if prefix.shape[1] else state

    def step(self, tokens: Int[Tensor, "R"], state: State) -> tuple[Float[Tensor, "R V"], State]:
        """Log-probabilities of the word after `tokens`, for each hypothesis."""
        hidden, state = self._decode(tokens[:, None], state)
        return log_probabilities(self.output, hidden[:, -1]), state

    def reorder(self, state: State, rows: Int[Tensor, "N"]) -> State:
        """The state in which hypothesis i continues what was hypothesis rows[i]. The hypotheses of one sentence stay
        together, each sentence keeps equally many; a sentence may be gone."""
        kept = sentences_left(rows, of=state.rows, sentences=state.memory_mask.shape[0])
        if kept is not None:
            memory = tuple(each.of(kept) for each in state.memory)
            state = replace(state, memory=memory, memory_mask=state.memory_mask[kept])
        past = state.past and tuple(each.of(rows) for each in state.past)
        return replace(state, past=past, rows=len(rows))

    def _remember(self, encoded: Tensor, lengths: Tensor) -> State:
        blocks: Iterable[Any] = self.decoder
        memory = tuple(block.cross_attention.remember(encoded) for block in blocks)
        return State(memory, padding_mask(lengths, encoded.shape[1]), None, 0, len(lengths))

    def _decode(self, target: Int[Tensor, "R T"], state: State) -> tuple[Float[Tensor, "R T D"], State]:
        first, steps = state.length, target.shape[1]
        # a single new word may look at everything so far: no mask needed
        mask = look_ahead_mask(steps, first + steps, device=target.device) if steps > 1 else None
        x = self.dropout(self.target_embedding(target) + self.positions(first, steps))
        presents = []
        for i, block in enumerate(self.decoder):
            past = state.past[i] if state.past else None
            x, present = block(x, mask=mask, past=past, memory=state.memory[i], memory_mask=state.memory_mask)
            presents.append(present)
        return self.decoder_norm(x), replace(state, past=tuple(presents), length=first + steps)
