"""The text that a language model is trained or scored on, as ids.

Where it is little it is read into memory. Where it is much it is read twice, piece by piece, to train the tokenizer and
to tokenise it onto the disk (see data/store.py); the next run finds both there.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from regard.data import store
from regard.data.blocks import Ring
from regard.data.raw import TextReader
from regard.data.store import Column
from regard.errors import DataError
from regard.tasks.texts import OneTokenizer
from regard.text import Tokenizer, TokenizerConfig
from regard.text.byte_bpe import train_byte_bpe
from regard.text.characters import character_tokenizer
from regard.watching import Watch, unwatched

LARGE = 16_000_000
"""Bytes of files from which on tokens are kept on disk."""
SAMPLE = 32_000_000
"""Characters, in pieces that are evenly spread, that byte-level BPE learns from at most."""


class ExactConfig(TokenizerConfig):
    """How text becomes tokens from which it can be made again, character by character."""

    kind: Literal["byte-bpe", "character"] = Field("byte-bpe", description="how text is cut into tokens")

    @model_validator(mode="after")
    def _nothing_is_changed(self) -> "ExactConfig":
        if self.lowercase:
            raise ValueError("lowercase is for wordpiece: here the text stays as it is")
        return self


@dataclass(frozen=True)
class Marked:
    """A tokenizer of pieces, of which an empty one stands for the end of a document."""

    tokenizer: Tokenizer

    def __len__(self) -> int:
        return len(self.tokenizer)

    def encode_all(self, texts: Iterable[str]) -> list[list[int]]:
        pieces = list(texts)
        encoded = self.tokenizer.encode_all(pieces)
        return [ids if piece else [self.tokenizer.end] for piece, ids in zip(pieces, encoded, strict=True)]


@dataclass(frozen=True)
class TrainingText:
    """All documents, one after the other, the end mark behind each. `unknown`: how many of the tokens stand for what
    the tokenizer does not know."""

    tokenizers: OneTokenizer
    ring: Ring
    fingerprint: str
    skipped: tuple[str, ...]
    unknown: int


@dataclass(frozen=True)
class HeldOut:
    """Text to be scored: its documents with the mark between them, and before them the mark from which the first token
    is predicted. Of the text itself, `characters` and `bytes` are counted, and tokens for what is unknown."""

    ids: np.ndarray
    characters: int
    bytes: int
    unknown: int
    fingerprint: str

    @classmethod
    def read(cls, reader: TextReader, tokenizer: Tokenizer, watch: Watch = unwatched) -> "HeldOut":
        return cls.of(list(watch(reader, total=0, what="reading the text")), tokenizer, reader.fingerprint)

    @classmethod
    def of(cls, pieces: list[str], tokenizer: Tokenizer, fingerprint: str = "") -> "HeldOut":
        """Pieces as a TextReader gives them."""
        column = _held(pieces, tokenizer)
        if len(column.ids) < 2:
            raise DataError("The text has no token to be scored.", found=repr("".join(pieces)[:80]))
        ids = np.concatenate([[tokenizer.start], column.ids[:-1]]).astype(np.int64)
        characters, size = sum(map(len, pieces)), sum(len(piece.encode()) for piece in pieces)
        return cls(ids, characters, size, _unknown(column, tokenizer), fingerprint)


def load(
    reader: TextReader, config: ExactConfig, *, saved: OneTokenizer | None, watch: Watch = unwatched
) -> TrainingText:
    """Reads and tokenises the training text. saved: the tokenizer that is to be used, otherwise one is trained."""
    if reader.size() < LARGE:
        pieces = list(watch(reader, total=0, what="reading the text"))
        tokenizers, digest = saved or _trained(pieces, config), reader.fingerprint
        column = _held(pieces, tokenizers.tokenizer)
    else:
        digest = reader.expected()
        tokenizers = saved or _kept_tokenizer(reader, digest, config, watch)
        column = store.on_disk(_kept_tokens(reader, digest, tokenizers.tokenizer, watch)).columns[0]
    unknown = _unknown(column, tokenizers.tokenizer) if saved else 0
    return TrainingText(tokenizers, Ring(column), digest, tuple(reader.skipped), unknown)


def _held(pieces: list[str], tokenizer: Tokenizer) -> Column:
    return store.in_memory(((piece,) for piece in pieces), [Marked(tokenizer)]).columns[0]


def _unknown(column: Column, tokenizer: Tokenizer) -> int:
    """GPT-2's tokenizer knows everything: its mark for what is unknown is the end of a document."""
    if tokenizer.unknown == tokenizer.end:
        return 0
    found = 0
    for first in range(0, len(column.ids), 1 << 22):  # the ids may be larger than memory
        found += int((column.ids[first : first + (1 << 22)] == tokenizer.unknown).sum())
        column.release()
    return found


def _trained(pieces: Iterable[str], config: ExactConfig) -> OneTokenizer:
    return OneTokenizer(TRAINERS[config.kind](filter(None, pieces), config.size))


TRAINERS: dict[str, Callable[[Iterable[str], int], Tokenizer]] = {
    "byte-bpe": lambda pieces, size: train_byte_bpe(_sample(pieces), size),
    "character": lambda pieces, size: character_tokenizer(pieces),  # of which none may be missed
}


def _sample(pieces: Iterable[str]) -> list[str]:
    """Every n-th piece, with the smallest n (a power of two) that leaves no more than SAMPLE characters."""
    kept: list[str] = []
    step, held = 1, 0
    for number, piece in enumerate(pieces):
        if number % step == 0:
            kept.append(piece)
            held += len(piece)
            while held > SAMPLE and len(kept) > 1:
                kept, step = kept[::2], 2 * step
                held = sum(map(len, kept))
    return kept


def _kept_tokenizer(reader: TextReader, digest: str, config: ExactConfig, watch: Watch) -> OneTokenizer:
    """A tokenizer for much text, or the one that an earlier run has trained on just that."""
    named = {"tokenizer": config.model_dump()}
    place = store.cache_directory() / "tokenizers" / store.key("raw", digest, named, SAMPLE)
    if not place.exists():
        pieces = watch(reader, total=0, what="reading the text")
        store.publish(place, _trained(pieces, config).save)
    return OneTokenizer.load(place, named)


def _kept_tokens(reader: TextReader, digest: str, tokenizer: Tokenizer, watch: Watch) -> Path:
    """Where the tokens of much text are kept; they are made if they are not there yet."""
    name = sha256(tokenizer.backend.to_str().encode()).hexdigest()
    place = store.cache_directory() / "tokens" / store.key("raw", digest, name)
    if not place.exists():
        pieces = watch(reader, total=0, what="tokenising the text")
        store.write(place, ((piece,) for piece in pieces), [Marked(tokenizer)], list)
    return place
