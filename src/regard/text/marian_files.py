"""Marian's tokenizers in the files of others: source.spm and target.spm spell, vocab.json gives the numbers."""

import json
from pathlib import Path
from typing import Any

from regard.errors import BundleError
from regard.files import write_text
from regard.text.abbreviations import code
from regard.text.bert_files import CHOICES, read_json, read_settings
from regard.text.spm_backend import MARKS, make_backend, take_apart
from regard.text.spm_format import read_pieces, write_pieces
from regard.text.tokenizer import Tokenizer

SOURCE, TARGET = ("source.spm", "vocab.json"), ("target.spm", "target_vocab.json")
"""How each side is spelt, and its numbers; those of the source are the target's, too, if not said otherwise."""
SEPARATE = "separate_vocabs"
LANGS = ("source_lang", "target_lang")
MOST = 2**21
"""Numbers of tokens are below this: a larger one is a slip."""
KNOWN = 0.1
"""At least this part of the pieces has a number: most of them, where the files are of one model."""


def read_tokenizers(directory: Path) -> tuple[Tokenizer, Tokenizer]:
    """Those of source and target. A mark that is written in a text is that mark, as with all models of others."""
    numbering = TARGET[1] if is_separate(directory) else SOURCE[1]
    source = _tokenizer(directory / SOURCE[0], directory / SOURCE[1])
    return source, _tokenizer(directory / TARGET[0], directory / numbering)


def is_separate(directory: Path) -> bool:
    """Whether source and target have a vocabulary each."""
    return bool(read_settings(directory / CHOICES).get(SEPARATE, False))


def read_langs(directory: Path) -> tuple[str, str]:
    """The languages of source and target, as far as they are told, by the names that people ask for: OPUS-MT writes
    "eng" and "zho" in some of its models, "en" and "zh" in others."""
    choices = read_settings(directory / CHOICES)
    source, target = (code(str(choices.get(key) or "")) for key in LANGS)
    return source, target


def write_tokenizers(directory: Path, sides: tuple[Tokenizer, Tokenizer], *, joint: bool, **choices: Any) -> None:
    """The files that transformers reads. joint: both sides have the same numbers; choices: what else is to be said in
    tokenizer_config.json."""
    for (spelling, numbering), tokenizer in zip((SOURCE, TARGET), sides, strict=True):
        pieces, numbers = take_apart(tokenizer.backend)
        write_pieces(directory / spelling, pieces)
        if numbering == SOURCE[1] or not joint:
            write_text(directory / numbering, json.dumps(numbers, indent=2, ensure_ascii=False) + "\n")
    settings = {"tokenizer_class": "MarianTokenizer", SEPARATE: not joint, **choices}
    write_text(directory / CHOICES, json.dumps(settings, indent=2, ensure_ascii=False) + "\n")


def _tokenizer(spelling: Path, numbering: Path) -> Tokenizer:
    pieces, numbers = read_pieces(spelling), _numbers(numbering)
    known = sum(entry.text in numbers for entry in pieces.entries)
    if known < KNOWN * len(pieces.entries):
        raise BundleError(
            f"{spelling} and {numbering.name} do not belong together.",
            found=f"numbers for {known} of {len(pieces.entries)} pieces",
            do="copy both from the same model",
        )
    tokenizer = Tokenizer(make_backend(pieces, numbers, where=str(spelling)))
    tokenizer.backend.encode_special_tokens = False
    return tokenizer


def _numbers(path: Path) -> dict[str, int]:
    """The number of each token."""
    if not path.exists():
        raise BundleError(f"{path} is missing.", wanted="the numbers of all tokens", do="copy it there too")
    content: Any = read_json(path)
    numbers = list(content.values()) if isinstance(content, dict) else [None]
    if not all(type(number) is int and 0 <= number < MOST for number in numbers):
        raise BundleError(f"{path} is damaged.", wanted="a JSON object with a number for each token")
    if len(set(numbers)) < len(numbers):
        raise BundleError(f"{path} is damaged.", found="two tokens with the same number", wanted="a number for each")
    if lost := [mark for mark in MARKS if mark not in content]:
        raise BundleError(f"{path} lacks {lost[0]}.", wanted=f"numbers for {', '.join(MARKS)}")
    return dict(content)
