"""Running text as documents of sentences: plain text, where a blank line ends a document, or a Wikipedia dump.

A line may hold a sentence or a paragraph, which is then split. Files may be gzipped.
"""

import hashlib
from collections.abc import Iterator, Sequence

from regard.data.lines import Line, joined_digest, lines_of, with_text
from regard.data.sentences import split_sentences
from regard.data.wiki import read_wiki
from regard.errors import DataError

Document = list[str]
WANTED = "text, blank lines between documents; or a Wikipedia dump (.xml)"


class DocumentReader:
    """The documents of some files, one by one; it may be gone through again. `fingerprint` belongs to the last time it
    was gone through to the end."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        self.fingerprint = ""

    def __iter__(self) -> Iterator[Document]:
        digests = []
        found = False
        for path in self.paths:
            digest = hashlib.sha256()
            texts = _decoded(with_text(path, lines_of(path, digest.update), wanted=WANTED))
            for document in read_wiki(texts) if _is_dump(path) else _plain(texts):
                found = True
                yield document
            digests.append(digest.hexdigest())
        if not found:
            raise DataError(
                f"no sentence was found in {' and '.join(self.paths)}",
                wanted=WANTED,
                do="check that these are the files you meant",
            )
        self.fingerprint = joined_digest(digests)


def _is_dump(path: str) -> bool:
    return path.lower().removesuffix(".gz").removesuffix(".bz2").endswith(".xml")


def _plain(texts: Iterator[str]) -> Iterator[Document]:
    document: Document = []
    for text in texts:
        if text.strip():
            document += split_sentences(text)
        elif document:
            yield document
            document = []
    if document:
        yield document


def _decoded(lines: Iterator[Line]) -> Iterator[str]:
    for line in lines:
        try:
            yield line.decoded()
        except DataError as fault:
            raise line.blamed(fault) from None
