"""Each kind of odd line is found, and what only looks like it is not."""

import pytest

from regard.doctor import oddities
from regard.doctor.characters import script_of
from regard.doctor.sides import Side


def rows(found: object) -> list[bool]:
    return list(map(bool, found))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "text", ["cafÃ©", "itâ€™s", "ä½\xa0å¥½", "Ð¿Ñ€Ð¸Ð²ÐµÑ‚", "Â£5", "ÃœbermÃ¤ÃŸig", "dÃ©jÃ\xa0 vu"]
)  # fmt: skip
def test_utf_8_read_as_latin_1_is_found(text: str) -> None:
    assert oddities.is_mojibake(text)


@pytest.mark.parametrize("text", ["café", "l’été…", "Spaß…", "«\xa0bonté\xa0»", "naïve", "“é”", "你好", "привет", "x²"])
def test_text_with_accents_is_not_mojibake(text: str) -> None:
    assert not oddities.is_mojibake(text)


@pytest.mark.parametrize("text", ["Das Mädchen läuft über die Straße.", "L’été, déjà à Noël…", "你好，世界", "Привет"])
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_whatever_is_read_wrongly_is_found(text: str, encoding: str) -> None:
    try:
        broken = text.encode().decode(encoding)
    except UnicodeDecodeError:
        pytest.skip("Windows-1252 has no such byte")
    assert oddities.is_mojibake(broken)


def test_mojibake_and_lost_characters_are_found_among_lines() -> None:
    side = Side.of(["all is well", "cafÃ©", "lost: �", "Zoë"])
    assert rows(oddities.broken(side, ("Latin",))) == [False, True, True, False]


def test_a_copy_may_differ_in_case_and_punctuation_only() -> None:
    sources = ["Good morning!", "Good morning!", "Good morning!", "12:30", "AB"]
    targets = ["Good morning!", "good  morning", "Good moaning!", "12:30", "BA"]
    assert rows(oddities.copied(Side.of(sources), Side.of(targets))) == [True, True, False, False, False]


def test_lines_in_another_script_are_found_names_and_numbers_are_not() -> None:
    side = Side.of(
        ["我喜欢吃鱼。", "This is not Chinese at all.", "iPhone 12", "2024-01-01 12:00", "Tom和Mary喜欢音乐"]
    )
    assert rows(oddities.other_script(side, ("Han",))) == [False, True, False, False, False]
    side = Side.of(["A house by the sea.", "他是一个很好的人。", "Она читает новую книгу.", "…"])
    assert rows(oddities.other_script(side, ("Latin",))) == [False, True, True, False]


@pytest.mark.parametrize(
    ("language", "text", "scripts"),
    [
        ("zh-TW", "abc", ("Han",)),
        ("ja", "abc", ("Kana", "Han")),
        ("ru", "abc", ("Cyrillic",)),
        ("en", "你好", ("Latin",)),
        ("", "你好 abc 世界再见", ("Han",)),
        ("xx", "γειά σου", ("Greek",)),
        ("", "おはようございます。今日", ("Kana", "Han")),
    ],
)
def test_the_language_tells_the_script_or_else_the_lines_do(language: str, text: str, scripts: tuple[str, ...]) -> None:
    assert script_of(language, Side.of([text]).counts.sum(axis=0)) == scripts


def test_control_characters_and_long_lines_are_found() -> None:
    side = Side.of(["bell\x07", "tab\tand\u3000space", "\ufeffmark", "long " * 1000])
    assert rows(oddities.control(side)) == [True, False, True, False]
    assert rows(oddities.long(side)) == [False, False, False, True]


def test_words_marks_and_names_are_counted_line_by_line() -> None:
    side = Side.of(["Is Tom 42?", "no", "  two   words ", "汤姆 Tom 42？"])
    assert side.words.tolist() == [3, 1, 2, 3]
    assert (side.punctuation & 1).tolist() == [1, 0, 0, 1]
    first, second, third, fourth = side.names.tolist()
    assert second == third == 0
    assert first & fourth == fourth != 0
