"""Files of word vectors as models."""

from pathlib import Path

import numpy as np
import pytest

import regard
from regard.errors import BundleError, DataError
from regard.tasks.word_vectors import WordVectors
from regard.text.word_vectors import read, write

WORDS = ["</s>", "the", "river", "don't", "C++", "北京", "new_york", "river", "u.s."]
VECTORS = np.random.default_rng(1).normal(size=(len(WORDS), 5)).astype(np.float32)
NAMES = ["x.txt", "x.bin", "x.txt.gz", "x.bin.gz", "x.vec"]


@pytest.fixture
def model(tmp_path: Path) -> WordVectors:
    write(tmp_path / "v.bin", WORDS, VECTORS, binary=True)
    loaded = regard.load(tmp_path / "v.bin")
    assert isinstance(loaded, WordVectors)
    return loaded


def test_marks_are_no_words_and_of_two_the_first_counts(model: WordVectors) -> None:
    assert model.words == ["the", "river", "don't", "C++", "北京", "new_york", "u.s."]
    np.testing.assert_array_equal(model.matrix, VECTORS[[1, 2, 3, 4, 5, 6, 8]])
    assert model.name == "v.bin"
    assert "</s>" not in model


def test_words_of_any_shape_are_found_as_they_stand(model: WordVectors) -> None:
    for word in model.words:
        np.testing.assert_array_equal(model.vector(word), VECTORS[WORDS.index(word)])
    rows = VECTORS[[WORDS.index(word) for word in ("the", "river", "C++", "北京", "don't")]]
    np.testing.assert_allclose(model.embed(["the river, C++ 北京 (don't)"])[0], rows.mean(0), rtol=1e-5)
    assert not model.embed(["\ud800 nothing"]).any()


def test_capitals_are_told_apart_only_where_the_file_does(model: WordVectors, tmp_path: Path) -> None:
    assert "River" not in model  # C++ has a capital
    write(tmp_path / "small.txt", ["river", "bank"], VECTORS[:2])
    small = regard.load(tmp_path / "small.txt")
    np.testing.assert_array_equal(small.vector("RIVER"), VECTORS[0])


def test_neighbours_are_those_of_numpy(model: WordVectors) -> None:
    units = model.matrix / np.linalg.norm(model.matrix, axis=1, keepdims=True)
    cosines = units @ units[1]
    order = [row for row in np.argsort(-cosines).tolist() if row != 1]
    found = model.neighbourhood("river", top=3)
    assert found.words == ("river", *(model.words[row] for row in order[:3]))
    assert [cosine for _, cosine in found.neighbours()] == pytest.approx(cosines[order[:3]].tolist(), abs=1e-6)
    assert [near.text for near in model.nearest("river", top=3)] == list(found.words[1:])


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read_again(model: WordVectors, name: str, tmp_path: Path) -> None:
    told = model.write(tmp_path / name)
    assert told == f"7 words of width 5, as {'binary' if '.bin' in name else 'text'}"
    words, vectors = read(tmp_path / name, binary=".bin" in name)
    assert words == model.words
    np.testing.assert_array_equal(vectors, model.matrix)
    with pytest.raises(BundleError, match=f"{name} is there already(.|\n)*give a new file"):
        model.write(tmp_path / name)


def test_spellings_are_proposed(model: WordVectors) -> None:
    with pytest.raises(DataError, match=r"'rivver' is not in the vocabulary(.|\n)*did you mean river\?"):
        model.vector("rivver")
    with pytest.raises(DataError, match="did you mean the"):
        model.vector("THE")
    with pytest.raises(DataError, match="found: no word(.|\n)*check the spelling"):
        model.vector("?!")


def test_what_is_no_file_of_vectors_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("the river\n")
    with pytest.raises(DataError, match="x.txt, line 1: not a file of word vectors"):
        regard.load(tmp_path / "x.txt")
    with pytest.raises(BundleError, match="There is no model directory .*y.txt"):
        regard.load(tmp_path / "y.txt")
