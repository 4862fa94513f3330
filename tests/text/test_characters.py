"""A token for each character of the training text; what is unknown is seen to be unknown."""

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.text import Tokenizer
from regard.text.characters import character_tokenizer, unknown_characters
from regard.text.tokenizer import END_OF_TEXT

from .corpus import TEXTS

TEXT = "First Citizen:\nBefore we proceed any further, hear me speak. 猫\t😀\r\n"


@cache
def trained() -> Tokenizer:
    return character_tokenizer([TEXT, *TEXTS])


def test_ids_are_ranks_among_the_characters_of_the_text() -> None:
    tokenizer = character_tokenizer(["hello", "world\n"])
    known = sorted(set("helloworld\n"))
    assert tokenizer.encode("\nwollen") == [known.index(letter) if letter in known else 9 for letter in "\nwollen"]
    assert [tokenizer.backend.id_to_token(id) for id in range(len(tokenizer))] == [*known, END_OF_TEXT, "<unk>"]
    assert (tokenizer.end, tokenizer.start, tokenizer.pad, tokenizer.unknown) == (8, 8, 8, 9)


@given(text=st.text(st.sampled_from(sorted(set(TEXT)))))
@settings(deadline=None)
def test_known_characters_come_back_one_token_each(text: str) -> None:
    ids = trained().encode(text)
    assert len(ids) == len(text)
    assert trained().decode(ids) == text
    assert not unknown_characters(trained(), text)


@given(text=st.text(st.characters(codec="utf-8") | st.sampled_from(TEXT)))
@settings(deadline=None)
def test_an_unknown_character_is_one_mark_and_comes_back_as_a_replacement(text: str) -> None:
    known = set("".join([TEXT, *TEXTS]))
    ids = trained().encode(text)
    assert trained().decode(ids) == "".join(one if one in known else "\ufffd" for one in text)
    assert [(piece.start, piece.end) for piece in trained().pieces(text)] == [(at, at + 1) for at in range(len(text))]
    missing = unknown_characters(trained(), text)
    assert set(missing) == set(text) - known
    assert missing.total() == ids.count(trained().unknown)


def test_a_half_character_is_unknown_too() -> None:
    tokenizer = character_tokenizer(["ab\udce9"])
    assert tokenizer.encode("a\udce9") == [0, tokenizer.unknown]
    assert unknown_characters(tokenizer, "a\udce9\udce9") == {"\udce9": 2}


@pytest.mark.parametrize("mark", [END_OF_TEXT, "<unk>", "<s>", "</s>", "<pad>"])
def test_a_mark_typed_by_a_user_is_text(mark: str) -> None:
    tokenizer = character_tokenizer(["a <|endoftext|> </s> <unk> <pad>"])
    ids = tokenizer.encode(f"a {mark}")
    assert tokenizer.decode(ids) == f"a {mark}"
    assert len(ids) == 2 + len(mark)
    assert not {tokenizer.end, tokenizer.unknown} & set(ids)


def test_marks_are_left_out_of_a_decoded_text() -> None:
    assert trained().decode([trained().end, *trained().encode("me"), trained().end]) == "me"


def test_neither_the_order_of_the_texts_nor_how_they_are_given_matters() -> None:
    assert character_tokenizer(reversed([TEXT, *TEXTS])).backend.to_str() == trained().backend.to_str()


def test_a_saved_tokenizer_is_the_same_when_it_is_loaded(tmp_path: Path) -> None:
    trained().save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    assert loaded.pieces("Citizens é \r\n") == trained().pieces("Citizens é \r\n")
    assert loaded.encode_all([TEXT, "ж"]) == [trained().encode(TEXT), [trained().unknown]]
    assert loaded.decode(loaded.encode("Citizen ж")) == "Citizen \ufffd"


def test_a_long_text_is_read_whole() -> None:
    text = TEXT * 3000
    assert trained().decode(trained().encode(text)) == text


def test_no_text_at_all_leaves_the_marks() -> None:
    tokenizer = character_tokenizer([])
    assert len(tokenizer) == 2
    assert tokenizer.encode("ab") == [tokenizer.unknown] * 2
