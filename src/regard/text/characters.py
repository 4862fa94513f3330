"""A token for each character that the training text has, in the order of their code points; then the marks.

It is byte-pair encoding before its first merge, and computed as such: text becomes ids without being cut into pieces.
"""

from collections import Counter
from collections.abc import Iterable

from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models

from regard.text.tokenizer import END_OF_TEXT, HALVES, UNKNOWN, Tokenizer

REPLACEMENT = "\ufffd"
"""What an unknown character is decoded to: that something stood there is known, and no more."""


def character_tokenizer(texts: Iterable[str]) -> Tokenizer:
    """The ids of known characters are their ranks, as in nanoGPT; <|endoftext|> and <unk> come last."""
    found: set[str] = set()
    for text in texts:
        found.update(text)
    known = sorted(character for character in found if not HALVES.match(character))
    vocabulary = {token: id for id, token in enumerate([*known, END_OF_TEXT, UNKNOWN])}
    backend = Backend(models.BPE(vocabulary, [], unk_token=UNKNOWN, fuse_unk=False))
    backend.decoder = decoders.Sequence([decoders.Replace(UNKNOWN, REPLACEMENT), decoders.Fuse()])
    backend.add_special_tokens([END_OF_TEXT])
    return Tokenizer(backend)


def unknown_characters(tokenizer: Tokenizer, text: str) -> Counter[str]:
    """Which characters of a text become <unk>, and how often: for whoever must tell the user."""
    known = tokenizer.backend.get_vocab()
    return Counter({character: count for character, count in Counter(text).items() if character not in known})
