"""From a path to its lines: plain or packed (.gz, .bz2), "-" for standard input, strict UTF-8.

Only \\n and \\r\\n end a line, so that line numbers agree with `sed -n 5p` whatever Unicode a line holds.
"""

import bz2
import gzip
import hashlib
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from regard.errors import DataError

BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """A line of a file without its end, still as bytes."""

    file: str
    number: int
    raw: bytes

    def decoded(self) -> str:
        try:
            return self.raw.decode()
        except UnicodeDecodeError as error:
            found = f"byte 0x{self.raw[error.start]:02X} at byte offset {error.start} of the line"
            raise not_utf8(self.file, found) from None

    def shown(self, most: int | None = None) -> str:
        """Its first characters, whatever the bytes."""
        return self.raw[: most and 4 * most].decode(errors="replace")[:most]

    def blamed(self, fault: DataError) -> DataError:
        """The same fault, with the place where it was found."""
        return fault.at(f"{self.file}, line {self.number}")


def not_utf8(file: str, found: str) -> DataError:
    """The fault of a file that is in another encoding."""
    return DataError(
        "invalid UTF-8",
        found=found,
        wanted="text in UTF-8",
        do=f"convert the file: iconv -f ENCODING -t UTF-8 {file} > NEW "
        "(ENCODING is often WINDOWS-1252 for European text, GB18030 for Chinese)",
    )


def valid_unicode(what: str, text: str) -> str:
    """The same text, if it has bytes: JSON can escape halves of characters. what: how a complaint calls it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        found = f"a lone surrogate, \\u{ord(text[error.start]):04x}, at character {error.start}"
        raise DataError(f"{what} is not valid Unicode", found=found, do="correct the row") from None
    return text


def read_lines(path: str) -> list[str]:
    """The lines of a plain text, an empty line as an empty line; a file without a byte has none."""
    texts = []
    for line in lines_of(path):
        try:
            texts.append(line.decoded())
        except DataError as fault:
            raise line.blamed(fault) from None
    return texts


def lines_of(path: str, update: Callable[[bytes], None] = lambda raw: None) -> Iterator[Line]:
    """Every line, without its end and the byte-order mark; `update` sees the bytes as they are."""
    with opened(path) as handle:
        for number, raw in enumerate(handle, 1):
            update(raw)
            if number == 1:
                refuse_disguise(path, raw)
                raw = raw.removeprefix(BOM)
            yield Line(path, number, raw[: -2 if raw.endswith(b"\r\n") else -1] if raw.endswith(b"\n") else raw)


def with_text(path: str, lines: Iterator[Line], *, wanted: str) -> Iterator[Line]:
    """The same lines; a file without any text is refused as such, before its first row is judged. wanted: what should
    be in it."""
    blank: list[Line] = []
    for line in lines:
        if line.raw.strip():
            yield from chain(blank, [line], lines)
            return
        blank.append(line)
    raise DataError(
        f"{path} is empty",
        found=f"{len(blank)} lines with nothing but whitespace" if blank else "no text at all",
        wanted=wanted,
        do="check that this is the file you meant",
    )


def fingerprint(paths: Sequence[str]) -> str:
    """SHA-256 of the decompressed bytes (as `zcat F | sha256sum`); of several files, that of their joined hex digests.

    Standard input can be read only once: for "-", take `ParallelText.fingerprint`.
    """
    if "-" in paths:
        raise DataError("standard input can be read only once", do="take the fingerprint that read_pairs returned")
    return joined_digest([_digest(path) for path in paths])


def joined_digest(digests: Sequence[str]) -> str:
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def _digest(path: str) -> str:
    digest = hashlib.sha256()
    with opened(path) as handle:
        while chunk := handle.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked; what hinders reading them is told in our words."""
    try:
        if path == "-":
            yield sys.stdin.buffer
        else:
            with PACKED.get(Path(path).suffix.lower(), _as_it_is)(path) as handle:
                yield handle
    except (OSError, EOFError, zlib.error) as error:
        why, do = next(known for kind, known in UNREADABLE.items() if isinstance(error, kind))
        why = why.format(packing="bzip2" if path.lower().endswith(".bz2") else "gzip")
        raise DataError(f"{path} {why}", found=getattr(error, "strerror", None) or str(error), do=do) from error


def _as_it_is(path: str) -> IO[bytes]:
    return Path(path).open("rb")


PACKED: dict[str, Callable[[str], Any]] = {".gz": gzip.open, ".bz2": bz2.open}
"""What opens a file with such a name."""
UNREADABLE: dict[type[Exception], tuple[str, str]] = {
    FileNotFoundError: ("does not exist", "check the path"),
    IsADirectoryError: ("is a directory, not a file", "name a file in it"),
    PermissionError: ("may not be read by you", "give yourself the right to read it: chmod u+r"),
    gzip.BadGzipFile: ("is not sound gzip, although its name ends in .gz", "rename it, or fetch it again"),
    EOFError: ("is a truncated {packing} file", "fetch or compress it again"),
    zlib.error: ("is a damaged gzip file", "fetch or compress it again"),
    OSError: ("cannot be read", "check the path and the disk"),
}

DISGUISES = {
    b"\xff\xfe": ("UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8"),
    b"\xfe\xff": ("UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8"),
    b"\x1f\x8b": ("gzip", "let its name end in .gz, or decompress it"),
    b"PK\x03\x04": ("a zip archive or a spreadsheet", "unpack it, or save the sheet as CSV in UTF-8"),
}


def refuse_disguise(path: str, first: bytes) -> None:
    """What begins as no text in UTF-8 does is refused by what it is."""
    for magic, (found, do) in DISGUISES.items():
        if first.startswith(magic):
            raise DataError(f"{path} is not text in UTF-8", found=found, do=do)
