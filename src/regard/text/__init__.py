"""Text to tokens and back."""

from regard.text.tokenizer import END, PAD, START, UNKNOWN, Piece, Tokenizer
from regard.text.train import TokenizerConfig, train_tokenizer

__all__ = ["END", "PAD", "START", "UNKNOWN", "Piece", "Tokenizer", "TokenizerConfig", "train_tokenizer"]
