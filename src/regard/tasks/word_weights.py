"""Where each target word looks in the source, for many pairs at once.

While the given translation is made, each target token looks at the source tokens: weights (H, T, S) of every attention
that joins the two sides, those of a Transformer's heads by what they bring. From tokens to words, a target word has the
mean of its tokens' rows, a source word the sum of its tokens' columns; the end marks are left out. A token that covers
several words is shared by its characters.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor, nn

from regard.attention import MultiHead, NothingRecordedError, Recording, capture
from regard.data.batches import group_by_length
from regard.errors import ConfigError, LimitError
from regard.tasks.pairs import EncodedPairs, Tokenizers
from regard.tasks.translator import BATCH_TOKENS, Translator
from regard.tasks.word_texts import WordPair, WordText
from regard.text import Tokenizer
from regard.text.tokenizer import Piece

Head = int | Literal["mean"]
Shift = Literal["predicts", "reads"]
SHIFTS: dict[Shift, int] = {"predicts": 0, "reads": 1}
"""How many rows later than the one that predicts it a target token is read off."""


@dataclass(frozen=True, eq=False)
class WordWeights:
    """Where the target words of one pair look."""

    tokens: Mapping[str, Float32[np.ndarray, "_ _ _"]]
    """Attention name → (H, T, S) between tokens, the end marks included."""
    rows: Float32[np.ndarray, "target_words target_tokens"]
    """From target tokens to words: means."""
    columns: Float32[np.ndarray, "source_tokens source_words"]
    """From source tokens to words: sums."""

    @property
    def heads(self) -> dict[str, int]:
        """How many each attention has."""
        return {name: len(weights) for name, weights in self.tokens.items()}

    def of(self, name: str, head: Head, shift: Shift) -> Float32[np.ndarray, "target_words source_words"]:
        """What is taken between words. A row of the one head of a recurrent model sums to what was not given to the end
        mark."""
        first, (count, width) = SHIFTS[shift], (self.rows.shape[1], self.columns.shape[0])
        heads = self.tokens[name][:, first : first + count, :width]
        weights = heads.mean(axis=0) if head == "mean" else heads[head]
        return np.asarray(self.rows @ weights @ self.columns)


def word_weights(translator: Translator, pairs: Sequence[WordPair]) -> Iterator[tuple[int, WordWeights]]:
    """(number of the pair, its weights) in batches, the short ones first; pairs with an empty side are passed over."""
    full = [number for number, pair in enumerate(pairs) if not pair.empty]
    encoded = [_Encoded.of(pairs[number], translator.tokenizers) for number in full]
    for number, pair in zip(full, encoded, strict=True):
        _check(max(pair.lengths), translator.limit, pairs[number].place or f"Pair {number + 1}")
    lengths = np.array([pair.lengths for pair in encoded]).reshape(-1, 2)
    for group in group_by_length(lengths, BATCH_TOKENS, np.arange(len(full))):
        weights = _captured(translator, [encoded[i] for i in group]) if len(group) else {}
        for row, i in enumerate(group.tolist()):
            sources, targets = encoded[i].lengths
            tokens = {name: held[row, :, :targets, :sources] for name, held in weights.items()}
            source, target = pairs[full[i]].source, pairs[full[i]].target
            rows, columns = _means(_shares(encoded[i].target, target)), _shares(encoded[i].source, source)
            yield full[i], WordWeights(tokens, rows, columns)


def heads_of(translator: Translator) -> dict[str, int]:
    """How many heads each attention to the source has, in the order of the layers."""
    _, weights = next(word_weights(translator, [WordPair.of_words(["a"], ["a"])]))
    return weights.heads


def cut(translator: Translator, pairs: Sequence[WordPair]) -> list[WordPair]:
    """The pairs with as many of their first words as the model can take."""
    tokenizers, room = translator.tokenizers, translator.limit - 1
    return [
        WordPair(_cut(pair.source, tokenizers.source, room), _cut(pair.target, tokenizers.target, room), pair.place)
        for pair in pairs
    ]


def _cut(text: WordText, tokenizer: Tokenizer, room: int) -> WordText:
    while len(pieces := tokenizer.pieces(text.text)) > room:  # again, for a shorter text may have other tokens
        end = pieces[room - 1].end if room else 0
        whole = sum(last <= end for _, last in text.spans)
        text = text.first(min(whole, len(text.spans) - 1))
    return text


class _Encoded(NamedTuple):
    """The tokens of a pair, without marks."""

    source: list[Piece]
    target: list[Piece]

    @classmethod
    def of(cls, pair: WordPair, tokenizers: Tokenizers) -> "_Encoded":
        return cls(tokenizers.source.pieces(pair.source.text), tokenizers.target.pieces(pair.target.text))

    @property
    def lengths(self) -> tuple[int, int]:
        """Tokens that the encoder reads and steps that the decoder takes, as in `EncodedPairs`."""
        return len(self.source) + 1, len(self.target) + 1


def _check(length: int, limit: int, place: str) -> None:
    if length > limit:
        raise LimitError(
            f"{place} is longer than the model can take.",
            found=f"{length} tokens",
            wanted=f"at most {limit} on either side",
            do="split it into sentences, or cut it with --truncate",
        )


@torch.inference_mode()
def _captured(translator: Translator, pairs: Sequence[_Encoded]) -> dict[str, Float32[np.ndarray, "_ _ _ _"]]:
    """Attention name → (B, H, T, S), of those that look from the target to the source."""
    source, target = translator.tokenizers.source, translator.tokenizers.target
    encoded = EncodedPairs(
        [[*(piece.id for piece in pair.source), source.end] for pair in pairs],
        [[target.start, *(piece.id for piece in pair.target), target.end] for pair in pairs],
    )
    device = next(translator.model.parameters()).device
    batch = encoded.batch(range(len(pairs)), translator.tokenizers).to(device)
    try:
        with capture(translator.model, keep=("weights", "values")) as recording:
            translator.model(batch.source, batch.source_lengths, batch.target[:, :-1])
    except NothingRecordedError:
        raise ConfigError(
            "This model has no attention: there is nothing to see.", do="take one that attends, such as bahdanau"
        ) from None
    names = [name for name in recording.names if name.startswith("decoder.") and not name.endswith(".self")]
    return {name: _taken(translator.model, recording, name).float().cpu().numpy() for name in names}


def _taken(model: nn.Module, recording: Recording, name: str) -> Tensor:
    """(B H T S): how much a head takes from each source token. Of several heads not all say equally much, nor does each
    say as much of a full stop as of a noun, so their weights count by what they would bring (see `MultiHead.reach`)."""
    weights = recording.joined(name)
    heads = next((part for part in model.modules() if isinstance(part, MultiHead) and part.name == name), None)
    return weights if heads is None else weights * heads.reach(recording.last(name, "values"))[:, :, None]


def _shares(pieces: Sequence[Piece], text: WordText) -> Float32[np.ndarray, "tokens words"]:
    """What part of each token's characters belongs to each word. A space belongs to the word after it."""
    owners, end = np.full(len(text.text), -1), 0
    for word, (_, last) in enumerate(text.spans):
        owners[end:last], end = word, last
    shares = np.zeros((len(pieces), len(text.spans)), dtype=np.float32)
    for row, piece in zip(shares, pieces, strict=True):
        touched = owners[piece.start : max(piece.end, piece.start + 1)]
        touched = touched[touched >= 0]
        np.add.at(row, touched, 1 / max(1, len(touched)))
    return shares


def _means(shares: Float32[np.ndarray, "tokens words"]) -> Float32[np.ndarray, "words tokens"]:
    """For each word the mean of the tokens that touch it; zeros for a word without tokens."""
    touching = (shares.T > 0).astype(np.float32)
    return np.asarray(touching / np.maximum(1, touching.sum(axis=1, keepdims=True)))
