"""Tokens as pictures show them: their surface in the text, never ▁, Ġ or broken bytes."""

from regard.insight import Token, TokenRow
from regard.text import END, START, Tokenizer


def token_row(text: str, tokenizer: Tokenizer, language: str, *, start: bool = False, end: bool = False) -> TokenRow:
    """The tokens of a text by their places in it, with the marks that the model saw around them."""
    tokens = [_token(text, piece.start, piece.end) for piece in tokenizer.pieces(text)]
    before = [Token(START, 0, 0, special=True)] if start else []
    after = [Token(END, len(text), len(text), special=True)] if end else []
    return TokenRow(text, (*before, *tokens, *after), language)


def _token(text: str, start: int, end: int) -> Token:
    while start < end and text[start].isspace():
        start += 1
    return Token(text[start:end], start, end)
