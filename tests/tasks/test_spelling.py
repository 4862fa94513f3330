"""Tokens become text while they come: whole characters, nothing of a stop string, all of the text in the end."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.tasks.spelling import BYTES, HALF, Growing, Spelling, spelt, surface
from regard.text import Tokenizer, TokenizerConfig, train_tokenizer
from regard.text.byte_bpe import train_byte_bpe
from regard.text.characters import character_tokenizer
from tests.text.corpus import TEXTS

TOKENIZERS = {
    "byte-bpe": train_byte_bpe(TEXTS, 300),
    "bytes only": train_byte_bpe([], 257),
    "bpe": train_tokenizer(TEXTS, TokenizerConfig(kind="bpe", size=400)),
    "unigram": train_tokenizer(TEXTS, TokenizerConfig(kind="unigram", size=320)),
    "characters": character_tokenizer([*TEXTS, "🦁\n"]),
}
SENTENCE = "The cat 🦁 saw 那只斑马,\nthen 👩‍👩‍👧 naß\u0301."
every_tokenizer = pytest.mark.parametrize("kind", TOKENIZERS)


def pieces(tokenizer: Tokenizer, ids: Sequence[int], before: Sequence[int] = ()) -> list[str]:
    spelling = Spelling(tokenizer, before)
    return [*(spelling.add(id) for id in ids), spelling.rest()]


@every_tokenizer
def test_pieces_are_the_text_and_none_is_half_a_character(kind: str) -> None:
    tokenizer = TOKENIZERS[kind]
    ids = tokenizer.encode(SENTENCE)
    found = pieces(tokenizer, ids)
    assert "".join(found) == tokenizer.decode(ids)
    if kind != "characters":  # which does not know all of it
        assert "".join(found) == SENTENCE
        assert not any(HALF in piece for piece in found)


def test_a_character_of_several_tokens_comes_with_its_last() -> None:
    tokenizer = TOKENIZERS["bytes only"]
    assert pieces(tokenizer, tokenizer.encode("a猫🦁")) == ["a", "", "", "猫", "", "", "", "🦁", ""]


@every_tokenizer
def test_what_follows_a_prompt_is_what_is_added_to_it(kind: str) -> None:
    tokenizer = TOKENIZERS[kind]
    for first, then in (("The cat", " saw the zebra"), ("那只", "斑马 a"), ("The ", "cat"), ("The c", "at")):
        ids = tokenizer.encode(first + then)
        for cut in range(1, len(ids)):
            before = tokenizer.decode(ids[:cut])
            if not before.endswith(HALF):
                assert before + "".join(pieces(tokenizer, ids[cut:], ids[:cut])) == tokenizer.decode(ids)


@settings(max_examples=150, deadline=None)
@given(ids=st.lists(st.integers(0, len(TOKENIZERS["byte-bpe"]) - 2), max_size=40), cut=st.integers(0, 5))
def test_any_tokens_give_the_text_that_decoding_them_at_once_gives(ids: list[int], cut: int) -> None:
    """Bytes that never become a character included."""
    tokenizer = TOKENIZERS["byte-bpe"]
    before = tokenizer.decode(ids[:cut])
    found = "".join(pieces(tokenizer, ids[cut:], ids[:cut]))
    if before.endswith(HALF):
        assert tokenizer.decode(ids).endswith(found)
    else:
        assert before + found == tokenizer.decode(ids)


@every_tokenizer
def test_tokens_have_places_that_cover_the_text(kind: str) -> None:
    tokenizer = TOKENIZERS[kind]
    ids = tokenizer.encode(SENTENCE)
    text, places = spelt(tokenizer, ids)
    assert text == tokenizer.decode(ids)
    assert len(places) == len(ids)
    borders = list(dict.fromkeys(places))
    assert [start for start, _ in borders] == [0, *(end for _, end in borders[:-1])]
    assert borders[-1][1] == len(text)
    if kind.startswith("byte"):
        assert places == [(piece.start, piece.end) for piece in tokenizer.pieces(SENTENCE)]


def test_the_end_of_a_text_that_is_half_a_character_has_a_place() -> None:
    tokenizer = TOKENIZERS["bytes only"]
    assert spelt(tokenizer, tokenizer.encode("a猫")[:3]) == ("a" + HALF, [(0, 1), (1, 2), (1, 2)])
    assert spelt(tokenizer, []) == ("", [])


def test_tokens_are_shown_with_their_spaces_and_bytes() -> None:
    tokenizer = TOKENIZERS["bytes only"]
    shown = [surface(tokenizer, id) for id in tokenizer.encode("a \n猫")]
    assert shown == ["a", " ", "\n", "<E7>", "<8C>", "<AB>"]
    assert surface(tokenizer, tokenizer.end) == "<|endoftext|>"
    joined = TOKENIZERS["byte-bpe"]
    assert [surface(joined, id) for id in joined.encode("The cat")] == ["The", " c", "at"]
    fallback = TOKENIZERS["bpe"]
    assert [surface(fallback, id) for id in fallback.encode("cat 🦁")] == [" cat", " ", "<F0>", "<9F>", "<A6>", "<81>"]
    assert bytes(BYTES[char] for char in "ĠAĊÿ") == b" A\n\xff"
    assert sorted(BYTES.values()) == list(range(256))


# Stop strings


def grown(tokenizer: Tokenizer, text: str, stops: Sequence[str]) -> tuple[str, list[str], int]:
    """The text, the pieces that were shown, and how many tokens were taken."""
    growing, shown = Growing(tokenizer, (), stops), []
    ids = tokenizer.encode(text)
    for count, id in enumerate(ids, start=1):
        stopped = growing.add(id)
        if stopped or count == len(ids):
            growing.close()
        shown.append(growing.news())
        if stopped:
            return growing.text, shown, count
    return growing.text, shown, len(ids)


@pytest.mark.parametrize("kind", ["byte-bpe", "bytes only", "characters"])
@pytest.mark.parametrize(
    ("text", "stops", "wanted"),
    [
        ("The cat saw.\n\nThe dog", ["\n\n"], "The cat saw."),
        ("The cat saw.\nThe dog\n\n", ["\n\n"], "The cat saw.\nThe dog"),
        ("The cat saw", ["dog"], "The cat saw"),
        ("那只斑马然后睡了", ["然后睡"], "那只斑马"),
        ("aaab", ["aab"], "a"),
        ("ababac", ["abac", "zz"], "ab"),
        ("The cat", ["The"], ""),
        ("The cat sat", ["cat sat", "at s"], "The "),
        ("The ca", ["cat"], "The ca"),
        ("a🦁b", ["🦁"], "a"),
    ],
)
def test_a_text_ends_before_the_first_stop_string_and_nothing_of_it_is_shown(
    kind: str, text: str, stops: list[str], wanted: str
) -> None:
    tokenizer = TOKENIZERS[kind]
    found, shown, taken = grown(tokenizer, text, stops)
    if "at s" in stops and found != wanted:  # where it comes token by token, the shorter one is there first
        wanted = "The c"
    assert found == wanted
    assert "".join(shown) == wanted
    ends = [text.find(stop) + len(stop) for stop in stops if stop in text]
    if ends:
        assert len(tokenizer.decode(tokenizer.encode(text)[:taken])) >= min(ends)
        assert len(tokenizer.decode(tokenizer.encode(text)[: taken - 1]).rstrip(HALF)) < min(ends)


def test_only_what_may_begin_a_stop_string_is_held_back() -> None:
    growing, shown = Growing(TOKENIZERS["bytes only"], (), ["END"]), []
    for id in TOKENIZERS["bytes only"].encode("xEEN ENd"):
        growing.add(id)
        shown.append(growing.news())
    assert shown == ["x", "", "E", "", "EN ", "", "", "ENd"]


@pytest.mark.timeout(60)
def test_a_stop_string_longer_than_any_text_costs_nothing() -> None:
    growing = Growing(TOKENIZERS["bytes only"], (), ["x" * 1_000_000])
    for id in TOKENIZERS["bytes only"].encode("xxy" * 200):
        growing.add(id)
        growing.news()
    assert growing.shown == 600


@settings(max_examples=100, deadline=None)
@given(text=st.text("ab猫", max_size=12), stops=st.lists(st.text("ab猫", min_size=1, max_size=4), max_size=3))
def test_what_is_shown_is_always_the_text_up_to_a_stop_string(text: str, stops: list[str]) -> None:
    found, shown, _ = grown(TOKENIZERS["bytes only"], text, stops)
    assert "".join(shown) == found
    assert text.startswith(found)
    assert not any(stop in found for stop in stops)
    assert found == text or any(text[len(found) :].startswith(stop) for stop in stops)
