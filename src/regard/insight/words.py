"""Where words begin and end in a text, by character offsets.

A word is a run between spaces. Punctuation and symbols are words of their own, except inside a word ("don't", "3.5").
In scripts without spaces (Han, kana, Thai, Lao, Khmer, Burmese, Tibetan) every character is a word.
"""

import unicodedata

SCRIPTS_WITHOUT_SPACES = (
    (0x0E01, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x109F),  # Tibetan, Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # Han radicals
    (0x3005, 0x3007),  # 々 〆 〇
    (0x3041, 0x312F),  # hiragana, katakana, bopomofo
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),  # half-width katakana
    (0x20000, 0x3FFFF),
)


def words_at(text: str) -> tuple[int, ...]:
    """The number of the word that each character belongs to; -1 for a space.

    >>> words_at("no, 河岸")
    (0, 0, 1, -1, 2, 3)
    """
    numbers: list[int] = []
    latest = -1
    for i in range(len(text)):
        if text[i].isspace():
            numbers.append(-1)
            continue
        latest += not (i and numbers[i - 1] == latest and _continues(text, i))
        numbers.append(latest)
    return tuple(numbers)


def _continues(text: str, i: int) -> bool:
    """Whether character i belongs to the word of the character before it (which is not a space)."""
    before, here = text[i - 1], text[i]
    if _sticks(here) or before == "\u200d":  # combining marks; zero-width joiner between emoji
        return True
    if _is_punctuation(here):
        return here == before or _joins(text, i)
    if _is_punctuation(before):
        return _joins(text, i - 1)
    return not (_stands_alone(before) or _stands_alone(here))


def _joins(text: str, i: int) -> bool:
    """Whether the punctuation at i stands inside a word: don't, 3.5, well-known."""
    return 0 < i < len(text) - 1 and all(c.isalnum() and not _stands_alone(c) for c in (text[i - 1], text[i + 1]))


def _stands_alone(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in SCRIPTS_WITHOUT_SPACES)


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS"


def _sticks(char: str) -> bool:
    return unicodedata.category(char) in {"Mn", "Mc", "Me", "Cf"} or 0x1F3FB <= ord(char) <= 0x1F3FF
