"""Documents from text files and dumps."""

import gzip
from pathlib import Path

import pytest

from regard.data.documents import DocumentReader
from regard.errors import DataError
from tests.data.test_wiki import PAGE


def test_blank_lines_separate_documents_and_lines_are_split_into_sentences(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One. Two.\nThree\n\n\nFour!\n")
    reader = DocumentReader([str(tmp_path / "a.txt")])
    assert list(reader) == list(reader) == [["One.", "Two.", "Three"], ["Four!"]]
    assert len(reader.fingerprint) == 64


def test_dumps_and_several_files(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "w.xml.gz", "wt", encoding="utf-8") as file:
        file.write(PAGE)
    (tmp_path / "a.txt").write_text("我去银行。你呢？\n")
    documents = list(DocumentReader([str(tmp_path / "w.xml.gz"), str(tmp_path / "a.txt")]))
    assert [len(document) for document in documents] == [3, 2]


def test_faults_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"fine\n\xff\xfe bad\n")
    with pytest.raises(DataError, match="line 2"):
        list(DocumentReader([str(tmp_path / "a.txt")]))
    (tmp_path / "w.xml").write_text("<page><text>#REDIRECT [[x]]</text></page>")
    with pytest.raises(DataError, match="no sentence"):
        list(DocumentReader([str(tmp_path / "w.xml")]))
    (tmp_path / "empty.txt").write_text(" \n")
    with pytest.raises(DataError, match=r"is empty(.|\n)*wanted: text, blank lines between documents; or a Wikipedia"):
        list(DocumentReader([str(tmp_path / "empty.txt")]))
    with pytest.raises(DataError, match="does not exist"):
        list(DocumentReader([str(tmp_path / "none.txt")]))
