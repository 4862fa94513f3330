"""Raw text: every character of it, in documents, whatever it is read from."""

import bz2
import gzip
import hashlib
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data import raw
from regard.data.lines import joined_digest
from regard.data.raw import TextReader
from regard.errors import DataError
from regard.text.byte_bpe import train_byte_bpe
from regard.text.characters import character_tokenizer
from tests.data.test_wiki import PAGE

MARK = "<|endoftext|>"


def documents(pieces: Iterable[str]) -> list[str]:
    """The pieces put together again."""
    found, held = [], ""
    for piece in pieces:
        held += piece
        if not piece:
            found.append(held)
            held = ""
    assert not held, "the last document has no end"
    return found


def read(*paths: Path) -> list[str]:
    return documents(TextReader([str(path) for path in paths]))


def test_a_file_is_a_document_with_every_character_kept(tmp_path: Path) -> None:
    text = "  def f():\n\n\n\treturn 'ü 我 \U0001f600'\r\n \v\f\x85\u2028last"
    (tmp_path / "a.py").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read(tmp_path / "a.py") == [text]


def test_the_mark_separates_documents_and_blank_ones_are_none(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"{MARK}one\n{MARK}\ntwo{MARK}{MARK} \n{MARK}<|endof\n")
    assert read(tmp_path / "a.txt") == ["one\n", "\ntwo", "<|endof\n"]


@settings(deadline=None)
@given(
    st.lists(st.text(st.sampled_from("ab \n\r\t我<|endoftext>"), max_size=60), min_size=1, max_size=6),
    st.integers(1, 40),
)
def test_pieces_are_the_documents_wherever_they_are_cut(parts: list[str], step: int) -> None:
    text = MARK.join(parts)
    whole = [document for document in text.split(MARK) if document.strip()]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(raw, "PIECE", 5)
        together, apart = ([*raw._pieces(iter(texts))] for texts in ([text], _blocks(text, step)))
    assert documents(together) == documents(apart) == whole
    assert max(map(len, together + apart), default=0) <= 2 * 5 + len(MARK)


def _blocks(text: str, step: int) -> list[str]:
    return [text[first : first + step] for first in range(0, len(text), step)]


@settings(deadline=None)
@given(st.text(st.sampled_from("ab'st. 12\n\r\té我<"), max_size=120))
def test_tokens_of_the_pieces_are_those_of_the_document(text: str) -> None:
    bpe = train_byte_bpe(["a bat's stab at 12 bats\n\n  at  best.\r\n"] * 5, 290)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(raw, "PIECE", 7)
        pieces = raw._cut(text)
    assert "".join(pieces) == text
    if all(len(piece) < 14 for piece in pieces[:-1]):  # they were all cut at a space
        assert [id for piece in pieces for id in bpe.encode(piece)] == bpe.encode(text)
    letters = character_tokenizer([text])
    assert [id for piece in pieces for id in letters.encode(piece)] == letters.encode(text)


def test_a_folder_is_read_by_name_without_what_is_hidden_or_no_text(tmp_path: Path) -> None:
    for name, content in {
        "b.txt": b"second",
        "a/z.md": b"first",
        ".git/config": b"no",
        "a/.b.swp": b"no",
        "empty.py": b"",
        "c.png": b"\x89PNG\0",
        "d.txt.gz": gzip.compress(b"third", mtime=0),
        "e.pdf": b"%PDF-1.7\n\xe2\xe3",
        "f.txt.bz2": bz2.compress(b"fourth"),
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    reader = TextReader([str(tmp_path)])
    assert documents(reader) == ["first", "second", "third", "fourth"]
    told = [line.removeprefix(f"{tmp_path}/") for line in reader.skipped]
    assert told == ["c.png: not text, bytes that are 0", "e.pdf: not text, a PDF"]
    digests = [hashlib.sha256(text).hexdigest() for text in (b"first", b"second", b"third", b"fourth")]
    assert reader.fingerprint == reader.expected() == joined_digest(digests)


@pytest.mark.parametrize("packed", ["w.xml", "w.xml.gz", "w.xml.bz2"])
def test_the_articles_of_a_dump_are_documents_of_running_text(tmp_path: Path, packed: str) -> None:
    pack = {"xml": bytes, "gz": gzip.compress, "bz2": bz2.compress}[packed.rpartition(".")[2]]
    (tmp_path / packed).write_bytes(pack(PAGE.encode()))
    (found,) = read(tmp_path / packed)
    assert "\n" not in found
    assert not {"[[", "''", "<text"} & set(found.split())
    reader = TextReader([str(tmp_path / packed)])
    list(reader)
    assert reader.fingerprint == reader.expected() == hashlib.sha256(PAGE.encode()).hexdigest()


def test_other_xml_is_text(tmp_path: Path) -> None:
    (tmp_path / "pom.xml").write_text("<project>\n  <name>a</name>\n</project>\n")
    assert read(tmp_path / "pom.xml") == ["<project>\n  <name>a</name>\n</project>\n"]


def test_several_paths_come_in_their_order_and_are_one_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("b")
    (tmp_path / "a").write_text("a")
    reader = TextReader([str(tmp_path / "b"), str(tmp_path / "a")])
    assert documents(reader) == documents(reader) == ["b", "a"]
    assert reader.fingerprint == joined_digest([hashlib.sha256(text).hexdigest() for text in (b"b", b"a")])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", r"bad.txt is empty\n  found: nothing but white space"),
        (b" \n\n", "bad.txt is empty"),
        (MARK.encode(), "bad.txt is empty"),
        (b"one\ntwo\nth\0ree", "bad.txt, line 3: this is not text\n  found: a byte that is 0"),
        (b"one\ncaf\xe9 noir", "bad.txt, line 2: invalid UTF-8\n  found: byte 0xE9"),
        (b"one\ntwo\xe6\x88", "bad.txt, line 2: invalid UTF-8\n  found: byte 0xE6"),
        ("one".encode("utf-16"), "found: UTF-16 text"),
        (gzip.compress(b"one", mtime=0), "bad.txt is not text in UTF-8\n  found: gzip"),
    ],
)
@pytest.mark.parametrize("block", [3, 1 << 20])
def test_a_file_that_is_no_text_is_refused_with_its_place(
    tmp_path: Path, content: bytes, said: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw, "BLOCK", block)
    (tmp_path / "bad.txt").write_bytes(content)
    with pytest.raises(DataError, match=said):
        read(tmp_path / "bad.txt")


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none.txt does not exist"):
        read(tmp_path / "none.txt")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.bin").write_bytes(b"\0\1")
    with pytest.raises(DataError, match="folder holds no text file\n  found: 1 files"):
        read(tmp_path / "folder")
    (tmp_path / "cut.txt.bz2").write_bytes(bz2.compress(b"text" * 100)[:-9])
    with pytest.raises(DataError, match="cut.txt.bz2 is a truncated bzip2 file"):
        read(tmp_path / "cut.txt.bz2")
