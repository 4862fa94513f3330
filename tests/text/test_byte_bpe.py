"""Byte-level BPE: as GPT-2 lays it out, the same each time, and nothing is lost."""

import os
import subprocess
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import ConfigError
from regard.text import Tokenizer
from regard.text.byte_bpe import LEAST, train_byte_bpe
from regard.text.tokenizer import END_OF_TEXT

from .corpus import CHINESE, ENGLISH, TEXTS

ELSEWHERE = """
import sys
from hashlib import sha256
from regard.text.byte_bpe import train_byte_bpe
texts = sys.stdin.buffer.read().decode().split("\\n")
print(sha256(train_byte_bpe(texts, 350).backend.to_str().encode()).hexdigest())
"""


@cache
def trained() -> Tokenizer:
    return train_byte_bpe(TEXTS, 350)


def tokens(tokenizer: Tokenizer, text: str) -> list[str]:
    return [str(tokenizer.backend.id_to_token(id)) for id in tokenizer.encode(text)]


def spelt(byte: int) -> str:
    """The visible character by which GPT-2 writes a byte, by its rule: what is printable stands for itself, and the
    others follow each other from 256 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [other for other in range(256) if other not in printable]
    return chr(byte if byte in printable else 256 + others.index(byte))


def test_bytes_come_first_in_gpt2s_order_and_the_mark_comes_last() -> None:
    tokenizer = trained()
    assert len(tokenizer) == 350
    assert [tokenizer.backend.id_to_token(id) for id in range(256)] == sorted(map(spelt, range(256)))
    assert [tokenizer.backend.id_to_token(id) for id in (0, 32, 220)] == ["!", "A", "Ġ"]  # as in its vocab.json
    assert tokenizer.backend.token_to_id(END_OF_TEXT) == 349
    assert {tokenizer.pad, tokenizer.start, tokenizer.end, tokenizer.unknown} == {349}
    assert tokenizer.mask is None


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_the_same_text_gives_the_same_bytes_in_another_process(hash_seed: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", ELSEWHERE],
        input="\n".join(TEXTS).encode(),
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=True,
    )
    assert run.stdout.decode().split() == [sha256(trained().backend.to_str().encode()).hexdigest()]


def test_neither_the_order_of_the_texts_nor_how_they_are_given_matters() -> None:
    wanted = trained().backend.to_str()
    assert train_byte_bpe(TEXTS[::-1], 350).backend.to_str() == wanted
    assert train_byte_bpe(iter(TEXTS), 350).backend.to_str() == wanted


def test_frequent_words_are_one_token_with_the_space_before_them() -> None:
    assert tokens(train_byte_bpe(ENGLISH, 420), "The cat chased a bird") == ["The", "Ġcat", "Ġchased", "Ġa", "Ġbird"]


def test_words_digits_marks_and_spaces_are_never_joined() -> None:
    tokenizer = train_byte_bpe(["in 1999, they're   here!!\n\n"] * 50, 500)
    assert tokens(tokenizer, "in 1999, they're   here!!") == [
        "in", "Ġ1999", ",", "Ġthey", "'re", "ĠĠ", "Ġhere", "!!",
    ]  # fmt: skip


@given(text=st.text(st.characters(codec="utf-8")))
@settings(max_examples=300, deadline=None)
def test_any_text_comes_back_as_it_was(text: str) -> None:
    tokenizer = trained()
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert tokenizer.end not in ids
    places = [(piece.start, piece.end) for piece in tokenizer.pieces(text)]
    assert {at for start, end in places for at in range(start, end)} == set(range(len(text)))


@given(data=st.binary(max_size=20))
@settings(max_examples=300, deadline=None)
def test_bytes_that_are_no_text_are_decoded_as_python_does(data: bytes) -> None:
    ids = [trained().backend.token_to_id(spelt(byte)) for byte in data]
    assert trained().decode(ids) == data.decode("utf-8", "replace")


@pytest.mark.parametrize("text", [END_OF_TEXT, f"a {END_OF_TEXT} b", f"{END_OF_TEXT}{END_OF_TEXT}"])
def test_a_mark_typed_by_a_user_is_text(text: str) -> None:
    ids = trained().encode(text)
    assert trained().end not in ids
    assert trained().decode(ids) == text
    assert trained().decode([*ids, trained().end]) == text


def test_a_training_text_full_of_marks_does_not_make_them_more() -> None:
    tokenizer = train_byte_bpe([f"cat{END_OF_TEXT}dog <s> </s> <pad> [PAD] <unk>"] * 50, 400)
    assert tokenizer.backend.token_to_id(END_OF_TEXT) == tokenizer.end == tokenizer.pad == len(tokenizer) - 1
    assert tokenizer.end not in tokenizer.encode(f"cat{END_OF_TEXT}dog")


@pytest.mark.parametrize("size", [LEAST, LEAST + 1, 300])
def test_the_vocabulary_is_as_large_as_asked_and_no_larger(size: int) -> None:
    tokenizer = train_byte_bpe(TEXTS, size)
    assert sorted(tokenizer.backend.get_vocab().values()) == list(range(size))
    assert tokenizer.decode(tokenizer.encode(CHINESE[0])) == CHINESE[0]


def test_a_text_may_give_fewer_entries_than_asked() -> None:
    assert len(train_byte_bpe(["a cat"], 8000)) == LEAST  # no pair occurs twice
    assert len(train_byte_bpe([], 8000)) == LEAST


def test_too_small_a_size_is_refused_and_the_least_is_told() -> None:
    with pytest.raises(ConfigError, match=r"tokenizer\.size=256 leaves no room(.|\n)*at least 257: the 256 bytes and"):
        train_byte_bpe(TEXTS, 256)


def test_a_saved_tokenizer_is_the_same_when_it_is_loaded(tmp_path: Path) -> None:
    trained().save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    text = f"The yak {END_OF_TEXT} 猫😀\n"
    assert loaded.pieces(text) == trained().pieces(text)
    assert (loaded.end, len(loaded)) == (trained().end, len(trained()))
