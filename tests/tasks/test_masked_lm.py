"""Pretraining BERT, from text files to a model that fills in words."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import regard
from regard.data.batches import Share
from regard.errors import ConfigError, DataError, LimitError
from regard.evaluation.masked_lm import figures, overlap_accuracy
from regard.training.settings import resolve
from regard.training.start import prepare
from tests.runs import Silent, run_tree

ANIMALS, PLACES = ("cat", "dog", "bird", "fish"), ("house", "river", "garden", "street")

LINES = ("the {animal} is in the {place} .", "a {animal} sees the {place} .", "this {place} has a {animal} .")


def write_stories(path: Path, documents: int, seed: int = 0) -> Path:
    """Each is about one animal in one place, so that a word can be told from its neighbours."""
    draw = random.Random(seed)
    stories = []
    for _ in range(documents):
        animal, place = draw.choice(ANIMALS), draw.choice(PLACES)
        lines = (
            f"the {animal} is in the {place} .",
            f"a {animal} sees the {place} .",
            f"this {place} has a {animal} .",
        )
        stories.append("\n".join(draw.choice(lines) for _ in range(draw.randint(2, 6))))
    path.write_text("\n\n".join(stories) + "\n")
    return path


def tree_of(directory: Path, **training: Any) -> dict[str, Any]:
    return {
        "task": "masked-lm",
        "model": {"name": "bert", "width": 16, "heads": 2, "hidden": 32, "layers": 2, "limit": 40, "dropout": 0.0},
        "tokenizer": {"size": 60},
        "masking": {"length": 32, "short": 16, "short_updates": 5},
        "batch": {"tokens": 400},
        "data": {
            "train": [str(write_stories(directory / "train.txt", 120))],
            "val": [str(write_stories(directory / "val.txt", 30, seed=1))],
        },
        "training": {
            "updates": 12, "warmup": 4, "validate_every": 6, "save_every": 3, "log_every": 1, "threads": 1, **training,
        },
    }  # fmt: skip


def task_of(tmp_path: Path, **masking: Any) -> Any:
    tree = tree_of(tmp_path)
    tree["masking"] |= masking
    return prepare(tree, tmp_path / "out", Silent()).task


@pytest.mark.parametrize("whole_words", [False, True])
def test_a_batch_hides_words_and_remembers_them(tmp_path: Path, whole_words: bool) -> None:
    task = task_of(tmp_path, whole_words=whole_words)
    tokenizer, batch = task.tokenizers.tokenizer, task.batch(0)
    flat = batch.tokens.flatten()
    real = torch.arange(batch.tokens.shape[1]) < batch.lengths[:, None]
    assert real.flatten()[batch.places].all()
    marks = {tokenizer.pad, tokenizer.start, tokenizer.end}
    assert not marks & set(batch.wanted.tolist())
    assert (flat[batch.places] == tokenizer.mask).float().mean() > 0.6
    assert batch.tokens[:, 0].tolist() == [tokenizer.start] * len(batch.lengths)
    assert task.counts(batch) == {"masked": len(batch.wanted), "next": len(batch.lengths)}


def test_batches_are_a_function_of_seed_and_step_and_shares_are_their_rows(tmp_path: Path) -> None:
    task, again = task_of(tmp_path), task_of(tmp_path)
    epoch = next(step for step in range(1000) if task.epoch(step))
    for step in (0, 7, epoch, epoch + 30):
        one, other = task.batch(step), again.batch(step)
        assert torch.equal(one.tokens, other.tokens)
        parts = [task.batch(step, Share(part, 3)) for part in range(3)]
        assert sum(len(part.wanted) for part in parts) == len(one.wanted)
        assert sorted(np.concatenate([part.wanted for part in parts])) == sorted(one.wanted.tolist())
    epochs = [task.batch(step).wanted.tolist() for step in (0, epoch)]
    assert epochs[0] != epochs[1]


def test_a_run_learns_words_and_the_model_fills_them_in(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, updates=200, warmup=30, validate_every=100, learning_rate=1e-2)
    tree["model"] |= {"width": 32, "attention_dropout": 0.0}
    tree["tokenizer"]["size"] = 200  # every word is a piece
    outcome = run_tree(tree, tmp_path / "out")
    scores = outcome.card["scores"]["val"]
    assert scores["loss"] < 0.75 * scores["unigram_entropy"]
    assert 0.0 <= scores["next_sentence"] <= 1.0
    model = regard.load(tmp_path / "out")
    (found,) = model.fill("the cat [MASK] in the house .", top=3)
    assert {word.text for word in found} == {"is", "sees", "has"}
    assert sum(word.probability for word in found) <= 1.0
    assert [len(words) for words in model.fill("the [MASK] is in the [MASK] .")] == [5, 5]
    trace = model.attention("the cat is here .", "a dog .")
    assert trace.names == ("encoder.0.self", "encoder.1.self")
    assert [token.surface for token in trace.rows["text"].tokens if token.special] == ["[CLS]", "[SEP]", "[SEP]"]
    with pytest.raises(DataError, match="nothing to fill in"):
        model.fill("no mask here")
    with pytest.raises(LimitError, match="longer than the model"):
        model.fill("the " * 60 + "[MASK]")


def test_the_first_updates_have_short_examples_and_epochs_go_on(tmp_path: Path) -> None:
    task = task_of(tmp_path)
    longest = [int(task.batch(step).lengths.max()) for step in range(40)]
    assert max(longest[:5]) <= 16 < min(max(longest[5:]), 33)
    epochs = [task.epoch(step) for step in range(40)]
    assert epochs[0] == 0
    assert epochs == sorted(epochs)
    assert epochs[5] == epochs[4] + 1
    without = task_of(tmp_path, short_updates=0)
    for step in range(10):  # what comes later is what would have come at first; other words are hidden
        assert len(task.batch(step + 5).lengths) == len(without.batch(step).lengths)


def test_a_model_that_goes_on_has_no_need_of_short_examples(tmp_path: Path) -> None:
    def short_updates(**tree: Any) -> int:
        settings: Any = resolve({**tree_of(tmp_path), "masking": {}, **tree}).settings
        found: int = settings.masking.short_updates
        return found

    assert short_updates() == 2000
    assert short_updates(init="first") == 0
    assert short_updates(init="first", masking={"short_updates": 3}) == 3


def test_resumed_is_the_unbroken_run(tmp_path: Path) -> None:
    out = tmp_path / "broken"
    run_tree(tree_of(tmp_path, updates=6, schedule="constant"), out)
    run_tree(tree_of(tmp_path, updates=12, schedule="constant"), out)
    run_tree(tree_of(tmp_path, updates=12, schedule="constant"), tmp_path / "unbroken")
    assert (out / "model.safetensors").read_bytes() == (tmp_path / "unbroken" / "model.safetensors").read_bytes()


def test_next_sentence_can_be_left_out(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    tree["masking"]["next_sentence"] = False
    run = prepare(tree, tmp_path / "out", Silent())
    assert set(run.task.counts(run.task.batch(0))) == set(run.task.losses(run.model, run.task.batch(0))) == {"masked"}
    assert "next_sentence" not in figures(run.task, run.model, run.task.texts["val"])


def test_one_who_counts_common_words_is_better_than_chance(tmp_path: Path) -> None:
    task = task_of(tmp_path)
    assert overlap_accuracy(task, task.texts["val"]) > 0.6


def test_faults_are_told(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    with pytest.raises(ConfigError, match="more than the model can take"):
        prepare({**tree, "masking": {"length": 100}}, tmp_path / "out", Silent())
    with pytest.raises(ConfigError, match="no mark for hidden words"):
        prepare({**tree, "tokenizer": {"kind": "bpe", "size": 400, "lowercase": False}}, tmp_path / "out", Silent())
    (tmp_path / "one.txt").write_text("alone\n\nagain\n")
    tree["data"]["train"] = [str(tmp_path / "one.txt")]
    with pytest.raises(DataError, match="No passage of two sentences"):
        prepare(tree, tmp_path / "out", Silent())
    with pytest.raises(DataError, match="No training data"):
        prepare({**tree, "data": {}}, tmp_path / "out", Silent())
