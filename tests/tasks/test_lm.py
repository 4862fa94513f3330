"""Language modelling, from text files to a model that continues them."""

import json
import os
import random
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
import transformers

import regard
from regard.data.batches import Share
from regard.errors import BundleError, ConfigError, DataError
from regard.tasks import running_text
from regard.text.tokenizer import END_OF_TEXT
from regard.training.settings import resolve
from regard.training.start import prepare
from tests.commands import Run
from tests.models.pretrained.test_gpt2 import random as random_gpt2
from tests.runs import Silent, run_tree
from tests.text.test_gpt2_files import write as write_tokenizer

ANIMALS, PLACES = ("cat", "dog", "bird", "fish"), ("house", "river", "garden", "street")


def write_stories(path: Path, documents: int, seed: int = 0) -> Path:
    """Each is about one animal in one place, so that it can be foretold."""
    draw = random.Random(seed)
    stories = []
    for _ in range(documents):
        animal, place = draw.choice(ANIMALS), draw.choice(PLACES)
        stories.append(f"The {animal} is in the {place}.\n" * draw.randint(2, 6))
    path.write_text(END_OF_TEXT.join(stories), encoding="utf-8")
    return path


def tree_of(directory: Path, **training: Any) -> dict[str, Any]:
    return {
        "task": "lm",
        "model": {
            "name": "gpt2", "width": 24, "heads": 2, "hidden": 48, "layers": 2, "limit": 32,
            "dropout": 0.0, "embedding_dropout": 0.0, "attention_dropout": 0.0,
        },
        "tokenizer": {"size": 300},
        "batch": {"tokens": 256},
        "data": {
            "train": [str(write_stories(directory / "train.txt", 40))],
            "val": [str(write_stories(directory / "val.txt", 10, seed=1))],
        },
        "training": {
            "updates": 12, "warmup": 4, "validate_every": 6, "save_every": 3, "log_every": 1, "threads": 1, **training,
        },
    }  # fmt: skip


def task_of(tree: dict[str, Any], tmp_path: Path) -> Any:
    return prepare(tree, tmp_path / "out", Silent()).task


def characters(directory: Path, **training: Any) -> dict[str, Any]:
    return {**tree_of(directory, **training), "tokenizer": {"kind": "character"}}


def test_the_tokens_of_a_text_are_all_there_with_a_mark_behind_each_document(tmp_path: Path) -> None:
    task = task_of(tree_of(tmp_path), tmp_path)
    tokenizer, ids = task.tokenizers.tokenizer, task.text.ring.column.ids
    stories = (tmp_path / "train.txt").read_text().split(END_OF_TEXT)
    assert ids.tolist() == [id for story in stories for id in [*tokenizer.encode(story), tokenizer.end]]


def test_an_epoch_predicts_every_token_from_those_before_it(tmp_path: Path) -> None:
    task = task_of(tree_of(tmp_path), tmp_path)
    ids = task.text.ring.column.ids.astype(np.int64)
    steps, ring = task._order.updates_per_epoch, np.concatenate([ids, ids, ids[:33]])
    known = {tuple(ring[first : first + 33]) for first in range(len(ids))}
    counts = np.zeros(len(task.tokenizers.tokenizer), dtype=int)
    for step in range(steps):
        batch = task.batch(step)
        assert batch.tokens.shape[1] == 33
        assert {tuple(row) for row in batch.tokens.tolist()} <= known
        counts += np.bincount(batch.tokens[:, 1:].flatten(), minlength=len(counts))
        assert task.counts(batch) == {"loss": task.size(batch)} == {"loss": len(batch.tokens) * 32}
        assert task.size(batch) <= 256
    twice = counts - np.bincount(ids, minlength=len(counts))
    assert (twice >= 0).all()
    assert twice.sum() < 32
    assert [task.epoch(step) for step in (0, steps - 1, steps)] == [0, 0, 1]


def test_batches_are_a_function_of_seed_and_step_and_shares_are_their_rows(tmp_path: Path) -> None:
    task, again = (task_of(tree_of(tmp_path), tmp_path) for _ in range(2))
    for step in (0, 7, task._order.updates_per_epoch):
        whole = task.batch(step).tokens
        assert torch.equal(whole, again.batch(step).tokens)
        parts = [task.batch(step, Share(part, 3)).tokens for part in range(3)]
        assert sorted(row for part in parts for row in part.tolist()) == sorted(whole.tolist())
    assert task.batch(0, Share(50, 51)) is None
    assert not torch.equal(task.batch(0).tokens, task.batch(task._order.updates_per_epoch).tokens)


def test_the_loss_is_that_of_torch(tmp_path: Path) -> None:
    run = prepare(tree_of(tmp_path), tmp_path / "out", Silent())
    batch = run.task.batch(0)
    with torch.no_grad():
        scores = run.model.output(run.model(batch.tokens[:, :-1]))
        found = run.task.losses(run.model, batch)["loss"]
    wanted = F.cross_entropy(scores.flatten(0, 1), batch.tokens[:, 1:].flatten(), reduction="sum")
    torch.testing.assert_close(found, wanted)
    assert float(found) / run.task.size(batch) == pytest.approx(np.log(len(run.task.tokenizers.tokenizer)), abs=0.2)


