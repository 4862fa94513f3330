"""Sentence vectors are learned from scores, or from pairs that belong together."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import regard
from regard.data.labelled import PAIRED, SCORED
from regard.errors import DataError, LimitError
from regard.tasks.similarity import ScoredPairs
from regard.training.start import prepare
from tests.runs import Silent, run_tree
from tests.tasks.test_classification import MODELS, SORTS


def written(path: Path, count: int, seed: int, *, scored: bool = True) -> str:
    """Pairs of sentences about things: alike where the things are of one sort."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        first, second = draw.choice([*SORTS]), draw.choice([*SORTS])
        second = second if scored else first
        texts = [f"the {draw.choice(['old', 'new'])} {draw.choice(SORTS[sort])}" for sort in (first, second)]
        noise = draw.choice([0.0, 0.25])
        rows.append("\t".join([*texts, str(4.5 + noise if first == second else 0.5 + noise)][: 3 if scored else 2]))
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def tree_of(directory: Path, *, scored: bool = True, **training: Any) -> dict[str, Any]:
    return {
        "task": "similarity",
        "model": MODELS["bert"],
        "tokenizer": {"size": 200},
        "batch": {"tokens": 128},
        "data": {
            "train": [written(directory / "train.tsv", 200, 1, scored=scored)],
            "val": [written(directory / "val.tsv", 60, 2)],
        },
        "training": {
            "updates": 60,
            "warmup": 5,
            "learning_rate": 1e-2,
            "validate_every": 60,
            "average": 0.0,
            **training,
        },
    }


@pytest.mark.parametrize("scored", [True, False])
def test_vectors_of_one_sort_come_near_each_other(tmp_path: Path, scored: bool) -> None:
    run_tree(tree_of(tmp_path, scored=scored), tmp_path / "out")
    scores = json.loads((tmp_path / "out" / "card.json").read_text())["scores"]["val"]
    assert scores["spearman"] > 0.55  # scores that are mostly ties allow no more than about 0.8
    model = regard.load(tmp_path / "out")
    cat, dog, saw = model.embed(["the old cat", "the new dog", "the old saw"])
    assert np.linalg.norm(cat) == pytest.approx(1.0, abs=1e-5)
    assert cat @ dog > cat @ saw + 0.3


def test_the_losses_are_their_formulas(tmp_path: Path) -> None:
    for scored in (True, False):
        run = prepare(tree_of(tmp_path, scored=scored), tmp_path / "out", Silent())
        batch = run.task.batch(0)
        loss = run.task.losses(run.model.eval(), batch)["pairs"].item()
        sides = []
        for tokens, lengths in ((batch.first, batch.first_lengths), (batch.second, batch.second_lengths)):
            states = run.model(tokens, lengths).detach().double().numpy()
            means = np.stack([row[:length].mean(0) for row, length in zip(states, lengths.tolist(), strict=True)])
            sides.append(means / np.linalg.norm(means, axis=1, keepdims=True))
        cosines = sides[0] @ sides[1].T
        if scored:
            wanted = ((cosines.diagonal() - batch.scores.numpy()) ** 2).sum()
        else:
            wanted = (np.log(np.exp(20 * cosines).sum(1)) - 20 * cosines.diagonal()).sum()
        assert loss == pytest.approx(wanted, rel=1e-4)


def test_a_pretrained_bert_is_begun_with(tmp_path: Path) -> None:
    run_tree(tree_of(tmp_path, updates=8), tmp_path / "first")
    tree = {key: value for key, value in tree_of(tmp_path).items() if key not in ("model", "tokenizer")}
    run = prepare({**tree, "init": str(tmp_path / "first")}, tmp_path / "second", Silent())
    trained = dict(regard.load(tmp_path / "first").model.named_parameters())
    assert all(torch.equal(value, trained[name]) for name, value in run.model.named_parameters())


def test_who_goes_on_pools_as_before(tmp_path: Path) -> None:
    run_tree({**tree_of(tmp_path, updates=8), "embedding": {"pooling": "max"}}, tmp_path / "first")
    tree = {key: value for key, value in tree_of(tmp_path).items() if key not in ("model", "tokenizer", "embedding")}
    tree["init"] = str(tmp_path / "first")
    assert prepare(tree, tmp_path / "second", Silent()).task.config.embedding.pooling == "max"
    other = {**tree, "embedding": {"pooling": "cls"}}
    assert prepare(other, tmp_path / "third", Silent()).task.config.embedding.pooling == "cls"


def test_validation_needs_scores_and_says_so(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, scored=False)
    for split in ("val", "test"):
        held = {**tree["data"], split: [written(tmp_path / "bare.tsv", 5, 3, scored=False)]}
        said = (
            rf"(?s)bare\.tsv: --{split} needs scores, which only training.*bare\.tsv, line 1.*text⇥text⇥score.*0 to 5"
        )
        with pytest.raises(DataError, match=said):
            prepare({**tree, "data": held}, tmp_path / "out", Silent())
    (tmp_path / "one.tsv").write_text("only one\n")
    with pytest.raises(DataError, match=r"(?s)one\.tsv, line 1.*1 column.*3 columns"):
        prepare({**tree, "data": {**tree["data"], "val": [str(tmp_path / "one.tsv")]}}, tmp_path / "out", Silent())


@pytest.mark.parametrize("rows", [1, 3])
def test_scores_that_are_all_equal_are_refused_before_training(tmp_path: Path, rows: int) -> None:
    tree = tree_of(tmp_path)
    (tmp_path / "flat.tsv").write_text("a cat\ta dog\t2.5\n" * rows)
    for split in ("val", "test"):
        held = {**tree["data"], split: [str(tmp_path / "flat.tsv")]}
        with pytest.raises(DataError, match=rf"(?s)flat\.tsv: all scores are equal.*2\.5 in each of {rows}.*--{split}"):
            prepare({**tree, "data": held}, tmp_path / "out", Silent())


def test_scores_in_json_may_be_numbers(tmp_path: Path) -> None:
    rows = [{"sentence1": "a cat", "sentence2": "a dog", "score": score} for score in (4, 1.25, "0.5")]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = ScoredPairs.read((str(tmp_path / "a.jsonl"),), 5.0, SCORED, PAIRED)
    assert found.scores is not None
    assert found.scores.tolist() == pytest.approx([0.8, 0.25, 0.1])


def test_bad_pairs_are_named(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    (tmp_path / "a.tsv").write_text("a\tb\t1.0\na\tc\thigh\n")
    tree["data"]["train"] = [str(tmp_path / "a.tsv")]
    with pytest.raises(DataError, match=r"(?s)score cannot be used.*'high' in .*a\.tsv, line 2.*0 to 5"):
        prepare(tree, tmp_path / "out", Silent())
    (tmp_path / "b.tsv").write_text("only one\n")
    tree["data"]["train"] = [str(tmp_path / "b.tsv")]
    with pytest.raises(DataError, match=r"(?s)b\.tsv.*1 column.*2 columns"):
        prepare(tree, tmp_path / "out", Silent())
    (tmp_path / "c.tsv").write_text("cat " * 60 + "\tdog\t1\n")
    tree["data"]["train"] = [str(tmp_path / "c.tsv")]
    with pytest.raises(LimitError, match=r"(?s)62 tokens in .*c\.tsv, line 1.*at most 32"):
        prepare(tree, tmp_path / "out", Silent())
