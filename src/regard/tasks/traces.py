"""Tokens as pictures show them: their surface in the text, never ▁, Ġ or broken bytes."""

from collections.abc import Sequence

from regard.insight import Token, TokenRow
from regard.text import END, START, Tokenizer


def token_row(text: str, tokenizer: Tokenizer, language: str, *, start: bool = False, end: bool = False) -> TokenRow:
    """The tokens of a text by their places in it, with the marks that the model saw around them."""
    tokens = [_token(text, piece.start, piece.end) for piece in tokenizer.pieces(text)]
    before = [Token(START, 0, 0, special=True)] if start else []
    after = [Token(END, len(text), len(text), special=True)] if end else []
    return TokenRow(text, (*before, *tokens, *after), language)


def marked_row(sides: Sequence[str], tokenizer: Tokenizer, language: str) -> TokenRow:
    """One text or two as BERT reads them: [CLS] text [SEP] second [SEP]."""
    tokens = [Token("[CLS]", 0, 0, special=True)]
    before = 0
    for side in sides:
        shown = token_row(side, tokenizer, language).tokens
        tokens += [Token(token.surface, token.start + before, token.end + before) for token in shown]
        before += len(side)
        tokens.append(Token("[SEP]", before, before, special=True))
        before += 1
    return TokenRow(" ".join(sides), tuple(tokens), language)


def joined(name: str) -> tuple[str, str]:
    """Which rows of a translation an attention joins, by its name: who asks, and what is read."""
    if name.startswith("encoder."):
        return "source", "source"
    return ("target", "target") if name.endswith(".self") else ("prediction", "source")


def _token(text: str, start: int, end: int) -> Token:
    while start < end and text[start].isspace():
        start += 1
    return Token(text[start:end], start, end)
