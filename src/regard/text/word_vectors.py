"""Files of word vectors, as word2vec writes them and everybody reads them; gzipped if their name ends in .gz.

Text: a line "words width", then for each word a line "word number number …". Binary: the same first line, then for each
word its letters in UTF-8, a space, and its numbers as little-endian float32; a line end may follow, or not.
"""

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float, Float32

from regard.errors import DataError
from regard.files import write_atomically

SHOWN = 60
LONGEST = 1000
"""Bytes of a word; where no space comes for so long, no word ends."""
SPACES = frozenset(" \t\n\r\v\f")
DIGITS, CONTROLS = frozenset(b"0123456789+-.eE naif\t\r"), frozenset(range(32)) - frozenset(b"\t\r\n")
"""What numbers are written with, nan and inf among them; what text does not have."""
WordsAndVectors = tuple[list[str], Float32[np.ndarray, "V D"]]


def read(path: str | Path, *, binary: bool | None = None) -> WordsAndVectors:
    """The words of a file and their vectors, row by row, in the file's order. binary: None if the looks of the file are
    to tell, which is safe unless vectors have one or two numbers only."""
    content = _content(Path(path))
    head, line_end, body = content.partition(b"\n")
    count, width = _sizes(head.decode("ascii", "replace").split(), path)
    if not _looks_like_text(body, width) if binary is None else binary:
        return _read_binary(body, count, width, str(path), len(head) + len(line_end))
    return _read_text(body, count, width, path)


def write(path: str | Path, words: Sequence[str], vectors: Float[np.ndarray, "V D"], *, binary: bool = False) -> None:
    """A file that `read`, gensim and the original program read; each float32 comes back exactly."""
    if len(words) != len(vectors):
        raise DataError("Each word needs a vector.", found=f"{len(words)} words, {len(vectors)} vectors")
    for number, word in enumerate(words):
        if not word or set(word) & SPACES:
            raise DataError(f"Word {number} cannot be written: {word!r}.", wanted="a word without spaces")
    rows = vectors.astype("<f4")
    lines = (
        word.encode() + b" " + (row.tobytes() if binary else " ".join(map(str, row)).encode()) + b"\n"
        for word, row in zip(words, rows, strict=True)
    )
    content = f"{len(words)} {vectors.shape[1]}\n".encode() + b"".join(lines)
    goal = Path(path)
    write_atomically(goal, gzip.compress(content, mtime=0) if goal.suffix == ".gz" else content)


def _content(path: Path) -> bytes:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return file.read()
    except (OSError, EOFError, zlib.error) as error:
        found = getattr(error, "strerror", None) or str(error)
        raise DataError(f"{path} cannot be read.", found=found, do="check the path, or fetch it again") from None


def _sizes(head: Sequence[str], path: str | Path) -> tuple[int, int]:
    if len(head) != 2 or not all(word.isdecimal() for word in head) or not int(head[1]):
        raise DataError(
            f"{path}, line 1: not a file of word vectors",
            found=repr(" ".join(head)[:SHOWN]),
            wanted='how many words there are and how wide their vectors, such as "20000 100"',
            do="GloVe files have no such line: put it in front",
        )
    return int(head[0]), int(head[1])


def _looks_like_text(body: bytes, width: int) -> bool:
    """Where a binary file has its first vector, text has digits for so many numbers at least, and behind the end of the
    line what text has."""
    _, _, numbers = body[: LONGEST + 4 * width].partition(b" ")
    first, _, rest = numbers[: 4 * width].partition(b"\n")
    digits = len(first) >= 2 * width - 1 and set(first) <= DIGITS
    return (digits and not set(rest) & CONTROLS) or not body.strip()


# ---- text


def _read_text(body: bytes, count: int, width: int, path: str | Path) -> WordsAndVectors:
    lines = body.rstrip().split(b"\n") if body.strip() else []
    if len(lines) != count:
        more = len(lines) > count
        raise DataError(
            f"{path}, line {min(len(lines), count) + 2}: {'more words than' if more else 'the file ends before'} "
            "line 1 says",
            found=f"{len(lines):,} words",
            wanted=f"{count:,}",
            do="" if more else "fetch it again: it is truncated",
        )
    words, rows = [], []
    for number, line in enumerate(lines, start=2):
        word, *numbers = line.rstrip().split(b" ")
        try:
            words.append(word.decode())
            rows.append(np.array(numbers, dtype=np.float32).reshape(width))
        except ValueError as error:  # UnicodeDecodeError is one
            raise DataError(
                f"{path}, line {number}: not a word and its vector",
                found=f"{len(numbers)} numbers" if len(numbers) != width else str(error)[:SHOWN],
                wanted=f"a word in UTF-8 and {width} numbers, one space between any two",
            ) from None
    return words, np.array(rows, dtype=np.float32).reshape(count, width)


# ---- binary


def _read_binary(body: bytes, count: int, width: int, path: str, begin: int) -> WordsAndVectors:
    """begin: how many bytes came before, so that a fault is told by its place in the file."""
    words, rows = [], []
    place, size = 0, 4 * width
    for number in range(count):
        place += body[place : place + 1] == b"\n"
        space = body.find(b" ", place, place + LONGEST)
        if space < 0 or space + 1 + size > len(body):
            raise _cut_off(f"{path}, byte {begin + place}", number, count, len(body) - place)
        try:
            words.append(body[place:space].decode())
        except UnicodeDecodeError as error:
            raise DataError(
                f"{path}, byte {begin + place + error.start}: word {number} is not UTF-8",
                found=repr(body[place:space][:SHOWN]),
                wanted=f"a word, a space and {width} numbers of four bytes each",
            ) from None
        rows.append(np.frombuffer(body, "<f4", width, space + 1))
        place = space + 1 + size
    if body[place:].strip(b"\n"):
        raise DataError(
            f"{path}, byte {begin + place}: more than line 1 says",
            found=f"{len(body) - place:,} bytes behind the last word",
            wanted=f"{count:,} words of width {width}",
        )
    return words, np.array(rows, dtype=np.float32).reshape(count, width)


def _cut_off(where: str, number: int, count: int, left: int) -> DataError:
    if left > LONGEST:
        return DataError(f"{where}: no word ends here", found=f"{LONGEST} bytes without a space")
    return DataError(
        f"{where}: the file ends in word {number:,} of {count:,}",
        found=f"{left} bytes",
        wanted="a word, a space and its numbers",
        do="fetch it again: it is truncated",
    )
