"""A tokenizer as the rest of the package sees it: text to ids and back, with the place of each piece in the text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer as Backend
from tokenizers import models

from regard.errors import BundleError
from regard.files import write_text

PAD, START, END, UNKNOWN = "<pad>", "<s>", "</s>", "<unk>"
HALVES = re.compile("[\ud800-\udfff]")
SPECIALS = (PAD, START, END, UNKNOWN)
"""Their ids are their places in this tuple, in every tokenizer that we train but WordPiece."""
BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
"""The same for WordPiece."""
END_OF_TEXT = "<|endoftext|>"
"""The one mark of GPT-2: it stands between two documents."""
ROLES = {
    "pad": (PAD, "[PAD]", END_OF_TEXT, END),
    "start": (START, "[CLS]", END_OF_TEXT, PAD, END),
    "end": (END, "[SEP]", END_OF_TEXT),
    "unknown": (UNKNOWN, "[UNK]", END_OF_TEXT, END),
    "mask": ("[MASK]", "<mask>"),
}
"""What a mark is for, and what it may be called: ours, BERT's, GPT-2's. Marian begins with padding."""
BEYOND = " beyond"
"""The entries behind this one, if it is there, help to spell but have no number that a model knows: they are
unknown."""
SPACE = "▁"
Place = tuple[int, int]


@dataclass(frozen=True)
class Piece:
    """A token and where its surface stands: text[start:end]."""

    id: int
    start: int
    end: int


class Tokenizer:
    """HF `tokenizers` behind six verbs. It adds no start or end mark: who needs one puts it there."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.backend.encode_special_tokens = True  # "</s>" in a user's text is text, not the end
        self.pad, self.start, self.end, self.unknown = (self._mark(role) for role in ("pad", "start", "end", "unknown"))
        self.mask = self._found("mask")
        """None if there is no such mark."""
        beyond = self.backend.token_to_id(BEYOND)
        self._rows = max(self.backend.get_vocab().values(), default=-1) + 1 if beyond is None else int(beyond)
        self._beyond = beyond is not None

    def __len__(self) -> int:
        """Rows that a model needs: one more than the highest id. (A vocabulary of others may leave ids out.)"""
        return self._rows

    def encode(self, text: str) -> list[int]:
        return self._known(self.backend.encode(_valid(text), add_special_tokens=False).ids)

    def encode_all(self, texts: Iterable[str]) -> list[list[int]]:
        """Many texts, in parallel."""
        encoded = self.backend.encode_batch_fast(list(map(_valid, texts)), add_special_tokens=False)
        return [self._known(one.ids) for one in encoded]

    def pieces(self, text: str) -> list[Piece]:
        """The tokens with their places. The bytes of one character all point at that whole character; the space that is
        put before a text points at nothing where it is a token of its own."""
        encoded = self.backend.encode(_valid(text), add_special_tokens=False)
        places: list[Place] = encoded.offsets
        if isinstance(self.backend.model, models.Unigram):
            places = _by_character(text, encoded.tokens, places)
        if encoded.tokens[:1] == [SPACE] and places[1:] and places[1][0] == 0:
            places[0] = (0, 0)
        return self._pieces(self._known(encoded.ids), encoded.tokens, places)

    def normal(self, text: str) -> str:
        """The text as the vocabulary has it, such as in small letters."""
        normaliser = self.backend.normalizer
        return _valid(text) if normaliser is None else str(normaliser.normalize_str(_valid(text)))

    def decode(self, ids: Sequence[int]) -> str:
        """The text; marks such as </s> are left out, invalid byte sequences become �."""
        return str(self.backend.decode(list(ids), skip_special_tokens=True))

    def save(self, path: Path) -> None:
        write_text(path, self.backend.to_str(pretty=True))

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        try:
            return cls(Backend.from_str(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise BundleError(f"{path} is missing.", do="give a complete model directory") from None
        except Exception as error:  # the backend raises bare Exceptions
            raise BundleError(f"{path} is damaged or not a tokenizer.", found=str(error)) from None

    def _pieces(self, ids: Sequence[int], tokens: Sequence[str], places: Sequence[Place]) -> list[Piece]:
        """What is unknown to SentencePiece begins with a space that is not its own (see spm_backend.py)."""
        pieces: list[Piece] = []
        for id, token, (start, end) in zip(ids, tokens, places, strict=True):
            if pieces and (id == self.unknown or token.startswith(" ")):
                start = min(max(start, pieces[-1].end), end)
            pieces.append(Piece(id, start, end))
        return pieces

    def _known(self, ids: Sequence[int]) -> list[int]:
        return [id if id < self._rows else self.unknown for id in ids] if self._beyond else list(ids)

    def _mark(self, role: str) -> int:
        found = self._found(role)
        if found is None:
            raise BundleError(f"The tokenizer has no mark for {role}.", wanted=" or ".join(ROLES[role]))
        return found

    def _found(self, role: str) -> int | None:
        ids = (self.backend.token_to_id(name) for name in ROLES[role])
        return next((int(id) for id in ids if id is not None), None)


def _by_character(text: str, tokens: Sequence[str], places: Sequence[Place]) -> list[Place]:
    """Unigram lets each byte of a run of unknown characters point at the run; here it points at its own character."""
    runs: dict[Place, Iterator[Place]] = {}
    exact = []
    for token, place in zip(tokens, places, strict=True):
        if token.startswith("<0x") and place[1] - place[0] > 1:
            place = next(runs.setdefault(place, _bytes_of(text, *place)), place)
        exact.append(place)
    return exact


def _bytes_of(text: str, start: int, end: int) -> Iterator[Place]:
    """The place of the character that each byte of text[start:end] belongs to."""
    return ((at, at + 1) for at in range(start, end) for _ in text[at].encode())


def _valid(text: str) -> str:
    """Half characters (lone surrogates, from a command line that was not UTF-8) become �: they have no bytes."""
    return HALVES.sub("\ufffd", text)
