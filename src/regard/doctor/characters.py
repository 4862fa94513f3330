"""What kind of thing each character is, as one table: its script, or that it is a space, a digit, a control character.

A look-up in a table is how millions of lines are judged in seconds: see sides.py.
"""

from collections.abc import Iterable
from functools import cache

import numpy as np

from regard.evaluation.scores import primary

Range = tuple[int, int]

SCRIPTS: dict[str, tuple[Range, ...]] = {
    "Latin": (
        (0x41, 0x5A), (0x61, 0x7A), (0xAA, 0xAA), (0xBA, 0xBA), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x24F),
        (0x1E00, 0x1EFF), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A),
    ),
    "Greek": ((0x370, 0x3FF), (0x1F00, 0x1FFF)),
    "Cyrillic": ((0x400, 0x52F),),
    "Armenian": ((0x531, 0x588),),
    "Hebrew": ((0x5D0, 0x5F2),),
    "Arabic": ((0x620, 0x64A), (0x66E, 0x6D5), (0x6EE, 0x6EF), (0x6FA, 0x6FF), (0x750, 0x77F), (0xFB50, 0xFDFB)),
    "Devanagari": ((0x900, 0x963), (0x970, 0x97F)),
    "Bengali": ((0x980, 0x9E3),),
    "Gurmukhi": ((0xA00, 0xA5F),),
    "Gujarati": ((0xA80, 0xAE3),),
    "Tamil": ((0xB80, 0xBD7),),
    "Telugu": ((0xC00, 0xC63),),
    "Kannada": ((0xC80, 0xCE3),),
    "Malayalam": ((0xD00, 0xD63),),
    "Sinhala": ((0xD80, 0xDDF),),
    "Thai": ((0xE01, 0xE4F),),
    "Lao": ((0xE80, 0xECD),),
    "Tibetan": ((0xF40, 0xFBC),),
    "Burmese": ((0x1000, 0x103F), (0x1050, 0x108F)),
    "Georgian": ((0x10A0, 0x10FF), (0x1C90, 0x1CBF)),
    "Ethiopic": ((0x1200, 0x135A),),
    "Khmer": ((0x1780, 0x17D3),),
    "Hangul": ((0x1100, 0x11FF), (0x3131, 0x318E), (0xAC00, 0xD7A3)),
    "Kana": ((0x3041, 0x3096), (0x30A1, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9D)),
    "Han": ((0x3005, 0x3007), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
}  # fmt: skip
LANGUAGES = {
    "Latin": (
        "en eng de deu fr fra es spa it ita pt por nl nld sv da no nb nn fi is pl cs sk sl hr hu ro et lv lt tr vi id "
        "ms sw af ca eu gl ga cy sq mt la eo tl"
    ),
    "Cyrillic": "ru rus uk ukr be bg mk",
    "Greek": "el ell",
    "Armenian": "hy",
    "Hebrew": "he heb yi",
    "Arabic": "ar ara fa fas ur ps",
    "Devanagari": "hi hin mr ne sa",
    "Bengali": "bn as",
    "Gurmukhi": "pa",
    "Gujarati": "gu",
    "Tamil": "ta",
    "Telugu": "te",
    "Kannada": "kn",
    "Malayalam": "ml",
    "Sinhala": "si",
    "Thai": "th tha",
    "Lao": "lo",
    "Tibetan": "bo",
    "Burmese": "my",
    "Georgian": "ka",
    "Ethiopic": "am ti",
    "Khmer": "km",
    "Hangul": "ko kor",
    "Kana Han": "ja jpn",
    "Han": "zh zho cmn yue",
}
"""The languages that are sure to be written so; of others the lines themselves must tell."""
WITHOUT_SPACES = frozenset({"Han", "Kana", "Thai", "Lao", "Tibetan", "Burmese", "Khmer"})
DENSE = ("Han", "Kana", "Hangul")
"""A character says as much as some three letters."""

NAMES = ("other", "space", "digit", "control", "lost", *SCRIPTS)
OTHER, SPACE, DIGIT, CONTROL, LOST = range(5)
SPACES: tuple[Range, ...] = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x2000, 0x200A),
    (0x202F, 0x202F),
    (0x3000, 0x3000),
)
DIGITS: tuple[Range, ...] = ((0x30, 0x39), (0x660, 0x669), (0x6F0, 0x6F9), (0x966, 0x96F), (0xFF10, 0xFF19))
CONTROLS: tuple[Range, ...] = ((0x00, 0x08), (0x0E, 0x1F), (0x7F, 0x9F), (0xFEFF, 0xFEFF), (0xFFFE, 0xFFFF))
POINTS = 0x110000


@cache
def kinds() -> np.ndarray:
    """For every code point its place in NAMES."""
    table = np.zeros(POINTS, dtype=np.uint8)
    others = {SPACE: SPACES, DIGIT: DIGITS, CONTROL: CONTROLS, LOST: ((0xFFFD, 0xFFFD),)}
    for kind, ranges in {**{NAMES.index(name): ranges for name, ranges in SCRIPTS.items()}, **others}.items():
        for first, last in ranges:
            table[first : last + 1] = kind
    return table


def columns(scripts: Iterable[str]) -> list[int]:
    """The places of these scripts in NAMES."""
    return [NAMES.index(script) for script in scripts]


def script_of(language: str, counts: np.ndarray) -> tuple[str, ...]:
    """The script (Japanese has two) that lines of a language are written in; where the language does not tell, the one
    that most letters are of. counts: characters of each kind."""
    for scripts, languages in LANGUAGES.items():
        if primary(language) in languages.split():
            return tuple(scripts.split())
    most = list(SCRIPTS)[int(counts[columns(SCRIPTS)].argmax())]
    return ("Kana", "Han") if most == "Kana" else (most,)
