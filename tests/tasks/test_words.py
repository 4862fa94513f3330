"""Vectors of words, from text files to a model that knows what is near what."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import regard
from regard.data.batches import Share
from regard.errors import ConfigError, DataError
from regard.models.word2vec import SCALE
from regard.tasks.skip_grams import GROUP, NOISE
from regard.tasks.words import STRETCH
from regard.text.word_vectors import read, write
from regard.training.start import prepare
from tests.oracles import shake
from tests.runs import Silent, run_tree

TOPICS = (
    ("river", "boat", "water", "fish", "shore", "swim"),
    ("money", "loan", "credit", "cash", "invest", "save"),
    ("engine", "wheel", "brake", "driver", "road", "fuel"),
)
EVERYWHERE = ("the", "of", "and")


def write_topics(path: Path, documents: int, seed: int = 0) -> Path:
    """Each document is about one thing, in words of that thing and words of everywhere."""
    draw = random.Random(seed)
    texts = []
    for _ in range(documents):
        topic = draw.choice(TOPICS)
        words = [draw.choice(topic if draw.random() < 0.6 else EVERYWHERE) for _ in range(draw.randint(10, 40))]
        texts.append(" ".join(words).capitalize() + ".")
    path.write_text("\n\n".join(texts) + "\n")
    return path


def tree_of(directory: Path, **training: Any) -> dict[str, Any]:
    return {
        "task": "words",
        "model": {"name": "word2vec", "width": 12},
        "words": {"subsample": 0.05, "window": 3},
        "batch": {"tokens": 800},
        "data": {
            "train": [str(write_topics(directory / "train.txt", 300))],
            "val": [str(write_topics(directory / "val.txt", 40, seed=1))],
        },
        "training": {
            "updates": 12, "warmup": 4, "validate_every": 6, "save_every": 3, "log_every": 1, "threads": 1, **training,
        },
    }  # fmt: skip


def prepared(tmp_path: Path, **sections: Any) -> Any:
    tree = tree_of(tmp_path)
    for name, settings in sections.items():
        tree[name] = {**tree.get(name, {}), **settings}
    return prepare(tree, tmp_path / "out", Silent())


def written_out(run: Any, batch: Any) -> float:
    """Mikolov 2013, eq. 4, pair by pair in numpy; each word of noise counts negatives / NOISE times."""
    v = (run.model.words.detach() * SCALE).double().numpy()
    u = (run.model.near.detach() * SCALE).double().numpy()
    width, total = batch.among.shape[1], 0.0
    for place in batch.places.tolist():
        group, rest = divmod(place, GROUP * width)
        centre, other = divmod(rest, width)
        c, o = int(batch.centres[group, centre]), int(batch.among[group, other])
        total -= np.log(1 / (1 + np.exp(-u[o] @ v[c])))
        for k in batch.noise[group].tolist():
            total -= run.task.config.words.negatives / NOISE * np.log(1 / (1 + np.exp(u[k] @ v[c])))
    return float(total)


def test_the_loss_is_the_papers_formula(tmp_path: Path) -> None:
    run = prepared(tmp_path, batch={"tokens": 200})
    shake(run.model, seed=1)
    batch = run.task.batch(0)
    found = run.task.losses(run.model, batch)
    assert run.task.counts(batch) == {"pairs": len(batch.places)}
    assert float(found["pairs"].detach()) == pytest.approx(written_out(run, batch), rel=1e-5)
    assert 0 < run.task.size(batch) <= 200


def test_the_first_loss_is_that_of_one_who_knows_nothing(tmp_path: Path) -> None:
    run = prepared(tmp_path, words={"negatives": 7})
    batch = run.task.batch(0)
    loss = float(run.task.losses(run.model, batch)["pairs"].detach()) / len(batch.places)
    assert loss == pytest.approx(8 * np.log(2), rel=1e-5)
    assert run.task.unigram_entropy() < loss


def test_one_who_knows_only_frequencies_loses_what_the_task_says(tmp_path: Path) -> None:
    run = prepared(tmp_path, model={"width": 1}, batch={"tokens": 4000})
    drawn = run.task.skip_grams
    near = np.maximum(drawn.counts * drawn.kept, 1e-9)
    odds = np.log(near / near.sum()) - np.log(np.maximum(drawn.negatives * drawn.noise, 1e-9))
    with torch.no_grad():
        run.model.words.fill_(1 / SCALE)
        run.model.near.copy_(torch.from_numpy(odds)[:, None] / SCALE)
    batches = [run.task.batch(step) for step in range(30)]
    total = sum(float(run.task.losses(run.model, batch)["pairs"].detach()) for batch in batches)
    assert total / sum(len(batch.places) for batch in batches) == pytest.approx(run.task.unigram_entropy(), rel=0.01)


def test_batches_are_a_function_of_seed_and_step_and_shares_sum_up_to_them(tmp_path: Path) -> None:
    run, again = prepared(tmp_path), prepared(tmp_path)
    task, later = run.task, run.task._order.updates_per_epoch
    shake(run.model, seed=1)
    for step in (0, 5, later):
        one, other = task.batch(step), again.task.batch(step)
        assert all(torch.equal(getattr(one, name), getattr(other, name)) for name in ("centres", "places", "noise"))
        parts = [part for number in range(3) if (part := task.batch(step, Share(number, 3))) is not None]
        assert sum(task.counts(part)["pairs"] for part in parts) == task.counts(one)["pairs"]
        assert sum(task.size(part) for part in parts) == task.size(one)
        losses = [float(task.losses(run.model, part)["pairs"].detach()) for part in parts]
        assert sum(losses) == pytest.approx(float(task.losses(run.model, one)["pairs"].detach()), rel=1e-5)
    assert (task.epoch(0), task.epoch(later)) == (0, 1)
    assert not torch.equal(task.batch(0).noise, task.batch(later).noise)


def test_rare_words_are_as_if_not_there_and_long_texts_are_cut(tmp_path: Path) -> None:
    text = "odd " + "a b " * 1200 + "\n\nalone\n\na other b\n\n" + "a. B a.\n" * 2
    (tmp_path / "text.txt").write_text(text)
    task = prepared(tmp_path, data={"train": [str(tmp_path / "text.txt")], "val": []}).task
    column, tokenizer = task.texts["train"].column, task.tokenizers.tokenizer
    assert column.lengths().tolist() == [STRETCH, STRETCH, 400, 2, 6]
    assert set(column.ids.tolist()) == {tokenizer.encode("a")[0], tokenizer.encode("b")[0]}
    assert "2,411 words, 2,408 of them known; vocabulary 2" in task.describe()
    task = prepared(
        tmp_path, data={"train": [str(tmp_path / "text.txt")], "val": []}, words={"across": "sentence"}
    ).task
    assert task.texts["train"].column.lengths().tolist() == [STRETCH, STRETCH, 400, 2, 3, 3]


def test_a_run_learns_what_is_near_what(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, updates=150, warmup=10, validate_every=50, learning_rate=5e-3)
    outcome = run_tree(tree, tmp_path / "out")
    scores = outcome.card["scores"]["val"]
    assert scores["loss"] < scores["unigram_entropy"] - 0.1
    assert scores["accuracy"] > 0.6
    model = regard.load(tmp_path / "out")
    for topic in TOPICS:
        for word in topic:
            assert {found.text for found in model.nearest(word, top=5)} == set(topic) - {word}
    first = model.nearest("River", top=3)
    assert [found.similarity for found in first] == sorted((found.similarity for found in first), reverse=True)
    assert first[0].similarity == pytest.approx(model.similarity("river", first[0].text), abs=1e-6)
    assert model.similarity("the boat", "the shore") > model.similarity("the boat", "the loan")
    np.testing.assert_allclose(model.embed(["A boat; the FISH!"])[0], model.embed(["boat the fish"])[0])
    np.testing.assert_array_equal(model.nearest(model.vector("boat"), top=1)[0].text, "boat")


@pytest.fixture
def untrained(tmp_path: Path) -> Any:
    run_tree(tree_of(tmp_path, updates=1, warmup=1), tmp_path / "out")
    return regard.load(tmp_path / "out")


def test_the_verbs_of_word_vectors(untrained: Any, tmp_path: Path) -> None:
    model, rows = untrained, ("river", "boat")
    assert sorted(model.words) == sorted(word for group in (*TOPICS, EVERYWHERE) for word in group)
    vectors = [model.vector(word) for word in rows]
    assert vectors[0].shape == (12,)
    texts = ["river boat", "Boat, river!", "zebra", "", "river zebra"]
    means = model.embed(texts)
    np.testing.assert_allclose(means[0], np.mean(vectors, axis=0), rtol=1e-6)
    np.testing.assert_allclose(means[1], means[0], rtol=1e-6)
    assert not means[2:4].any()
    np.testing.assert_allclose(means[4], vectors[0], rtol=1e-6)
    np.testing.assert_allclose(model.embed(texts, pooling="max")[0], np.max(vectors, axis=0))
    np.testing.assert_allclose(np.linalg.norm(model.embed(texts, normalize=True), axis=1), [1, 1, 0, 0, 1], rtol=1e-6)
    assert model.embed([]).shape == (0, 12)
    cosine = vectors[0] @ vectors[1] / np.linalg.norm(vectors[0]) / np.linalg.norm(vectors[1])
    assert model.similarity(*rows) == pytest.approx(float(cosine), abs=1e-6)
    assert len(model.nearest("river", top=100)) == len(model.words) - 1
    assert "River" in model
    assert "river boat" not in model
    assert "zebra" not in model
    write(tmp_path / "out.bin", model.words, model.matrix, binary=True)
    words, matrix = read(tmp_path / "out.bin")
    assert words == model.words
    np.testing.assert_array_equal(matrix[words.index("boat")], vectors[1])


def test_what_word_vectors_cannot_do_is_told(untrained: Any) -> None:
    with pytest.raises(DataError, match="'zebra' is not in the vocabulary(.|\n)*one of the 21 words"):
        untrained.vector("zebra")
    with pytest.raises(DataError, match="found: 2 words(.|\n)*use embed"):
        untrained.nearest("river boat")
    with pytest.raises(DataError, match="no known word to compare"):
        untrained.similarity("river", "zebra")
    with pytest.raises(ConfigError, match="cannot be pooled by 'men'(.|\n)*did you mean mean"):
        untrained.embed(["river"], pooling="men")
    with pytest.raises(DataError, match="takes a list"):
        untrained.embed("river")


def test_resumed_is_the_unbroken_run(tmp_path: Path) -> None:
    out = tmp_path / "broken"
    run_tree(tree_of(tmp_path, updates=6, schedule="constant"), out)
    run_tree(tree_of(tmp_path, updates=12, schedule="constant"), out)
    run_tree(tree_of(tmp_path, updates=12, schedule="constant"), tmp_path / "unbroken")
    assert (out / "model.safetensors").read_bytes() == (tmp_path / "unbroken" / "model.safetensors").read_bytes()


def test_a_batch_in_parts_gives_the_same_update(tmp_path: Path) -> None:
    settings = {"updates": 4, "warmup": 1, "average": 0.0, "clip": 0.0}
    run_tree(tree_of(tmp_path, **settings), tmp_path / "whole")
    run_tree(tree_of(tmp_path, **settings, accumulate=3), tmp_path / "parts")
    whole, parts = regard.load(tmp_path / "whole").matrix, regard.load(tmp_path / "parts").matrix
    np.testing.assert_allclose(parts, whole, atol=2e-3 * np.abs(whole).max())


def test_training_can_go_on_with_other_text(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    run_tree(tree, tmp_path / "out")
    other = {**tree, "init": str(tmp_path / "out"), "data": {"train": [str(write_topics(tmp_path / "b.txt", 50, 7))]}}
    del other["model"]
    run = prepare(other, tmp_path / "other", Silent())
    assert run.task.tokenizers.model_sizes() == {"vocabulary": 4 + len(regard.load(tmp_path / "out").words)}
    np.testing.assert_array_equal(run.model.vectors()[4:].numpy(), regard.load(tmp_path / "out").matrix)


def test_faults_are_told(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    with pytest.raises(ConfigError, match="no setting called words.width(.|\n)*write model.width="):
        prepare({**tree, "words": {"width": 50}}, tmp_path / "out", Silent())
    with pytest.raises(ConfigError, match="tokenizer cannot be used: vectors of words need whole words, not bpe"):
        prepare({**tree, "tokenizer": {"kind": "bpe"}}, tmp_path / "out", Silent())
    with pytest.raises(ConfigError, match="no setting called words.windows(.|\n)*did you mean window"):
        prepare({**tree, "words": {"windows": 5}}, tmp_path / "out", Silent())
    with pytest.raises(DataError, match="No two known words stand together(.|\n)*0 words in the vocabulary"):
        prepare({**tree, "tokenizer": {"min_count": 10**6}}, tmp_path / "out", Silent())
    with pytest.raises(DataError, match="No training data"):
        prepare({**tree, "data": {}}, tmp_path / "out", Silent())
