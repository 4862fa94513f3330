"""From tokens to text while they come: whole characters only, up to a stop string; and tokens as a reader sees them."""

from collections.abc import Sequence

from regard.text import Tokenizer
from regard.text.byte_bpe import ALPHABET

HALF = "\ufffd"
"""What bytes that are no character are decoded to: as a rule, more of it is to come."""
_OWN = {character: ord(character) for character in ALPHABET if ord(character) < 256}
_MOVED = sorted(set(range(256)) - set(_OWN.values()))
BYTES = _OWN | dict(zip((character for character in ALPHABET if ord(character) >= 256), _MOVED, strict=True))
"""The byte that each visible character of a byte-level token stands for."""

Place = tuple[int, int]


class Spelling:
    """The text of tokens, piece by piece; all pieces together are the text. `before`: the tokens that it follows."""

    def __init__(self, tokenizer: Tokenizer, before: Sequence[int] = ()) -> None:
        self._tokenizer = tokenizer
        self._context, self._waiting = list(before), list[int]()
        self._before = tokenizer.decode(self._context)

    def add(self, token: int) -> str:
        """What can be read now that could not be read before; "" where a character is not whole yet."""
        self._waiting.append(token)
        text = self._tokenizer.decode([*self._context, *self._waiting])
        half = text.endswith(HALF) and token != self._tokenizer.unknown  # of what is unknown, nothing is to come
        return "" if half else self._read(text)

    def rest(self) -> str:
        """What is left when no more tokens come: bytes that never became a character."""
        return self._read(self._tokenizer.decode([*self._context, *self._waiting]))

    def _read(self, text: str) -> str:
        """Only the last tokens that were read stay as context: what stands before them changes nothing any more."""
        new = text[len(self._before) :]
        if new:
            self._context, self._waiting = self._waiting, []
            self._before = self._tokenizer.decode(self._context)
        return new


class Growing:
    """A continuation as it grows, up to the first of some stop strings, which is no part of it."""

    def __init__(self, tokenizer: Tokenizer, before: Sequence[int], stops: Sequence[str] = ()) -> None:
        self.text, self.stopped = "", False
        self._spelling, self._stops = Spelling(tokenizer, before), stops
        self.shown = 0
        """So many letters were told as news."""
        self._closed = False

    def add(self, token: int) -> bool:
        """Whether a stop string is reached with this token."""
        self._grow(self._spelling.add(token))
        return self.stopped

    def close(self) -> None:
        """No more tokens come."""
        if not self.stopped:
            self._grow(self._spelling.rest())
        self._closed = True

    def news(self) -> str:
        """What may be shown since it was last asked: nothing that may yet turn out to begin a stop string."""
        sure = len(self.text) - (0 if self.stopped or self._closed else self._doubtful())
        new = self.text[self.shown : sure]
        self.shown = max(self.shown, sure)
        return new

    def _grow(self, piece: str) -> None:
        longest = max(map(len, self._stops), default=0)
        first = max(0, len(self.text) - longest + 1)
        self.text += piece
        found = [place for stop in self._stops if (place := self.text.find(stop, first)) >= 0]
        if found:
            self.text, self.stopped = self.text[: min(found)], True

    def _doubtful(self) -> int:
        """The length of the longest end of the text that a stop string begins with."""
        most = [(stop, min(len(stop) - 1, len(self.text))) for stop in self._stops]
        return max((n for stop, size in most for n in range(1, size + 1) if self.text.endswith(stop[:n])), default=0)


def spelt(tokenizer: Tokenizer, ids: Sequence[int], before: Sequence[int] = ()) -> tuple[str, list[Place]]:
    """The text of some tokens, and where each stands in it. Those that share a character share a place."""
    spelling = Spelling(tokenizer, before)
    text, places, waiting = "", [], 0
    for number, token in enumerate(ids, start=1):
        piece = spelling.add(token) if number < len(ids) else spelling.add(token) or spelling.rest()
        waiting += 1
        if piece or number == len(ids):
            places += [(len(text), len(text) + len(piece))] * waiting
            text, waiting = text + piece, 0
    return text, places


def surface(tokenizer: Tokenizer, id: int) -> str:
    """A token by itself, with the space before it if it has one; part of a character as its bytes: <E7 8C>."""
    name = str(tokenizer.backend.id_to_token(id))
    if id in (tokenizer.start, tokenizer.end, tokenizer.unknown):
        return name
    beside = tokenizer.encode("a")[-1:]
    text = tokenizer.decode([*beside, id])[len(tokenizer.decode(beside)) :]
    if not text:
        return name
    if HALF not in text:
        return text
    whole = [name[3:5]] if name.startswith("<0x") else [f"{BYTES.get(character, 0):02X}" for character in name]
    return f"<{' '.join(whole)}>"