@pytest.mark.parametrize("kind", ["byte-bpe", "character"])
def test_what_is_on_disk_is_what_is_in_memory(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = {**tree_of(tmp_path), "tokenizer": {"kind": kind, "size": 300}}
    held = task_of(tree, tmp_path)
    monkeypatch.setattr(running_text, "LARGE", 0)
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    for _ in range(2):  # the second time, all is found
        kept = task_of(tree, tmp_path)
        assert kept.text.ring.column.maps
        assert kept.fingerprints() == held.fingerprints()
        assert kept.tokenizers.tokenizer.backend.to_str() == held.tokenizers.tokenizer.backend.to_str()
        for step in (0, 9):
            assert torch.equal(kept.batch(step).tokens, held.batch(step).tokens)
        assert [len(list((tmp_path / "cache" / what).iterdir())) for what in ("tokens", "tokenizers")] == [1, 1]


def test_much_text_is_learned_from_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_text, "SAMPLE", 10)
    assert running_text._sample(f"{number:02d}" for number in range(16)) == ["00", "04", "08", "12"]
    assert running_text._sample(["much more than that", "and more"]) == ["much more than that"]


def test_a_run_learns_to_foretell_its_text(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, updates=150, warmup=20, validate_every=75, learning_rate=1e-2)
    outcome = run_tree(tree, tmp_path / "out")
    scores = outcome.card["scores"]["val"]
    assert scores["loss"] < 0.3 * scores["unigram_entropy"]
    assert scores["perplexity"] == pytest.approx(np.exp(scores["loss"]))
    assert "regard generate out" in (tmp_path / "out" / "README.md").read_text()
    model = regard.load(tmp_path / "out")
    (found,) = model.generate("The cat is in the house.\nThe", max_new_tokens=4, temperature=0.0)
    assert found.text in {f" {animal} is in the" for animal in ANIMALS}


def test_a_run_without_validation_text_is_trained_and_has_no_score(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, updates=2, warmup=1)
    del tree["data"]["val"]
    outcome = run_tree(tree, tmp_path / "out")
    assert outcome.card["scores"] == {}
    assert regard.load(tmp_path / "out").limit == 32


class Stops(Silent):
    """Asks to stop after the fifth update."""

    def stepped(self, step: Any, seconds: float) -> None:
        super().stepped(step, seconds)
        if len(self.losses) == 5:
            os.kill(os.getpid(), signal.SIGTERM)


def test_a_run_that_was_stopped_and_resumed_ends_with_the_same_bytes(tmp_path: Path) -> None:
    tree = characters(tmp_path)
    run_tree(tree, tmp_path / "whole")
    assert not run_tree(tree, tmp_path / "parts", Stops()).finished
    run_tree(tree, tmp_path / "parts")
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    write_stories(tmp_path / "train.txt", 41)
    with pytest.raises(BundleError, match="train data has changed"):
        run_tree(tree, tmp_path / "parts")


def test_a_batch_computed_in_parts_makes_the_same_update(tmp_path: Path) -> None:
    losses = []
    for parts in (1, 3):
        watcher = Silent()
        run_tree(tree_of(tmp_path, accumulate=parts), tmp_path / str(parts), watcher)
        losses.append(watcher.losses)
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)


# Which tokenizer


def test_the_preset_for_characters_brings_its_tokenizer() -> None:
    def kind(tree: dict[str, Any]) -> str:
        settings: Any = resolve({"task": "lm", **tree}).settings
        return str(settings.tokenizer.kind)

    assert kind({}) == kind({"model": {"preset": "small"}}) == "byte-bpe"
    assert kind({"model": {"preset": "char"}}) == "character"
    assert kind({"model": {"preset": "char"}, "tokenizer": {"kind": "byte-bpe"}}) == "byte-bpe"
    saved = resolve({"task": "lm", "model": {"preset": "char"}, "training": {"updates": 10}}).tree()
    assert kind(saved) == "character"


def test_characters_are_the_tokens_of_the_preset_for_them(tmp_path: Path) -> None:
    tree = {key: value for key, value in tree_of(tmp_path).items() if key != "tokenizer"}
    tree["model"] |= {"preset": "char"}
    task = task_of(tree, tmp_path)
    text = (tmp_path / "train.txt").read_text()
    known = sorted(set(text.replace(END_OF_TEXT, "")))
    assert len(task.tokenizers.tokenizer) == len(known) + 2
    assert task.tokenizers.tokenizer.encode("The") == [known.index(letter) for letter in "The"]


