"""regard look at a BERT: one text, a pair of texts, and what cannot be looked at."""

from pathlib import Path

import numpy as np
import pytest

from regard.insight import Trace
from tests.commands import Run
from tests.insight.test_heatmap import texts
from tests.models.pretrained.checkpoints import theirs, write


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("bert"), theirs("BertModel"))


def marks(trace: Trace) -> list[tuple[int, str]]:
    """The tokens that are not of the text, and where they stand."""
    return [(place, token.surface) for place, token in enumerate(trace.rows["text"].tokens) if token.special]


def test_one_text_is_drawn_with_its_marks(bert: Path, tmp_path: Path, run: Run) -> None:
    code, said, err = run("look", bert, "the cat is in", "--out", tmp_path / "x.svg", "--word", "cat", "--head", 1)
    assert code == 0, err
    assert said.startswith("encoder.0.self head 1: *cat* gives 0.")
    assert len(said.splitlines()) == 3
    assert {"[CLS]", "the", "cat", "is", "in", "[SEP]"} <= set(texts(tmp_path / "x.svg"))
    code, said, err = run("look", bert, "the cat is in", "--out", tmp_path / "x.json")
    assert (code, said) == (0, ""), err
    trace = Trace.load(tmp_path / "x.json")
    assert marks(trace) == [(0, "[CLS]"), (5, "[SEP]")]
    assert {trace.weights[name].shape for name in trace.names} == {(3, 6, 6)}


def test_a_pair_is_drawn_with_a_mark_behind_each_text(bert: Path, tmp_path: Path, run: Run) -> None:
    code, said, err = run("look", bert, "the cat", "a dog .", "--out", tmp_path / "x.npz")
    assert (code, said) == (0, ""), err
    trace = Trace.load(tmp_path / "x.npz")
    assert trace.rows["text"].surfaces == ("[CLS]", "the", "cat", "[SEP]", "a", "dog", ".", "[SEP]")
    assert marks(trace) == [(0, "[CLS]"), (3, "[SEP]"), (7, "[SEP]")]
    for name in trace.names:
        np.testing.assert_allclose(trace.weights[name].sum(-1), 1, atol=1e-5)
    assert run("look", bert, "the cat", "a dog .", "--out", tmp_path / "x.svg")[0] == 0
    assert texts(tmp_path / "x.svg").count("[SEP]") >= 2


def test_a_pair_is_refused_where_there_is_one_segment(tmp_path: Path, run: Run) -> None:
    alone = write(tmp_path / "alone", theirs("BertModel", type_vocab_size=1))
    assert run("look", alone, "the cat", "--out", tmp_path / "x.json")[0] == 0
    code, _, err = run("look", alone, "the cat", "a dog", "--out", tmp_path / "x.json")
    assert code == 1
    assert "takes single texts, not pairs" in err
    assert "do this: give one text" in err


def test_a_classifier_that_looks_is_not_told_to_truncate(tmp_path: Path, run: Run) -> None:
    place = write(tmp_path / "nli", theirs("BertForSequenceClassification", num_labels=3))
    for given, what in (["the cat " * 12], "The text"), (["the cat " * 6, "a dog " * 6], "The pair of texts"):
        code, _, err = run("look", place, *given, "--out", tmp_path / "x.json")
        assert code == 1
        assert f"{what} is longer than the model can take" in err
        assert "do this: give less of it" in err
        assert "truncate" not in err


@pytest.mark.parametrize("command", ["look", "classify", "evaluate", "train"])
def test_help_says_that_models_of_others_will_do(command: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    assert "as Hugging Face writes it; or" in run(command, "--help")[1]


def test_help_of_train_names_every_kind_of_data(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    said = run("train", "--help")[1]
    for kind in ("text⇥label", "text⇥text⇥score", "running text: files or folders", "Wikipedia dump (.xml", "scenes"):
        assert kind in said
