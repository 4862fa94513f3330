import pytest

from regard.insight import Token, TokenRow
from regard.insight.words import words_at


def words(text: str) -> list[str]:
    numbers = words_at(text)
    return [
        "".join(c for c, n in zip(text, numbers, strict=True) if n == i) for i in range(max(numbers, default=-1) + 1)
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the river bank", ["the", "river", "bank"]),
        ("Stop, now!", ["Stop", ",", "now", "!"]),
        ("don't pay 3.5", ["don't", "pay", "3.5"]),
        ("well-known (yes)", ["well-known", "(", "yes", ")"]),
        ("河岸边。", ["河", "岸", "边", "。"]),
        ("第3页 OK", ["第", "3", "页", "OK"]),
        ("ひらカナ", ["ひ", "ら", "カ", "ナ"]),
        ("กิน", ["กิ", "น"]),  # a mark stays with its letter
        ("cafe\u0301 au", ["cafe\u0301", "au"]),
        ("wait...", ["wait", "..."]),
        ("한국어 책", ["한국어", "책"]),
        ("", []),
    ],
)
def test_words_end_at_spaces_and_punctuation_and_around_every_han_character(text: str, wanted: list[str]) -> None:
    assert words(text) == wanted


def test_pieces_of_a_word_group_together_and_punctuation_stays_apart() -> None:
    row = TokenRow.from_offsets("the bank.", [(0, 3), (3, 6), (6, 8), (8, 9)])
    assert row.words() == ((0,), (1, 2), (3,))
    assert row.merged(row.words()).surfaces == ("the", " bank", ".")
    assert row.merged(row.words()).labels == ("the", "bank", ".")


def test_a_piece_that_spans_several_words_is_not_split() -> None:
    assert TokenRow.from_offsets("河岸边", [(0, 2), (2, 3)]).words() == ((0,), (1,))
    assert TokenRow.from_offsets("no, yes", [(0, 1), (1, 3), (3, 7)]).words() == ((0, 1), (2,))


def test_bytes_of_one_character_show_and_become_the_whole_character() -> None:
    row = TokenRow.from_offsets("河岸", [(0, 1), (1, 2), (1, 2), (1, 2)], ids=[7, 1, 2, 3])
    assert row.surfaces == ("河", "岸", "岸", "岸")
    assert row.words() == ((0,), (1, 2, 3))
    assert row.merged(row.words()).tokens[1] == Token("岸", 1, 2, ids=(1, 2, 3))


def test_a_lone_space_goes_with_the_next_word_and_a_line_break_stays_alone() -> None:
    row = TokenRow.from_offsets("a b\nc", [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)])
    assert row.words() == ((0,), (1, 2), (3,), (4,))
    assert row.labels[1] == "␣"
    assert row.labels[3] == "↵"


def test_special_tokens_keep_their_name_and_stay_alone() -> None:
    row = TokenRow.from_offsets("bank", [(0, 0), (0, 2), (2, 4), (0, 0)], specials={0: "<s>", 3: "</s>"})
    assert row.surfaces == ("<s>", "ba", "nk", "</s>")
    assert row.words() == ((0,), (1, 2), (3,))
    assert all(token.start == token.end for token in row.tokens if token.special)


def test_whole_words_make_a_row_of_their_own() -> None:
    row = TokenRow.of(["the", "bank", "</s>"], "en", specials=["</s>"])
    assert (row.text, row.language, row.regular) == ("the bank", "en", (0, 1))
    assert [row.text[token.start : token.end] for token in row.tokens] == ["the", "bank", ""]
