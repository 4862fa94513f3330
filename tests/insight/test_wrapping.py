"""A text on a page of cells: every character has a place, lines end between words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.insight.wrapping import TAB, drawable, laid_out, width


def lines(text: str, columns: int) -> list[str]:
    """The text of each line, as it is laid out."""
    cells = laid_out(text, columns)
    found = [""] * (cells[-1].line + 1 if cells else 0)
    for char, cell in zip(text, cells, strict=True):
        found[cell.line] += char
    return found


@pytest.mark.parametrize(
    ("text", "columns", "wanted"),
    [
        ("one two three", 8, ["one two ", "three"]),
        ("one two", 7, ["one two"]),
        ("one two  \nthree\n\nfour", 7, ["one two  \n", "three\n", "\n", "four"]),
        ('say "yes", he', 9, ["say ", '"yes", he']),
        ("那只斑马,看着", 8, ["那只斑", "马,看着"]),
        ("那只斑马。看", 8, ["那只斑", "马。看"]),
        ("他说：“看书”", 8, ["他说：", "“看书”"]),
        ("a 那只 dog", 6, ["a 那只 ", "dog"]),
        ("unbreakable", 4, ["unbr", "eaka", "ble"]),
        ("斑马斑马", 3, ["斑", "马", "斑", "马"]),
        ("", 5, []),
    ],
)
def test_lines_end_where_a_reader_would_end_them(text: str, columns: int, wanted: list[str]) -> None:
    assert lines(text, columns) == wanted


def test_chinese_takes_two_cells_and_marks_none() -> None:
    assert [width(char) for char in "a猫ｱ，é\u0301\u200d🦁\t"] == [1, 2, 1, 2, 1, 0, 0, 2, TAB]
    assert [cell.column for cell in laid_out("a猫b\tc", 20)] == [0, 1, 3, 4, 8]


@settings(max_examples=200, deadline=None)
@given(text=st.text("ab ,.猫，(（\n\t\u0301", max_size=60), columns=st.integers(6, 20))
def test_every_character_has_its_own_cells_within_the_page(text: str, columns: int) -> None:
    cells = laid_out(text, columns)
    assert len(cells) == len(text)
    assert "".join(lines(text, columns)) == text
    taken = set()
    for char, cell in zip(text, cells, strict=True):
        assert cell.width == width(char)
        if not char.isspace():
            assert cell.column + cell.width <= columns
            own = {(cell.line, cell.column + i) for i in range(cell.width)}
            assert not own & taken
            taken |= own
    for line, after in zip(lines(text, columns), lines(text, columns)[1:], strict=False):
        assert line.count("\n") <= 1
        assert "\n" not in line[:-1]
        assert after


def test_what_cannot_be_drawn_is_replaced() -> None:
    assert drawable("a\x1b[31m\n\tb\ud800猫\x00") == "a�[31m\n\tb�猫�"
