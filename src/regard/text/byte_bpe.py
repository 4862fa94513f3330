"""Byte-pair encoding on bytes, as GPT-2 has it (Radford 2019, section 2.2).

A text is cut into words with the space before them, runs of digits, of marks, of white space; each is spelt in bytes
(written as 256 visible characters), and pairs are joined that occur often. Nothing is unknown; Chinese characters may
be cut into their bytes. As in GPT-2's own files, the bytes come first, then what was joined, then <|endoftext|>.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, pre_tokenizers, trainers

from regard.errors import ConfigError
from regard.text.tokenizer import END_OF_TEXT, ROLES, Tokenizer

ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())
SEEN = 2
"""How often a pair must occur to be joined."""
LEAST = len(ALPHABET) + 1


def train_byte_bpe(texts: Iterable[str], size: int) -> Tokenizer:
    """Same texts, same tokenizer. size: entries of the vocabulary, <|endoftext|> included; the texts may give fewer."""
    if size < LEAST:
        raise ConfigError(
            f"tokenizer.size={size} leaves no room for the text.",
            wanted=f"at least {LEAST}: the 256 bytes and {END_OF_TEXT}",
            do="raise tokenizer.size",
        )
    backend = Backend(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=size - 1, initial_alphabet=ALPHABET, min_frequency=SEEN, show_progress=False
    )
    backend.train_from_iterator(texts, trainer)
    learned = json.loads(backend.to_str())["model"]
    vocabulary = {**learned["vocab"], END_OF_TEXT: len(learned["vocab"])}
    return Tokenizer(byte_bpe(vocabulary, [(first, second) for first, second in learned["merges"]]))


def byte_bpe(
    vocabulary: Mapping[str, int], merges: Sequence[tuple[str, str]], *, prefix_space: bool = False
) -> Backend:
    """The tokenizer with these entries; <|endoftext|> behind them, if they have no mark for the end. prefix_space: a
    text that begins without a space gets one."""
    backend = Backend(models.BPE(dict(vocabulary), list(merges)))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    backend.decoder = decoders.ByteLevel()
    marks = dict.fromkeys(name for names in ROLES.values() for name in names if name in vocabulary)
    if not any(name in marks for name in ROLES["end"]):
        marks[END_OF_TEXT] = None
    backend.add_special_tokens(list(marks))
    return backend
