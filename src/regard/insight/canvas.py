"""From a figure to a file: PNG or SVG, with fonts, without pyplot, the same bytes every time.

matplotlib keeps its settings in one global place, so one picture is drawn at a time.
"""

import io
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from regard.errors import ConfigError
from regard.files import write_atomically
from regard.insight.fonts import FALLBACKS, default_font, font_for, missing_font

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg")
DOTS_PER_INCH = 110
LONGEST_LABEL = 24
_ONE_AT_A_TIME = RLock()


def paint(build: Callable[[], "Figure"], path: Path | str) -> Path:
    """Build a figure and write it as the suffix of the path says."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigError(
            "The suffix of a picture says what to write.",
            found=path.suffix or f"no suffix in {path.name}",
            wanted=" or ".join(SUFFIXES),
        )
    with _settings():
        image = _png(build()) if path.suffix.lower() == ".png" else _svg(build())
    write_atomically(path, image)
    return path


def shown(text: str) -> str:
    """A text as a label: not too long, and without characters that cannot be drawn or written to a file."""
    text = "".join("\ufffd" if unicodedata.category(char) in {"Cc", "Cs", "Cn"} else char for char in text)
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"


def breadth(text: str) -> float:
    """About how broad a text is, in units of its font size. A guess, so that layout needs no font."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    marks = sum(unicodedata.category(char) in {"Mn", "Me", "Cf"} for char in text)
    return 1.02 * wide + 0.62 * (len(text) - wide - marks)


def broadest(texts: Iterable[str]) -> float:
    return max((breadth(text) for text in texts), default=0.0)


@contextmanager
def _settings() -> Iterator[None]:
    import matplotlib

    settings: dict[Any, Any] = {
        "font.family": "sans-serif",
        "font.sans-serif": list(FALLBACKS),
        "svg.fonttype": "none",
        "svg.hashsalt": "regard",
        "text.parse_math": False,  # a token may be a dollar sign
        "text.usetex": False,
    }
    with _ONE_AT_A_TIME, matplotlib.rc_context(settings):
        yield


def _svg(figure: "Figure") -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings():
        # the viewer has its own fonts; whether this machine has one does not matter
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font", category=UserWarning)
        figure.savefig(file, format="svg", dpi=DOTS_PER_INCH, metadata={"Date": None})
    return file.getvalue()


def _png(figure: "Figure") -> bytes:
    _choose_fonts(figure)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})
    return file.getvalue()


def _choose_fonts(figure: "Figure") -> None:
    """Give each text a font that has its characters, or say which characters no font has."""
    from matplotlib.text import Text

    texts = [text for text in figure.findobj(Text) if isinstance(text, Text)]
    fonts = {content: font_for(content) for content in {text.get_text() for text in texts}}
    without = [content for content, font in fonts.items() if font is None]
    if without:
        raise missing_font(without)
    for text in texts:
        font = fonts[text.get_text()]
        if font != default_font():
            properties = text.get_fontproperties().copy()
            properties.set_file(str(font))
            text.set_fontproperties(properties)
