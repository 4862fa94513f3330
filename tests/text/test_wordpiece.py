"""WordPiece: what is joined is what makes the text likelier; what comes out is what BERT's users expect."""

import math
import os
import subprocess
import sys
from collections import Counter
from hashlib import sha256
from itertools import pairwise

import pytest

from regard.errors import ConfigError
from regard.text import Tokenizer, TokenizerConfig, train_tokenizer
from regard.text.tokenizer import BERT
from regard.text.wordpiece import PREFIX, train_wordpiece
from tests.text.corpus import TEXTS

COUNTS = Counter({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5, "aaaa": 3, "aaa": 2})


def trained(texts: list[str] = TEXTS, size: int = 120, *, lowercase: bool = False) -> Tokenizer:
    return train_tokenizer(texts, TokenizerConfig.parse({"kind": "wordpiece", "size": size, "lowercase": lowercase}))


def tokens(tokenizer: Tokenizer, text: str) -> list[str]:
    return [str(tokenizer.backend.id_to_token(id)) for id in tokenizer.encode(text)]


def spelt(word: str) -> list[str]:
    return [character if place == 0 else PREFIX + character for place, character in enumerate(word)]


def best_pair(counts: Counter[str]) -> str:
    """By the formula, written out."""
    alone: Counter[str] = Counter()
    together: Counter[tuple[str, str]] = Counter()
    for word, times in counts.items():
        pieces = spelt(word)
        for piece in pieces:
            alone[piece] += times
        for pair in pairwise(pieces):
            together[pair] += times
    total = sum(alone.values())
    gain = {(a, b): n * math.log(n * total / (alone[a] * alone[b])) for (a, b), n in together.items()}
    first, second = max(gain, key=lambda pair: gain[pair])
    return first + second.removeprefix(PREFIX)


def test_the_first_piece_is_the_one_that_makes_the_text_likeliest() -> None:
    characters = {piece for word in COUNTS for piece in spelt(word)}
    pieces = train_wordpiece(COUNTS, len(characters) + 1)
    assert set(pieces[:-1]) == characters
    assert pieces[-1] == best_pair(COUNTS)


def test_what_is_common_but_no_more_than_chance_is_not_joined_first() -> None:
    counts = Counter({"ab": 30, "ac": 30, "db": 30, "dc": 31, "xy": 20})
    assert train_wordpiece(counts, 6 + 1)[-1] == "xy"  # byte-pair encoding would take dc


def test_every_piece_is_two_earlier_ones_joined_and_none_comes_twice() -> None:
    pieces = train_wordpiece(COUNTS, 40)
    assert len(set(pieces)) == len(pieces)
    for place, piece in enumerate(pieces):
        if len(piece.removeprefix(PREFIX)) > 1:
            earlier, inside = set(pieces[:place]), piece.startswith(PREFIX)
            body = piece.removeprefix(PREFIX)
            halves = ((body[:i], PREFIX + body[i:]) for i in range(1, len(body)))
            assert any((PREFIX + a if inside else a) in earlier and b in earlier for a, b in halves), piece


def test_words_are_spelt_longest_piece_first() -> None:
    tokenizer = trained(size=400)
    assert tokens(tokenizer, "The zebra slept.") == ["The", "zebra", "slept", "."]
    assert tokens(tokenizer, "那只斑马") == ["那", "只", "斑", "马"]  # each Chinese character is a word
    assert tokenizer.decode(tokenizer.encode("The zebra slept.")) == "The zebra slept."
    assert tokens(tokenizer, "☃") == ["[UNK]"]


def test_marks_have_berts_names_and_places() -> None:
    tokenizer = trained()
    assert [tokenizer.backend.id_to_token(id) for id in range(5)] == list(BERT)
    assert (tokenizer.pad, tokenizer.unknown, tokenizer.start, tokenizer.end, tokenizer.mask) == (0, 1, 2, 3, 4)
    assert tokenizer.mask not in tokenizer.encode("a [MASK] b")  # written in a text, it is text
    framed = tokenizer.backend.encode("a", "b")
    assert framed.tokens[0] == "[CLS]"
    assert framed.tokens.count("[SEP]") == 2
    assert framed.type_ids[-1] == 1


def test_capitals_and_accents_can_be_left_out() -> None:
    assert trained(lowercase=True).encode("ÉTÉ The") == trained(lowercase=True).encode("ete the")
    with pytest.raises(ConfigError, match="lowercase is for wordpiece"):
        train_tokenizer(TEXTS, TokenizerConfig.parse({"kind": "bpe", "lowercase": True}))


@pytest.mark.parametrize("size", [6, 30, 60, 200])
def test_the_vocabulary_is_no_larger_than_asked(size: int) -> None:
    assert len(trained(size=size)) <= size


def test_same_text_same_bytes_whatever_the_order_and_the_process() -> None:
    here = sha256(trained().backend.to_str().encode()).hexdigest()
    assert sha256(trained(TEXTS[::-1]).backend.to_str().encode()).hexdigest() == here
    script = (
        "from hashlib import sha256; from tests.text.test_wordpiece import trained;"
        "print(sha256(trained().backend.to_str().encode()).hexdigest())"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == here