def test_a_trained_model_goes_on_with_its_own_tokenizer(tmp_path: Path) -> None:
    tree = characters(tmp_path)
    run_tree(tree, tmp_path / "first")
    (tmp_path / "other.txt").write_text("The Ünder-cat is in the ünder-house.\n" * 20)
    again = {"init": str(tmp_path / "first"), "data": {"train": [str(tmp_path / "other.txt")]}, "batch": {"tokens": 64}}
    run = prepare(again, tmp_path / "second", Silent())
    assert run.config.task == "lm"
    assert run.config.model.limit == 32
    first = regard.load(tmp_path / "first")
    assert run.task.tokenizers.tokenizer.backend.to_str() == first.tokenizer.backend.to_str()
    assert torch.equal(run.model.words.weight, first.model.words.weight)
    assert "(80 of them unknown to the tokenizer)" in run.task.describe()  # Ü, ü and two times -


def test_a_model_of_others_goes_on_with_its_own_tokenizer(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    write_tokenizer(tmp_path / "theirs")
    size = len(transformers.GPT2TokenizerFast.from_pretrained(tmp_path / "theirs"))
    theirs = random_gpt2(vocab_size=size + 3, bos_token_id=size - 1, eos_token_id=size - 1)
    theirs.save_pretrained(tmp_path / "theirs")
    tree = tree_of(tmp_path, updates=2, warmup=1, learning_rate=1e-5)
    del tree["model"], tree["task"], tree["tokenizer"]
    run = prepare({**tree, "init": str(tmp_path / "theirs")}, tmp_path / "out", Silent())
    assert run.model.words.num_embeddings == size  # rows without a token are left
    assert torch.equal(run.model.words.weight, theirs.transformer.wte.weight[:size])
    text = "The cat's in the house.\n"
    wanted = transformers.GPT2TokenizerFast.from_pretrained(tmp_path / "theirs")(text)["input_ids"]
    assert run.task.tokenizers.tokenizer.encode(text) == wanted
    run_tree({**tree, "init": str(tmp_path / "theirs")}, tmp_path / "out")
    assert regard.load(tmp_path / "out").tokenizer.encode(text) == wanted


def test_the_wider_a_model_is_the_smaller_the_rate_at_which_it_goes_on() -> None:
    def rate(width: int) -> float:
        tree = {"task": "lm", "model": {"name": "gpt2", "width": width, "heads": 2}, "init": "some"}
        return resolve(tree).training.learning_rate

    assert [rate(width) for width in (128, 256, 768)] == pytest.approx([1e-3, 9e-4, 1e-4])


# What is refused


def test_faults_are_told(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    with pytest.raises(DataError, match="No training data was given"):
        task_of({**tree, "data": {}}, tmp_path)
    with pytest.raises(ConfigError, match="lowercase is for wordpiece"):
        task_of({**tree, "tokenizer": {"lowercase": True}}, tmp_path)
    with pytest.raises(ConfigError, match="tokenizer.kind cannot be used"):
        task_of({**tree, "tokenizer": {"kind": "word"}}, tmp_path)
    for name, content, said in (
        ("empty.txt", b"", "empty.txt is empty"),
        ("binary.txt", b"ab\n\0\1", "binary.txt, line 2: this is not text"),
    ):
        (tmp_path / name).write_bytes(content)
        for split in ("train", "val"):
            with pytest.raises(DataError, match=said):
                task_of({**tree, "data": tree["data"] | {split: [str(tmp_path / name)]}}, tmp_path)


def test_files_of_a_folder_that_are_no_text_are_listed(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    (tmp_path / "texts").mkdir()
    write_stories(tmp_path / "texts" / "a.txt", 5)
    (tmp_path / "texts" / "b.png").write_bytes(b"\x89PNG\0")
    tree["data"]["train"] = [str(tmp_path / "texts")]
    assert [line.partition("texts/")[2] for line in task_of(tree, tmp_path).skipped()] == [
        "b.png: not text, bytes that are 0"
    ]


def test_a_text_that_is_shorter_than_a_block_is_one(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, updates=3, warmup=1)
    (tmp_path / "short.txt").write_text("The cat.")
    tree["data"] = {split: [str(tmp_path / "short.txt")] for split in ("train", "val")}
    task = task_of(tree, tmp_path)
    assert task.batch(0).tokens.shape == (1, len(task.text.ring) + 1)
    assert run_tree(tree, tmp_path / "out").card["scores"]["val"]["loss"] > 0


def test_the_command_takes_a_folder_and_a_preset(tmp_path: Path, run: Run) -> None:
    (tmp_path / "texts").mkdir()
    write_stories(tmp_path / "texts" / "a.txt", 5)
    words = ("train", "--task", "lm", "--train", tmp_path / "texts", "--model", "gpt2:char", "--out", tmp_path / "out")
    code, out, err = run(*words, "--dry-run")
    assert code == 0, err
    told = json.loads(out)
    assert told["tokenizer"]["kind"] == "character"
    assert (told["model"]["limit"], told["model"]["bias"], told["model"]["dropout"]) == (64, False, 0.0)
    assert "updates an epoch" in told["facts"]["data"]
    (tmp_path / "texts" / "a.txt").write_bytes(b"a\0b")
    code, _, err = run(*words)
    assert code == 1
    assert "texts holds no text file" in err
