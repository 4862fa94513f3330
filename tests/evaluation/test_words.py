"""Loss on held-out pairs, and word similarity as people judge it."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.errors import DataError
from regard.evaluation.words import evaluate, figures, validate, word_similarity
from regard.training.start import prepare
from tests.oracles import shake
from tests.runs import Silent
from tests.tasks.test_words import tree_of

SHARED = Path(__file__).parents[3] / "shared" / "data" / "word-similarity"


class Table:
    """Vectors of words, as simply as can be."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors = {word: np.array(vector) for word, vector in vectors.items()}

    def __contains__(self, word: object) -> bool:
        return word in self.vectors

    def similarity(self, a: str, b: str) -> float:
        first, second = self.vectors[a], self.vectors[b]
        return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))


TABLE = Table({"a": [1.0, 0.0], "b": [1.0, 0.2], "c": [1.0, 1.0], "d": [0.0, 1.0]})


def run_of(tmp_path: Path) -> Any:
    return prepare(tree_of(tmp_path), tmp_path / "out", Silent())


def test_one_who_knows_nothing_is_above_noise_half_of_the_time(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    found = validate(run.task, run.model, sentences=10**9)
    assert found["loss"] == pytest.approx(6 * np.log(2), rel=1e-5)
    assert found["score"] == -found["loss"]
    assert found["accuracy"] == 0.5
    assert found["pairs"] > 500


def test_held_out_pairs_are_drawn_in_one_way_whatever_the_seed(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    other = prepare({**tree_of(tmp_path), "seed": 2}, tmp_path / "out", Silent())
    shake(run.model, seed=1)
    text = run.task.texts["val"]
    assert figures(run.task, run.model, text) == figures(other.task, run.model, other.task.texts["val"])
    few = figures(run.task, run.model, text, most=5)
    assert few["pairs"] < figures(run.task, run.model, text)["pairs"]
    assert 0 <= few["accuracy"] <= 1


def test_a_score_tells_what_frequencies_alone_would_give(tmp_path: Path) -> None:
    run = run_of(tmp_path)

    class Verbs:
        model = run.model

    found = evaluate(Verbs(), run.task)
    assert set(found) == {"val"}
    assert found["val"]["unigram_entropy"] == run.task.unigram_entropy()
    assert f"frequent words are: loss {run.task.unigram_entropy():.3f}" in found["val"]["headline"]


def test_without_validation_text_nothing_is_scored(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    del tree["data"]["val"]
    run = prepare(tree, tmp_path / "out", Silent())
    assert validate(run.task, run.model, sentences=3) == {}


@pytest.mark.parametrize("name", ["pairs.txt", "pairs.txt.gz"])
def test_word_similarity_is_the_rank_correlation_of_what_is_known(tmp_path: Path, name: str) -> None:
    text = "a\tb\t9.5\na c 4\nunknown a 10\n\nb  d 5\na d 1.0\n"
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    found = word_similarity(TABLE, str(tmp_path / name))
    # cosines 0.98, 0.71, 0.20, 0 are ranks 4 3 2 1; people's are 4 2 3 1: 1 - 6 · 2 / (4 · 15)
    assert found["spearman"] == pytest.approx(0.8)
    assert (found["known"], found["pairs"]) == (4, 5)
    assert found["headline"] == "Spearman 0.800, 4 of 5 pairs known"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b 1\na b\n", r"pairs.txt, line 2: not a pair of words(.|\n)*found: 'a b'(.|\n)*wanted: word word score"),
        ("a b c 1\n", "line 1: not a pair of words"),
        ("a b high\n", "line 1: not a pair of words"),
        ("", r"pairs.txt is empty(.|\n)*wanted: word word score on each line"),
        ("x y 1\na b 2\n", r"know too few words(.|\n)*found: 1 of 2 pairs"),
    ],
)
def test_faults_of_a_similarity_file_are_told(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "pairs.txt").write_text(text)
    with pytest.raises(DataError, match=message):
        word_similarity(TABLE, str(tmp_path / "pairs.txt"))


@pytest.mark.skipif(not SHARED.exists(), reason="the word-similarity data is not on this machine")
@pytest.mark.parametrize(("name", "pairs"), [("WS-353-ALL", 353), ("MEN-TR-3k", 3000), ("SIMLEX-999", 999)])
def test_real_files_are_read_to_the_end_and_agree_with_scipy(name: str, pairs: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    path = SHARED / f"EN-{name}.txt.gz"
    with gzip.open(path, "rt") as file:
        rows = [line.split() for line in file]
    words = {word for row in rows for word in row[:2] if len(word) % 5}
    numbers = np.random.default_rng(0)
    table = Table({word: numbers.normal(size=8).tolist() for word in sorted(words)})
    found = word_similarity(table, str(path))
    known = [(table.similarity(a, b), float(score)) for a, b, score in rows if a in words and b in words]
    assert (found["known"], found["pairs"]) == (len(known), pairs)
    assert found["spearman"] == pytest.approx(float(stats.spearmanr(*np.array(known).T).statistic), abs=1e-9)
