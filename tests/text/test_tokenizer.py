"""Nothing is lost on the way to tokens and back, and every token knows where its surface stands."""

import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Backend
from tokenizers import models

from regard.errors import BundleError
from regard.text import Piece, Tokenizer, TokenizerConfig, train_tokenizer
from regard.text.tokenizer import SPECIALS

from .corpus import KINDS, NOTHING_UNKNOWN, TEXTS

ODD = " \u00a0\u3000\n\r\t\x00\x85\u2028\u200b\u200d\u0301éß猫狗龘あ한ש٣²½😀👩<>/sx0"
ANY_TEXT = st.text(
    st.sampled_from(ODD) | st.sampled_from("aehrtTcd ") | st.characters(codec="utf-8", exclude_characters="▁")
)


@cache
def trained(kind: str) -> Tokenizer:
    return train_tokenizer(TEXTS, TokenizerConfig.parse({"kind": kind, "size": 400}))


def surfaces(tokenizer: Tokenizer, text: str) -> list[tuple[str, str]]:
    """Each token beside the text that it points at."""
    return [(str(tokenizer.backend.id_to_token(p.id)), text[p.start : p.end]) for p in tokenizer.pieces(text)]


@pytest.mark.parametrize("kind", NOTHING_UNKNOWN)
@given(text=ANY_TEXT)
@settings(max_examples=300, deadline=None)
def test_any_text_comes_back_as_it_was(kind: str, text: str) -> None:
    tokenizer = trained(kind)
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert not set(ids) & {tokenizer.pad, tokenizer.start, tokenizer.end, tokenizer.unknown}


@pytest.mark.parametrize("kind", NOTHING_UNKNOWN)
@pytest.mark.parametrize("text", ["", " ", "   a  b ", "\n\n", "猫", " 猫", "猫 狗", "</s>", "<0x41>", "<unk> <pad>"])
def test_spaces_and_marks_come_back_as_they_were(kind: str, text: str) -> None:
    tokenizer = trained(kind)
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@given(text=ANY_TEXT)
@settings(max_examples=300, deadline=None)
def test_pieces_follow_each_other_and_show_each_character_once(kind: str, text: str) -> None:
    tokenizer, last = trained(kind), Piece(0, 0, 0)
    for number, piece in enumerate(tokenizer.pieces(text)):
        token, surface = str(tokenizer.backend.id_to_token(piece.id)), text[piece.start : piece.end]
        if re.fullmatch("<0x..>", token):
            assert len(surface) == 1
            assert piece.start == last.end or (piece.start, piece.end) == (last.start, last.end)
        else:
            assert piece.start == last.end
            assert token in (surface.replace(" ", "▁"), "▁" * (number == 0) + surface.replace(" ", "▁"))
        last = piece
    assert last.end == len(text)


@given(text=ANY_TEXT)
@settings(max_examples=200, deadline=None)
def test_pieces_of_bytes_cover_the_text_in_order(text: str) -> None:
    places = [(piece.start, piece.end) for piece in trained("byte-bpe").pieces(text)]
    assert places == sorted(places)
    assert {at for start, end in places for at in range(start, end)} == set(range(len(text)))


@pytest.mark.parametrize("kind", KINDS)
@given(text=ANY_TEXT)
@settings(max_examples=50, deadline=None)
def test_one_text_gives_the_same_ids_in_each_way_of_asking(kind: str, text: str) -> None:
    tokenizer = trained(kind)
    ids = tokenizer.encode(text)
    assert tokenizer.encode_all([text, "a", text]) == [ids, tokenizer.encode("a"), ids]
    assert [piece.id for piece in tokenizer.pieces(text)] == ids


@pytest.mark.parametrize("kind", NOTHING_UNKNOWN)
def test_the_bytes_of_one_character_all_point_at_the_whole_character(kind: str) -> None:
    assert [surface for _, surface in surfaces(trained(kind), "猫😀😁") if surface in "😀😁"] == ["😀"] * 4 + ["😁"] * 4


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("text", ["Qx", "😀", " Qx", "  ", "\n", ",a"])
def test_a_space_that_nobody_wrote_points_at_nothing(kind: str, text: str) -> None:
    tokenizer = trained(kind)
    first, second = tokenizer.pieces(text)[:2]
    assert tokenizer.backend.id_to_token(first.id) == "▁"
    assert (first.start, first.end) == (0, 0)
    assert second.start == 0


def test_a_space_mark_that_somebody_wrote_points_at_itself() -> None:
    tokenizer = train_tokenizer(["▁a"], TokenizerConfig(kind="character", size=10))
    assert [(piece.start, piece.end) for piece in tokenizer.pieces("▁a")] == [(0, 1), (1, 2)]
    assert [(piece.start, piece.end) for piece in tokenizer.pieces("▁")] == [(0, 1)]


def test_a_word_points_at_itself_without_the_spaces_around_it() -> None:
    assert surfaces(trained("word"), "  The  yak chased") == [("The", "The"), ("<unk>", "yak"), ("chased", "chased")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mark", SPECIALS)
def test_a_mark_typed_by_a_user_is_text(kind: str, mark: str) -> None:
    tokenizer = trained(kind)
    for text in (mark, f"The {mark} cat", f"{mark}{mark}"):
        pieces = tokenizer.pieces(text)
        assert not {piece.id for piece in pieces} & {tokenizer.pad, tokenizer.start, tokenizer.end}
        if kind in NOTHING_UNKNOWN:
            assert tokenizer.decode([piece.id for piece in pieces]) == text
    if kind == "word":
        assert tokenizer.pieces(f"The {mark} cat")[1] == Piece(tokenizer.unknown, 4, 4 + len(mark))


@pytest.mark.parametrize("kind", KINDS)
def test_marks_are_left_out_of_a_decoded_text_but_the_unknown_is_seen(kind: str) -> None:
    tokenizer = trained(kind)
    ids = tokenizer.encode("The cat")
    assert tokenizer.decode([tokenizer.start, *ids, tokenizer.end, tokenizer.pad]) == "The cat"
    if kind not in NOTHING_UNKNOWN:
        assert "<unk>" in tokenizer.decode([*ids, tokenizer.unknown])


def test_bytes_that_are_no_character_become_a_replacement_character() -> None:
    tokenizer = trained("bpe")
    byte = tokenizer.backend.token_to_id("<0xE7>")
    assert byte is not None
    assert tokenizer.decode([*tokenizer.encode("cat"), byte]) == "cat�"


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_tokenizer_is_the_same_when_it_is_loaded(kind: str, tmp_path: Path) -> None:
    trained(kind).save(tmp_path / "one.json")
    loaded = Tokenizer.load(tmp_path / "one.json")
    loaded.save(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert len(loaded) == len(trained(kind))
    assert loaded.pieces("The yak </s> 猫😀") == trained(kind).pieces("The yak </s> 猫😀")


def test_a_missing_or_damaged_file_or_one_without_marks_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    with pytest.raises(BundleError, match="tokenizer.json is missing"):
        Tokenizer.load(path)
    path.write_text('{"version": "1.0", "model"')
    with pytest.raises(BundleError, match="tokenizer.json is damaged or not a tokenizer"):
        Tokenizer.load(path)
    with pytest.raises(BundleError, match="no mark for pad"):
        Tokenizer(Backend(models.BPE()))
