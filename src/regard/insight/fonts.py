"""Which font on this machine can draw a text. Only PNG needs one: an SVG leaves its text to whoever shows it."""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from regard.errors import ConfigError

FAMILIES = (  # of file names, best first
    ("notosanscjk", "notosanssc", "notosanstc", "notosansjp", "notosanskr"),
    ("sourcehansans",),
    ("wqy-zenhei", "wqy-microhei", "wqy"),
    ("pingfang", "hiragino", "stheiti"),
    ("msyh", "simhei", "msjh", "simsun", "yugoth", "malgun"),
    ("droidsansfallback",),
    ("arialunicode", "arial unicode"),
    ("notoserifcjk", "uming", "ukai"),
    ("notosans",),
)
FALLBACKS = (  # what an SVG asks of its viewer, the font that comes with matplotlib first
    "DejaVu Sans",
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "PingFang SC",
    "Microsoft YaHei",
    "SimHei",
    "Arial Unicode MS",
)


class MissingFontError(ConfigError):
    """No font on this machine has the characters of a PNG. An SVG needs none."""


def font_for(text: str) -> Path | None:
    """A font that has every character of the text: matplotlib's own if it does, else one of the system's, else None."""
    needed = _needed(text)
    return next((path for path in (default_font(), *system_fonts()) if needed <= _characters(path)), None)


def missing_font(texts: Iterable[str]) -> MissingFontError:
    """What to say when no font can draw these texts."""
    lacking = sorted(set().union(*map(_needed, texts)) - _characters(default_font()))
    return MissingFontError(
        "No font on this machine can draw all the characters of this picture as PNG.",
        found="no font for " + "".join(map(chr, lacking[:20])) + "…" * (len(lacking) > 20),
        wanted="a font with these characters (for Chinese, Japanese and Korean: a CJK font)",
        do="write .svg, which needs no font; or install one: `apt install fonts-noto-cjk` or the small "
        "`fonts-wqy-zenhei` (Debian, Ubuntu), `dnf install google-noto-sans-cjk-fonts` (Fedora); macOS and Windows "
        "bring one; for other scripts see fonts-noto-core",
    )


@lru_cache(maxsize=1)
def default_font() -> Path:
    """The font that comes with matplotlib."""
    import matplotlib

    return Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")


@lru_cache(maxsize=1)
def system_fonts() -> tuple[Path, ...]:
    """The fonts of this machine, those for Chinese and its neighbours first, regular faces before bold ones."""
    from matplotlib.font_manager import findSystemFonts

    return tuple(sorted(map(Path, findSystemFonts()), key=_preference))


def _preference(path: Path) -> tuple[int, bool, str]:
    name = path.name.lower()
    rank = next((i for i, names in enumerate(FAMILIES) if name.startswith(names)), len(FAMILIES))
    unusual = any(word in name for word in ("bold", "black", "light", "thin", "italic", "oblique", "mono", "msyhbd"))
    return rank, unusual, str(path)


@lru_cache(maxsize=512)
def _characters(path: Path) -> frozenset[int]:
    """The characters that a font can draw; none if it is unreadable or only bitmaps. Of a .ttc, the first face."""
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(str(path))
        return frozenset(font.get_charmap()) if font.scalable else frozenset()
    except (RuntimeError, OSError):
        return frozenset()


def _needed(text: str) -> frozenset[int]:
    """The characters that leave a mark: no spaces, joiners or direction marks."""
    return frozenset(ord(char) for char in text if unicodedata.category(char) not in {"Cf", "Cc", "Zs", "Zl", "Zp"})
