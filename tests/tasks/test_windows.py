"""Lines in windows: cut by the input alone, translated line for line."""

from collections.abc import Iterator
from itertools import repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import DataError
from regard.tasks import windows as module
from regard.tasks.searching import Search
from regard.tasks.translator import Translator
from regard.tasks.windows import How, Line, Window, translated, windows
from tests.tasks.libraries import lines, small


@pytest.fixture(scope="module")
def translator() -> Translator:
    return small()


def made(translator: Translator, window: Window, how: How) -> tuple[list[int], list[Line]]:
    """What it yields on the way, and what it returns."""
    work, ticks = translated(translator, window, how), []
    while True:
        try:
            ticks.append(next(work))
        except StopIteration as end:
            return ticks, end.value


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from("ab "), max_size=9), max_size=30), st.integers(1, 6), st.integers(1, 20))
def test_windows_hold_every_line_once_and_are_full_but_the_last(texts: list[str], most: int, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LINES", most)
        patch.setattr(module, "CHARACTERS", size)
        found = list(windows(texts, map(str, range(1, 100))))
    assert [line for window in found for line in window.lines] == texts
    assert [prefix for window in found for prefix in window.prefixes] == [str(n + 1) for n in range(len(texts))]
    for window in found:
        assert window.lines == tuple(texts[window.first - 1 : window.last])
        assert len(window.lines) <= most
        assert sum(map(len, window.lines[:-1])) < size
    assert all(len(window.lines) == most or window.size >= size for window in found[:-1])


def test_a_window_is_there_before_the_next_line_is_read() -> None:
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield "some line"

    found = windows(endless())
    assert next(found).last == module.LINES
    assert read == module.LINES
    next(found)
    assert read == 2 * module.LINES


def test_too_few_prefixes_are_told() -> None:
    with pytest.raises(DataError, match="fewer prefixes than lines") as told:
        list(windows(["a", "b", "c"], ["x", "y"]))
    assert told.value.found == "2 prefixes, and a line 3"


def test_too_many_prefixes_are_told_where_each_has_its_line() -> None:
    assert len(list(windows(["a"], ["x", "y"]))) == 1
    with pytest.raises(DataError, match="more prefixes than lines"):
        list(windows(["a"], ["x", "y"], exact=True))


def test_what_looks_like_a_code_is_text_where_a_model_has_none(translator: Translator) -> None:
    parts = How(Search(), split=True).parts(">>Stop!<< The cat slept. A dog slept.", translator)
    assert parts.sentences[-1] == "A dog slept."


def test_each_line_gets_its_translation_and_is_counted_once(translator: Translator) -> None:
    texts, how = tuple(lines(40)), How(Search(beam=2, nbest=2))
    ticks, found = made(translator, Window(101, texts), how)
    assert sum(ticks) == len(texts)
    assert ticks[0] == sum(not text.strip() for text in texts) > 0
    assert [line.number for line in found] == list(range(101, 141))
    assert [line.source for line in found] == list(texts)
    wanted = translator.translations(texts, how.search)
    for line, text, some in zip(found, texts, wanted, strict=True):
        assert [one.text for one in line.found[0]] if text.strip() else not line.found
        assert line.text == (some[0].text if text.strip() else "")


def test_split_lines_keep_their_white_space_and_each_sentence_is_translated_alone(translator: Translator) -> None:
    texts = ("  The cat slept. A dog watched a lion.  ", "", " \t", "The lion heard a cat.")
    _, found = made(translator, Window(1, texts), How(Search(beam=2), split=True))
    one, two, last = (
        translator.translate(text, beam=2) for text in ("The cat slept.", "A dog watched a lion.", texts[3])
    )
    assert [line.text for line in found] == [f"  {one}{two}  ", "", " \t", last]
    assert found[0].sentences == ("The cat slept.", "A dog watched a lion.")


def test_a_sentence_that_is_too_long_is_cut_where_it_was_split(translator: Translator) -> None:
    long = "The cat slept, and " + ", ".join(["a dog watched a lion"] * 12) + "."
    assert not translator.fits(long)
    _, found = made(translator, Window(1, (long,)), How(Search(beam=1), split=True))
    pieces = found[0].sentences
    assert " ".join(pieces) == long
    assert all(translator.fits(piece) for piece in pieces)
    assert all(piece.endswith(",") for piece in pieces[:-1])
    assert found[0].text == "".join(translator.translate(pieces, beam=1))


def test_a_prefix_is_that_of_the_line_not_of_its_sentences(translator: Translator) -> None:
    texts = ("The cat slept. A dog slept.", "The lion heard a cat.")
    window = next(windows(texts, repeat("那只")))
    _, found = made(translator, window, How(Search(beam=1), split=True))
    assert found[0].text == translator.translate("The cat slept.", prefix="那只", beam=1) + translator.translate(
        "A dog slept.", beam=1
    )
    assert found[1].text.startswith("那只")
