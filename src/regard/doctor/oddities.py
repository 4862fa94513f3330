"""Lines that are not what a line should be, each kind found by a function from a side to a bool for each text."""

import re
import unicodedata

import numpy as np

from regard.doctor.characters import CONTROL, DENSE, DIGIT, LOST, NAMES, SCRIPTS, columns, kinds
from regard.doctor.sides import Side

LONG = 3000
"""Characters from which on a line is hardly one sentence."""
ENOUGH = 15
"""Letters from which on a line is more than a name."""
FEW = 0.1
"""Share of the expected letters below which a line is in another script."""


def copied(source: Side, target: Side) -> np.ndarray:
    """The target is the source, but for case, spaces and punctuation; what has no letters may well be the same."""
    letters, kept = columns(SCRIPTS), [DIGIT, *columns(SCRIPTS)]
    same = (source.counts[:, kept] == target.counts[:, kept]).all(axis=1)
    found = np.asarray(same & source.counts[:, letters].any(axis=1))
    for row in np.flatnonzero(found).tolist():
        found[row] = _plain(source.texts[row]) == _plain(target.texts[row])
    return found


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def other_script(side: Side, scripts: tuple[str, ...]) -> np.ndarray:
    """There are letters enough, and hardly any of these scripts."""
    own, letters = side.counts[:, columns(scripts)].sum(axis=1), side.counts[:, columns(SCRIPTS)].sum(axis=1)
    weighed = letters + 2 * side.counts[:, columns(DENSE)].sum(axis=1)
    return np.asarray((weighed >= ENOUGH) & (own <= FEW * letters))


def control(side: Side) -> np.ndarray:
    return np.asarray(side.counts[:, CONTROL] > 0)


def long(side: Side) -> np.ndarray:
    return np.asarray(side.lengths > LONG)


def one_character(side: Side) -> np.ndarray:
    return np.asarray(side.lengths == 1)


# ---- UTF-8 that was read as Latin-1 or Windows-1252

WINDOWS = {ord(bytes([byte]).decode("cp1252", "ignore") or chr(byte)): byte for byte in range(0x80, 0xA0)}
"""The characters that Windows-1252 has for the bytes 80 to 9F."""
RUN = re.compile(r"(?:[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})+")


def broken(side: Side, scripts: tuple[str, ...]) -> np.ndarray:
    """Characters were lost (�), or bytes of UTF-8 stand there as characters: “Ã©” for “é”."""
    found = side.counts[:, LOST] > 0
    leads = np.flatnonzero((side.codes[:-1] >= 0xC2) & (side.codes[:-1] <= 0xF4))
    suspect = np.zeros_like(found)
    suspect[side.rows[leads[_continues(side.codes[leads + 1])]]] = True
    for row in np.flatnonzero(suspect).tolist():
        found[row] |= is_mojibake(side.texts[row], scripts)
    return np.asarray(found)


def is_mojibake(text: str, scripts: tuple[str, ...] = ("Latin",)) -> bool:
    """Some characters are well-formed UTF-8 if taken as bytes, and give what such a text may hold. Two in a row are
    proof whatever they give; one alone may be chance: “é »” with a hard space is French."""
    for run in RUN.findall(text.translate(WINDOWS)):
        characters = run.encode("latin-1").decode("utf-8", "replace")
        if "\ufffd" not in characters and (len(characters) > 1 or _may_stand(characters, scripts)):
            return True
    return False


def _may_stand(character: str, scripts: tuple[str, ...]) -> bool:
    return (
        NAMES[kinds()[ord(character)]] in ("Latin", *scripts) or "\u2010" <= character <= "\u20ac" or character in MEANT
    )


MEANT = "\xa0¡¢£§©«®°±·»¿，。？！：、“”‘’"


def _continues(codes: np.ndarray) -> np.ndarray:
    """Which of them stand for the bytes 80 to BF."""
    return np.asarray(((codes >= 0x80) & (codes <= 0xBF)) | np.isin(codes, list(WINDOWS)))
