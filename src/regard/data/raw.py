"""Text as it is, every character kept: what a language model learns from.

A file is a document, and <|endoftext|> in it ends one and begins another; in a Wikipedia dump, each article is one.
Files may be packed (.gz, .bz2); of a folder all text files are read, those in its folders included.

A document comes in pieces, so that a large one need not be held. They are cut where a word begins with the space before
it, which is where every tokenizer cuts: the tokens of the pieces are those of the document.
"""

import hashlib
import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from regard.data.documents import DocumentReader
from regard.data.lines import BOM, fingerprint, joined_digest, not_utf8, opened, refuse_disguise
from regard.errors import DataError
from regard.text.tokenizer import END_OF_TEXT

BLOCK, HEAD = 1 << 20, 1 << 16
"""Bytes that are read at a time; that tell what a file is."""
PIECE = 1 << 14
"""Fewest characters of a piece that is not the last: it ends at the next space, or has twice as many."""
CUTS = (re.compile(r"(?<=\S)(?= )"), re.compile(r"(?<=\S)(?=[\n\r\t])"))
DUMP = re.compile(rb"<(?:mediawiki|page|text)\b")
UTF16, PDF = (b"\xff\xfe", b"\xfe\xff"), b"%PDF"


class TextReader:
    """The documents of some files and folders, in pieces; an empty piece ends a document. It may be gone through again.

    `skipped`: a line for each file of a folder that is not text. `fingerprint` belongs to the last time it was gone
    through to the end; `expected` gives it beforehand.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.skipped: list[str] = []
        self.files = [(file, path == file) for path in paths for file in self._files(path)]
        self.fingerprint = ""

    def __iter__(self) -> Iterator[str]:
        digests: list[str] = []
        ended = 0
        for file, named in self.files:
            before = ended
            for piece in (_articles if _is_dump(file) else _documents)(file, digests):
                ended += not piece
                yield piece
            if named and ended == before:
                raise _empty(file)
        if not ended:
            raise _empty(" and ".join(file for file, _ in self.files))
        self.fingerprint = joined_digest(digests)

    def expected(self) -> str:
        """The fingerprint, without any text being made of the files."""
        return fingerprint([file for file, _ in self.files])

    def size(self) -> int:
        """Bytes of the files, as far as they are there."""
        paths = [Path(file) for file, _ in self.files if file != "-"]
        return sum(path.stat().st_size for path in paths if path.exists())

    def _files(self, path: str) -> list[str]:
        """A file is itself; of a folder, the text files in it, by name."""
        if not Path(path).is_dir():
            return [path]
        inside = [file for file in sorted(Path(path).rglob("*")) if file.is_file() and not _hidden(file, path)]
        kinds = {str(file): _kind(str(file)) for file in inside}
        self.skipped += [f"{file}: not text, {kind}" for file, kind in kinds.items() if kind not in ("text", "nothing")]
        if "text" not in kinds.values():
            raise DataError(
                f"{path} holds no text file", found=f"{len(kinds)} files", wanted="text in UTF-8", do="check the path"
            )
        return [file for file, kind in kinds.items() if kind == "text"]


def _hidden(file: Path, folder: str) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)


def _kind(file: str) -> str:
    """What a file of a folder holds, by how it begins. Text in another encoding is text: it is refused when read."""
    head = _head(file)
    if not head.strip():
        return "nothing"
    if head.startswith(PDF):
        return "a PDF"
    return "bytes that are 0" if b"\0" in head and not head.startswith(UTF16) else "text"


def _is_dump(file: str) -> bool:
    packed = file.lower().removesuffix(".gz").removesuffix(".bz2")
    return packed.endswith(".xml") and DUMP.search(_head(file)) is not None


def _head(file: str) -> bytes:
    with opened(file) as handle:
        return handle.read(HEAD)


def _articles(file: str, digests: list[str]) -> Iterator[str]:
    """Those of a dump, the sentences of each in a row. `digests` gets that of the file when all is read."""
    reader = DocumentReader([file])
    for sentences in reader:
        yield from _ended(" ".join(sentences), begun=False)
    digests.append(reader.fingerprint)


def _documents(file: str, digests: list[str]) -> Iterator[str]:
    digest = hashlib.sha256()
    with opened(file) as handle:
        blocks = _sound(file, iter(partial(handle.read, BLOCK), b""), digest.update)
        yield from _pieces(_decoded(file, blocks))
    digests.append(digest.hexdigest())


def _sound(file: str, blocks: Iterator[bytes], update: Callable[[bytes], None]) -> Iterator[bytes]:
    """Bytes of text, without the byte-order mark; `update` sees them as they are."""
    line = 1
    for number, block in enumerate(blocks):
        update(block)
        if number == 0:
            refuse_disguise(file, block)
            block = block.removeprefix(BOM)
        if (place := block.find(b"\0")) >= 0:
            line += block.count(b"\n", 0, place)
            raise DataError(
                f"{file}, line {line}: this is not text",
                found="a byte that is 0",
                wanted="text in UTF-8",
                do="check that this is the file you meant",
            )
        line += block.count(b"\n")
        yield block


def _decoded(file: str, blocks: Iterator[bytes]) -> Iterator[str]:
    decoder, line = getincrementaldecoder("utf-8")(), 1
    for block in chain(blocks, [b""]):
        try:
            yield decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            fault = not_utf8(file, f"byte 0x{error.object[error.start]:02X}")
            line += error.object.count(b"\n", 0, error.start)
            told = f"{file}, line {line}: {fault.what}"
            raise DataError(told, found=fault.found, wanted=fault.wanted, do=fault.do) from None
        line += block.count(b"\n")


def _pieces(texts: Iterator[str]) -> Iterator[str]:
    """The documents of a file. What is held back is the last piece: the mark between documents may reach into it."""
    held, begun = "", False
    for text in texts:
        *whole, held = (held + text).split(END_OF_TEXT)
        for document in whole:
            yield from _ended(document, begun=begun)
            begun = False
        *sure, held = _cut(held)
        begun = begun or bool(sure)
        yield from sure
    yield from _ended(held, begun=begun)


def _ended(rest: str, *, begun: bool) -> Iterator[str]:
    """What is left of a document, and its end. One that holds nothing but white space is none."""
    if begun or rest.strip():
        yield from filter(None, _cut(rest))
        yield ""


def _cut(text: str) -> list[str]:
    """The pieces of a text; the last one is so long that the beginning of a mark at its end is not cut."""
    pieces, first = [], 0
    while len(text) - first > 2 * PIECE + len(END_OF_TEXT):
        least, most = first + PIECE, first + 2 * PIECE
        match = next((found for cut in CUTS if (found := cut.search(text, least, most))), None)
        end = match.start() if match else most
        pieces.append(text[first:end])
        first = end
    return [*pieces, text[first:]]


def _empty(file: str) -> DataError:
    return DataError(
        f"{file} is empty",
        found="nothing but white space",
        wanted="text",
        do="check that this is the file you meant",
    )
