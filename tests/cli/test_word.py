"""regard word, and files of word vectors where a model is asked for."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import regard
from regard.text.word_vectors import read, write
from tests.commands import Run
from tests.models.pretrained.checkpoints import theirs
from tests.models.pretrained.checkpoints import write as write_bert
from tests.runs import run_tree
from tests.tasks.test_words import TOPICS, tree_of

SENTENCES = ["the cat is in the house .", "a cat , a river"]
PNG = b"\x89PNG"


def cosines(rows: Any, row: Any) -> np.ndarray:
    rows, row = np.asarray(rows), np.asarray(row)
    return np.asarray(rows @ row / np.linalg.norm(rows, axis=-1) / np.linalg.norm(row))


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("words")
    run_tree(tree_of(directory, updates=1, warmup=1), directory / "out")
    return directory / "out"


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("bert"), theirs("BertModel"))


@pytest.fixture
def sentences(tmp_path: Path) -> Path:
    path = tmp_path / "sentences.txt"
    path.write_text("\n\n".join(SENTENCES) + "\n")
    return path


def test_a_word_among_its_neighbours(words: Path, tmp_path: Path, run: Run) -> None:
    code, out, err = run("word", words, "River", "--top", 4, "--out", tmp_path / "x.png")
    assert code == 0, err
    assert err == f"written: {tmp_path / 'x.png'}\n"
    assert (tmp_path / "x.png").read_bytes().startswith(PNG)
    model = regard.load(words)
    found = cosines(model.matrix, model.vector("river"))
    best = np.argsort(-found)[1:5].tolist()
    assert out.splitlines() == [f"{found[row]:.3f}  {model.words[row]}" for row in best]


def test_a_word_in_sentences(bert: Path, sentences: Path, tmp_path: Path, run: Run) -> None:
    code, out, err = run("word", bert, "cat", "--sentences", sentences, "--out", tmp_path / "x.png")
    assert code == 0, err
    assert (tmp_path / "x.png").read_bytes().startswith(PNG)
    lines = out.splitlines()
    assert lines[:3] == [f"   1 {SENTENCES[0]}", f"   2 {SENTENCES[1]}", ""]
    model = regard.load(bert)
    assert len(model.tokenizer.encode("cat")) == 1
    states = [model.hidden(text)[1 + place] for text, place in zip(SENTENCES, (1, 1), strict=True)]
    alone = model.bert.words.weight[model.tokenizer.encode("cat")[0]].detach().numpy()
    assert [line.split()[-1] for line in lines[5:7]] == [f"{cosine:.2f}" for cosine in cosines(states, alone)]
    assert lines[-1].split() == ["2", f"{cosines(states[0], states[1]):.2f}", "1.00"]


def test_a_classifier_of_a_bert_has_words_in_sentences_too(sentences: Path, tmp_path: Path, run: Run) -> None:
    torch.manual_seed(1)
    sorter = write_bert(tmp_path / "sorter", theirs("BertForSequenceClassification", num_labels=3))
    code, out, err = run("word", sorter, "cat", "--sentences", sentences, "--out", tmp_path / "x.svg")
    assert code == 0, err
    assert "cosine between the sentences" in out
    assert "without context" in (tmp_path / "x.svg").read_text()


def test_mistakes_are_told(words: Path, bert: Path, sentences: Path, tmp_path: Path, run: Run) -> None:
    blank, long, out = tmp_path / "blank.txt", tmp_path / "long.txt", ("--out", tmp_path / "x.svg")
    blank.write_text("\n  \n")
    long.write_text("cat " * 1000)
    for given, said in (
        ((words, "rivver"), "'rivver' is not in the vocabulary"),
        ((words, "rivver"), "did you mean river"),
        ((words, "river", "--sentences", sentences), "leave --sentences out"),
        ((bert, "cat"), "give --sentences"),
        ((bert, "cat", "--sentences", blank), "There is no sentence to see the word in"),
        ((bert, "cat", "--sentences", long), "do this: leave it out, or split it into parts"),
    ):
        code, _, err = run("word", *given, *out)
        assert code == 1
        assert said in err
    assert not (tmp_path / "x.svg").exists()


@pytest.mark.parametrize("name", ["x.txt", "x.bin", "x.bin.gz"])
def test_exported_vectors_are_a_model_for_every_command(words: Path, name: str, tmp_path: Path, run: Run) -> None:
    file, lines = tmp_path / name, tmp_path / "lines.txt"
    code, out, err = run("export", words, "--to", "word2vec", "--out", file)
    assert code == 0, err
    assert out == f"{file}: 21 words of width 12, as {'binary' if '.bin' in name else 'text'}\n"
    model = regard.load(words)
    found = read(file)
    assert found[0] == model.words
    np.testing.assert_array_equal(found[1], model.matrix)
    lines.write_text("".join(" ".join(topic).title() + "!\n" for topic in TOPICS))
    for command in (
        ("embed", "--input", lines),
        ("search", "Boat, fish", "--lines", lines, "--json"),
        ("word", "boat", "--out", tmp_path / "x.svg"),
    ):
        verb, *options = command
        said = [run(verb, which, *options) for which in (words, file)]
        assert said[0] == said[1]
        assert said[0][0] == 0, said[0]


def test_what_cannot_be_exported_so_is_told(words: Path, bert: Path, tmp_path: Path, run: Run) -> None:
    out = tmp_path / "x.txt"
    _, _, err = run("export", bert, "--to", "word2vec", "--out", out)
    assert "Only vectors of words can be written as word2vec does it" in err
    assert "found: BertEncoder" in err
    _, _, err = run("export", words, "--to", "hf", "--out", out)
    assert "do this: write word vectors with --to word2vec" in err
    assert not out.exists()
    out.write_text("mine")
    code, _, err = run("export", words, "--to", "word2vec", "--out", out)
    assert code == 1
    assert "x.txt is there already" in err
    assert out.read_text() == "mine"


def test_search_in_vectors_of_others_finds_the_line(tmp_path: Path, run: Run) -> None:
    write(tmp_path / "v.txt", ["Bank", "北京", "C++"], np.eye(3, 4, dtype=np.float32))
    (tmp_path / "lines.txt").write_text("C++ here\nthe Bank\n在 北京\n", encoding="utf-8")
    code, out, err = run("search", tmp_path / "v.txt", "北京", "--lines", tmp_path / "lines.txt", "--top", 1, "--json")
    assert code == 0, err
    assert json.loads(out)["found"] == [{"line": 3, "score": 1.0, "text": "在 北京"}]
