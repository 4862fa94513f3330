"""A SentencePiece model on disk (.spm): pieces of text with scores, and how a text is normalised (Kudo 2018).

The file is one message of protocol buffers. Of its fields (sentencepiece_model.proto) those are read that change how a
text is spelt, and the same are written. A message is a row of fields; a field is its number and its kind in one
varint, then its value: a varint, four or eight bytes, or a length and as many bytes (a text, or another message).
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from regard.errors import BundleError
from regard.files import write_atomically

VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5
"""Kinds of fields."""
SIZES = {EIGHT: 8, FOUR: 4}
MODELS = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}
Value = int | bytes
Message = dict[int, Value]


class Role(IntEnum):
    """What a piece is for."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER = 4
    UNUSED = 5
    BYTE = 6


class Entry(NamedTuple):
    """A piece of text, its score (a log-probability, or minus its rank) and its role."""

    text: str
    score: float
    role: Role = Role.NORMAL


@dataclass(frozen=True)
class SentencePieces:
    """A SentencePiece model. Its pieces write a space as ▁."""

    kind: str
    """One of MODELS."""
    entries: tuple[Entry, ...]
    charsmap: bytes = b""
    """What characters become, as SentencePiece compiles it; empty: they stay."""
    rules: str = ""
    """What that is called: "nmt_nfkc", for instance."""
    prefix: bool = True
    """A space is put before the text."""
    squeeze: bool = True
    """Spaces at either end are dropped, and of several in a row one stays."""
    byte_fallback: bool = False
    """An unknown character is spelt in bytes."""
    usual_spaces: bool = True
    """A space becomes ▁, and belongs to the word behind it."""


def read_pieces(path: Path) -> SentencePieces:
    """The model of a file."""
    try:
        return _model(path.read_bytes())
    except FileNotFoundError:
        raise BundleError(f"{path} is missing.", do="copy it there too") from None
    except (OSError, ValueError, struct.error) as error:
        told = f"{path} is damaged or not a SentencePiece model."
        raise BundleError(told, found=str(error)[:200], do="copy it again") from None


def write_pieces(path: Path, model: SentencePieces) -> None:
    """The model as SentencePiece reads it."""
    kind = next(number for number, name in MODELS.items() if name == model.kind)
    spec = _number(3, kind) + _number(35, model.byte_fallback)
    normaliser = _bytes(1, model.rules.encode()) + _bytes(2, model.charsmap)
    normaliser += _number(3, model.prefix) + _number(4, model.squeeze)
    entries = (
        _bytes(1, entry.text.encode()) + _tag(2, FOUR) + struct.pack("<f", entry.score) + _number(3, entry.role)
        for entry in model.entries
    )
    content = b"".join(_bytes(1, entry) for entry in entries) + _bytes(2, spec) + _bytes(3, normaliser)
    write_atomically(path, content)


def _model(content: bytes) -> SentencePieces:
    fields = list(_fields(content))
    parts = {number: dict(_fields(_as_bytes(value))) for number, value in fields if number in (2, 3)}
    spec, normaliser = parts.get(2, {}), parts.get(3, {})
    return SentencePieces(
        _kind(_as_int(spec.get(3, 1))),
        _entries([_as_bytes(value) for number, value in fields if number == 1]),
        charsmap=_as_bytes(normaliser.get(2, b"")),
        rules=_as_bytes(normaliser.get(1, b"")).decode(),
        prefix=bool(normaliser.get(3, 1)),
        squeeze=bool(normaliser.get(4, 1)),
        byte_fallback=bool(spec.get(35, 0)),
        usual_spaces=not spec.get(24, 0) and bool(normaliser.get(5, 1)),
    )


def _kind(number: int) -> str:
    if number not in MODELS:
        raise ValueError(f"a model of kind {number}")
    return MODELS[number]


def _entries(messages: Sequence[bytes]) -> tuple[Entry, ...]:
    entries = tuple(_entry(dict(_fields(message))) for message in messages)
    texts = {entry.text for entry in entries}
    if not texts or "" in texts or len(texts) < len(entries):
        raise ValueError("no pieces, one without a text, or one of them twice")
    return entries


def _entry(message: Message) -> Entry:
    (score,) = struct.unpack("<f", _as_bytes(message.get(2, b"\0\0\0\0")))
    if not isfinite(score):
        raise ValueError(f"a piece with the score {score}")
    return Entry(_as_bytes(message.get(1, b"")).decode(), score, Role(_as_int(message.get(3, Role.NORMAL))))


def _fields(message: bytes) -> Iterator[tuple[int, Value]]:
    """The fields of a message: number and value."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if kind not in (BYTES, *SIZES):
            raise ValueError(f"a field of kind {kind}")
        size, at = (SIZES[kind], at) if kind in SIZES else _varint(message, at)
        if at + size > len(message):
            raise ValueError("it ends in the middle of a field")
        yield number, message[at : at + size]
        at += size


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """A number, its lowest seven bits first, and where it ends."""
    value = shift = 0
    while True:
        if at >= len(message) or shift > 63:
            raise ValueError("it ends in the middle of a number")
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _number(number: int, value: int) -> bytes:
    return _tag(number, VARINT) + _packed(value)


def _bytes(number: int, value: bytes) -> bytes:
    return _tag(number, BYTES) + _packed(len(value)) + value


def _tag(number: int, kind: int) -> bytes:
    return _packed(number << 3 | kind)


def _packed(value: int) -> bytes:
    digits = [value >> shift & 127 for shift in range(0, max(value.bit_length(), 1), 7)]
    return bytes([*(digit | 128 for digit in digits[:-1]), digits[-1]])


def _as_bytes(value: Value) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("a number where there should be a text")
    return value


def _as_int(value: Value) -> int:
    if not isinstance(value, int):
        raise ValueError("a text where there should be a number")
    return value
