"""The tokens of one text as a reader sees them: surface text by offsets, never `▁`, `Ġ` or broken bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from regard.errors import DataError
from regard.insight.words import words_at

Group = tuple[int, ...]


@dataclass(frozen=True)
class Token:
    """One piece of a row: `text[start:end]`, or the name of a special token, which has no place in the text."""

    surface: str
    start: int
    end: int
    special: bool = False
    ids: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """The surface without the spaces around it; a token of white space alone shows which."""
        return self.surface.strip() or {"\n": "↵", "\t": "⇥"}.get(self.surface[:1], "␣")


@dataclass(frozen=True)
class TokenRow:
    """A text and its tokens, in order."""

    text: str
    tokens: tuple[Token, ...]
    language: str = ""

    def __post_init__(self) -> None:
        for i, token in enumerate(self.tokens):
            if not 0 <= token.start <= token.end <= len(self.text):
                raise DataError(
                    f"Token {i} ({token.surface!r}) lies outside its text.",
                    found=f"characters {token.start} to {token.end}",
                    wanted=f"offsets within 0 to {len(self.text)}",
                    do="count offsets in characters of the row's text; a special token has start == end",
                )

    @classmethod
    def of(cls, surfaces: Sequence[str], language: str = "", specials: Sequence[str] = ()) -> "TokenRow":
        """A row of whole words with a space between them; those named in `specials` are not part of the text."""
        tokens, text = [], ""
        for surface in surfaces:
            if surface in specials:
                tokens.append(Token(surface, len(text), len(text), special=True))
                continue
            text += " " * bool(text) + surface
            tokens.append(Token(surface, len(text) - len(surface), len(text)))
        return cls(text, tuple(tokens), language)

    @classmethod
    def from_offsets(
        cls,
        text: str,
        offsets: Sequence[tuple[int, int]],
        *,
        ids: Sequence[int] = (),
        specials: Mapping[int, str] | None = None,
        language: str = "",
    ) -> "TokenRow":
        """A row from a tokenizer's character offsets; `specials` maps the position of a special token to its name.

        Pieces of a character that was split into bytes have the offsets, and so the surface, of all of it.
        """
        names = specials or {}
        tokens: list[Token] = []
        for i, (start, end) in enumerate(offsets):
            own = tuple(ids[i : i + 1])
            place = tokens[-1].end if tokens else 0
            if i in names:
                tokens.append(Token(names[i], place, place, special=True, ids=own))
            else:
                tokens.append(Token(text[start:end], start, end, ids=own))
        return cls(text, tuple(tokens), language)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def surfaces(self) -> tuple[str, ...]:
        return tuple(token.surface for token in self.tokens)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(token.label for token in self.tokens)

    @property
    def regular(self) -> Group:
        """The places of the tokens that are not special."""
        return tuple(i for i, token in enumerate(self.tokens) if not token.special)

    def words(self) -> tuple[Group, ...]:
        """Which tokens make a word, in order; together the groups hold every token once.

        A token that spans several words (河岸 as one piece) cannot be split, so they stay together. Special tokens and
        line breaks stay alone; other white space goes with the word after it.
        """
        numbers = words_at(self.text)
        groups: list[list[int]] = []
        reach: int | None = None  # the last word that the open group touches; -1: only space so far; None: closed
        for i, token in enumerate(self.tokens):
            touched = [n for n in numbers[token.start : token.end] if n >= 0]
            alone = token.special or (not touched and "\n" in token.surface)
            if reach is not None and not alone and (reach == -1 or (touched and touched[0] <= reach)):
                groups[-1].append(i)
            else:
                groups.append([i])
            reach = None if alone else touched[-1] if touched else -1
        return tuple(tuple(group) for group in groups)

    def merged(self, groups: Sequence[Group]) -> "TokenRow":
        """The row with one token per group."""
        tokens = tuple(reduce(self._join, (self.tokens[i] for i in group)) for group in groups)
        return TokenRow(self.text, tokens, self.language)

    def only(self, places: Sequence[int]) -> "TokenRow":
        """The row with the tokens at these places."""
        return TokenRow(self.text, tuple(self.tokens[i] for i in places), self.language)

    def _join(self, first: Token, second: Token) -> Token:
        start, end = min(first.start, second.start), max(first.end, second.end)
        return Token(self.text[start:end], start, end, first.special, first.ids + second.ids)
