"""word2vec's two formats: exact round trips, gensim as the oracle, and faults that are told by their place."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import DataError
from regard.text.word_vectors import read, write

WORDS = ["the", "河岸", "naïve", "new_york", "<x>"]
VECTORS = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\v\f")


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@given(
    words=st.lists(st.text(LETTERS, min_size=1, max_size=8), max_size=6, unique=True),
    width=st.integers(1, 5),
    binary=st.booleans(),
    data=st.data(),
)
@settings(deadline=None)
def test_what_is_written_is_read_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], width: int, binary: bool, data: Any
) -> None:
    numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)
    rows = data.draw(
        st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=len(words), max_size=len(words))
    )
    vectors = np.array(rows, dtype=np.float32).reshape(len(words), width)
    path = tmp_path_factory.mktemp("vectors") / "x.vec"
    write(path, words, vectors, binary=binary)
    found, numbers_found = read(path, binary=binary)
    assert found == words
    np.testing.assert_array_equal(numbers_found, vectors)
    assert numbers_found.dtype == np.float32


@pytest.mark.parametrize("width", [3, 100])
@pytest.mark.parametrize("binary", [True, False])
def test_which_format_it_is_can_be_seen(tmp_path: Path, width: int, binary: bool) -> None:
    for seed in range(50):
        vectors = np.random.default_rng(seed).normal(size=(5, width)).astype(np.float32)
        write(tmp_path / "x", WORDS, vectors, binary=binary)
        np.testing.assert_array_equal(read(tmp_path / "x")[1], vectors)


@pytest.mark.parametrize("name", ["x.txt", "x.bin", "x.txt.gz", "x.bin.gz"])
def test_gensim_reads_what_we_write(tmp_path: Path, name: str) -> None:
    keyed = pytest.importorskip("gensim.models")
    path, binary = tmp_path / name, ".bin" in name
    write(path, WORDS, VECTORS, binary=binary)
    theirs = keyed.KeyedVectors.load_word2vec_format(str(path), binary=binary)
    assert theirs.index_to_key == WORDS
    np.testing.assert_array_equal(theirs.vectors, VECTORS)


@pytest.mark.parametrize("name", ["x.txt", "x.bin", "x.txt.gz", "x.bin.gz"])
def test_we_read_what_gensim_writes(tmp_path: Path, name: str) -> None:
    keyed = pytest.importorskip("gensim.models")
    theirs = keyed.KeyedVectors(3)
    theirs.add_vectors(WORDS, VECTORS)
    theirs.save_word2vec_format(str(tmp_path / name), binary=".bin" in name)
    words, vectors = read(tmp_path / name)
    assert sorted(words) == sorted(WORDS)
    np.testing.assert_array_equal(vectors, VECTORS[[WORDS.index(word) for word in words]])


@pytest.mark.parametrize("between", [b"\n", b""], ids=["the original program's", "gensim's"])
def test_binary_records_may_end_a_line_or_not(tmp_path: Path, between: bytes) -> None:
    content = b"5 3\n" + b"".join(
        word.encode() + b" " + row.astype("<f4").tobytes() + between for word, row in zip(WORDS, VECTORS, strict=True)
    )
    words, vectors = read(written(tmp_path / "x.bin", content))
    assert words == WORDS
    np.testing.assert_array_equal(vectors, VECTORS)


def test_text_is_what_the_format_says(tmp_path: Path) -> None:
    write(tmp_path / "x.txt", ["a", "b"], np.array([[1.5, -2.0], [0.1, 1e-7]], dtype=np.float32))
    assert (tmp_path / "x.txt").read_text() == "2 2\na 1.5 -2.0\nb 0.1 1e-07\n"
    loose = written(tmp_path / "loose.txt", b"2 2\r\na 1.5 -2.0 \r\nb 0.1 1e-07")
    assert read(loose)[0] == ["a", "b"]
    np.testing.assert_array_equal(read(loose)[1], read(tmp_path / "x.txt")[1])


@pytest.mark.parametrize("binary", [True, False])
def test_a_file_that_is_cut_off_anywhere_is_never_taken_for_whole(tmp_path: Path, binary: bool) -> None:
    write(tmp_path / "whole", WORDS, VECTORS, binary=binary)
    content = (tmp_path / "whole").read_bytes()
    shortest = len(content) - 1 - binary  # the last line end may be missing; of text, even the last digit
    last_number = content.rstrip(b"\n").rfind(b" ") + 2
    for length in range(min(shortest, last_number)):
        with pytest.raises(DataError, match="line|byte"):
            read(written(tmp_path / "cut", content[:length]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: not a file of word vectors"),
        (b"the 0.1 0.2\n", "line 1: not a file of word vectors(.|\n)*GloVe files have no such line"),
        (b"2 0\n", "line 1"),
        (b"3 2\na 1 2\nb 3 4\n", "line 4: the file ends before line 1 says(.|\n)*found: 2 words(.|\n)*wanted: 3"),
        (b"1 2\na 1 2\nb 3 4\n", "line 3: more words than line 1 says"),
        (b"2 2\na 1 2\nb 3\n", "line 3: not a word and its vector(.|\n)*found: 1 numbers(.|\n)*and 2 numbers"),
        (b"2 2\na 1 2\nb 3 x\n", "line 3: not a word and its vector(.|\n)*found: could not convert"),
        (b"2 2\na 1 2\n\xff 3 4\n", "line 3: not a word and its vector"),
    ],
)
def test_faults_of_text_name_the_line(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(written(tmp_path / "x.txt", content))


NUMBERS = np.array([1.5, 2.5], dtype="<f4").tobytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"2 2\na " + NUMBERS, "byte 14: the file ends in word 1 of 2(.|\n)*found: 0 bytes"),
        (b"2 2\na " + NUMBERS + b"b " + NUMBERS[:3], "byte 14: the file ends in word 1 of 2(.|\n)*found: 5 bytes"),
        (b"1 2\na " + NUMBERS + b"\nmore", "byte 14: more than line 1 says(.|\n)*found: 5 bytes"),
        (b"1 2\n\xff\xfe " + NUMBERS, "byte 4: word 0 is not UTF-8"),
        (b"1 2\n" + b"\x01" * 2000, "byte 4: no word ends here"),
    ],
)
def test_faults_of_binary_files_name_the_byte(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(written(tmp_path / "x.bin", content))


def test_a_file_that_claims_to_be_huge_costs_nothing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the file ends"):
        read(written(tmp_path / "x.bin", b"999999999999 999999\na \x01\x02"))
    with pytest.raises(DataError, match="the file ends"):
        read(written(tmp_path / "x.txt", b"999999999999 2\na 1 2\n"))


def test_unreadable_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read(.|\n)*No such file"):
        read(tmp_path / "nothing.txt")
    with pytest.raises(DataError, match="cannot be read"):
        read(written(tmp_path / "x.txt.gz", gzip.compress(b"1 1\na 1\n")[:-4]))


@pytest.mark.parametrize("word", ["", "new york", "a\n"])
def test_a_word_that_could_not_be_read_back_is_not_written(tmp_path: Path, word: str) -> None:
    with pytest.raises(DataError, match="Word 1 cannot be written"):
        write(tmp_path / "x.txt", ["a", word], VECTORS[:2])
    with pytest.raises(DataError, match="Each word needs a vector"):
        write(tmp_path / "x.txt", ["a"], VECTORS[:2])
    assert not (tmp_path / "x.txt").exists()
