"""Classifiers learn, are exact about their classes, and say what is wrong with the data."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer as Backend
from tokenizers.processors import BertProcessing

import regard
from regard.data.batches import Share
from regard.data.labelled import ONE, read_labelled
from regard.errors import BundleError, ConfigError, DataError, LimitError
from regard.evaluation.classification import Classes, classify_and_score, evaluate
from regard.tasks.classification import Examples
from regard.tasks.classifier import Classifier
from regard.tasks.texts import WordPieceConfig
from regard.text import train_tokenizer
from regard.training.settings import resolve
from regard.training.start import prepare
from tests.models.pretrained import checkpoints
from tests.runs import Silent, run_tree

SORTS = {
    "animal": ["cat", "dog", "horse", "bird"],
    "tool": ["saw", "hammer", "knife", "drill"],
    "fruit": ["plum", "fig"],
}
MODELS: dict[str, dict[str, Any]] = {
    "rnn": {"name": "rnn", "width": 16, "dropout": 0.0},
    "rnn, last": {"name": "rnn", "width": 16, "dropout": 0.0, "pooling": "last", "layers": 2, "cell": "gru"},
    "transformer": {"name": "transformer", "width": 16, "heads": 2, "hidden": 32, "layers": 1, "dropout": 0.0},
    "bert": {"name": "bert", "width": 16, "heads": 2, "hidden": 32, "layers": 1, "dropout": 0.0, "limit": 32},
}


def written(path: Path, count: int, seed: int, *, pairs: bool = False) -> str:
    """Sentences about things, with the sort of thing; or pairs of things, and whether they are of one sort."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        first, second = (draw.choice([*SORTS]) for _ in range(2))
        texts = [f"the {draw.choice(['old', 'new'])} {draw.choice(SORTS[sort])} is here" for sort in (first, second)]
        rows.append((*texts, "same" if first == second else "other") if pairs else (texts[0], first))
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def tree_of(directory: Path, model: str = "rnn", *, pairs: bool = False, **training: Any) -> dict[str, Any]:
    return {
        "task": "classification",
        "model": MODELS[model],
        "tokenizer": {"size": 200},
        "batch": {"tokens": 128},
        "data": {
            "train": [written(directory / "train.tsv", 200, 1, pairs=pairs)],
            "val": [written(directory / "val.tsv", 40, 2, pairs=pairs)],
        },
        "training": {
            "updates": 60,
            "warmup": 5,
            "learning_rate": 1e-2,
            "validate_every": 30,
            "average": 0.0,
            **training,
        },
    }


@pytest.mark.parametrize("model", MODELS)
def test_every_model_learns_sorts_of_things(tmp_path: Path, model: str) -> None:
    run_tree(tree_of(tmp_path, model), tmp_path / "out")
    scores = json.loads((tmp_path / "out" / "card.json").read_text())["scores"]["val"]
    assert scores["accuracy"] == 1.0
    classifier = regard.load(tmp_path / "out")
    assert classifier.labels == ("animal", "fruit", "tool")
    found = classifier.classify(["the old horse is here", "the new fig is here", "the old saw is here"])
    assert [each.label for each in found] == ["animal", "fruit", "tool"]
    assert all(sum(each.probabilities.values()) == pytest.approx(1.0) for each in found)
    assert found[0].probability == max(found[0].probabilities.values())


def test_pairs_are_learned_by_a_bert(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, "bert", pairs=True, updates=20)
    run_tree(tree, tmp_path / "out")
    classifier = regard.load(tmp_path / "out")
    assert classifier.sides == 2
    classifier.classify([("a cat is here", "a dog is here")])
    with pytest.raises(DataError, match="takes pairs of texts"):
        classifier.classify(["a cat"])
    trace = classifier.attention("the old cat is here", "the saw")
    assert [token.surface for token in trace.rows["text"].tokens if token.special] == ["[CLS]", "[SEP]", "[SEP]"]
    assert trace.axes["encoder.0.self"] == ("text", "text")


@pytest.mark.parametrize("model", MODELS)
def test_a_class_does_not_depend_on_the_company(tmp_path: Path, model: str) -> None:
    run = prepare(tree_of(tmp_path, model), tmp_path / "out", Silent())
    network = run.model.eval()
    examples = Examples([("cat",), ("the old cat is here and there",)], run.task.tokenizers.tokenizer)
    both, alone = network(*examples.batch([0, 1])), network(*examples.batch([0]))
    assert torch.allclose(both[0], alone[0], atol=1e-6)


@pytest.mark.parametrize(
    "sides", [("a b c d e f g",), ("a b c d e f g", "a b"), ("a", "a b c d e f"), ("a b c d", "e f g h")]
)
@pytest.mark.parametrize("most", [5, 6, 7, 8])
def test_what_is_too_long_is_cut_as_others_do(sides: tuple[str, ...], most: int) -> None:
    tokenizer = train_tokenizer(["a b c d e f g h"] * 5, WordPieceConfig())
    oracle = Backend.from_str(tokenizer.backend.to_str())
    oracle.post_processor = BertProcessing(("[SEP]", tokenizer.end), ("[CLS]", tokenizer.start))
    oracle.enable_truncation(most, strategy="longest_first")
    examples = Examples([sides], tokenizer)
    examples.cut(most)
    assert examples.ids(0) == oracle.encode(*sides).ids
    assert examples.lengths.tolist() == [min(most, len(examples.ids(0)))]


def test_the_second_text_is_told_apart(tmp_path: Path) -> None:
    task = prepare(tree_of(tmp_path, "bert", pairs=True), tmp_path / "out", Silent()).task
    tokens, lengths, segments = task.examples["train"].batch([0])
    ids, end = tokens[0].tolist(), task.tokenizers.tokenizer.end
    first = ids.index(end) + 1
    assert segments[0].tolist() == [0] * first + [1] * (int(lengths[0]) - first)
    assert ids[0] == task.tokenizers.tokenizer.start
    assert ids.count(end) == 2


def test_the_shares_of_a_batch_are_the_batch(tmp_path: Path) -> None:
    task = prepare(tree_of(tmp_path), tmp_path / "out", Silent()).task
    whole = task.batch(3)
    parts = [task.batch(3, Share(part, 3)) for part in range(3)]
    assert sorted(label for part in parts for label in part.labels.tolist()) == sorted(whole.labels.tolist())
    assert task.unigram_entropy() == pytest.approx(_entropy(task.labels["train"].tolist()))


def _entropy(labels: list[int]) -> float:
    shares = np.bincount(labels) / len(labels)
    return float(-(shares * np.log(shares)).sum())


def test_resumed_is_the_unbroken_run(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, "bert", updates=6, schedule="constant", validate_every=6)
    run_tree(tree, tmp_path / "broken")
    longer = tree_of(tmp_path, "bert", updates=12, schedule="constant", validate_every=6)
    run_tree(longer, tmp_path / "broken")
    run_tree(longer, tmp_path / "whole")
    files = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("broken", "whole")]
    assert files[0] == files[1]


def test_a_pretrained_bert_is_begun_with_and_only_the_head_is_new(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    lines = [line.split("\t")[0] + " ." for line in Path(written(tmp_path / "a.tsv", 60, 5)).read_text().splitlines()]
    corpus.write_text("\n".join(lines[:30]) + "\n\n" + "\n".join(lines[30:]) + "\n")
    pretraining = {
        "task": "masked-lm",
        "model": MODELS["bert"],
        "tokenizer": {"size": 100},
        "data": {"train": [str(corpus)]},
        "masking": {"length": 24},
        "training": {"updates": 3, "warmup": 1},
    }
    run_tree(pretraining, tmp_path / "bert")
    tree = {key: value for key, value in tree_of(tmp_path, "bert").items() if key not in ("model", "tokenizer")}
    watcher = Silent()
    run = prepare({**tree, "init": str(tmp_path / "bert")}, tmp_path / "out", watcher)
    trained = dict(regard.load(tmp_path / "bert").model.named_parameters())
    mine = dict(run.model.named_parameters())
    assert all(torch.equal(mine[name], trained[name]) for name in mine if name.startswith("bert."))
    assert any("new: classify.weight, classify.bias" in said for said in watcher.words)


def test_a_classifier_goes_on_with_its_classes_or_gets_a_new_head(tmp_path: Path) -> None:
    run_tree(tree_of(tmp_path, updates=8), tmp_path / "first")
    tree = {key: value for key, value in tree_of(tmp_path).items() if key not in ("model", "tokenizer")}
    run = prepare({**tree, "init": str(tmp_path / "first")}, tmp_path / "second", watcher := Silent())
    assert run.task.tokenizers.labels == ("animal", "fruit", "tool")
    assert watcher.words == []
    (tmp_path / "two.tsv").write_text("the cat\tyes\nthe dog\tno\n")
    tree["data"] = {"train": [str(tmp_path / "two.tsv")]}
    run = prepare({**tree, "init": str(tmp_path / "first")}, tmp_path / "third", watcher := Silent())
    assert run.task.tokenizers.labels == ("no", "yes")
    assert "new: classify.weight" in watcher.words[0]
    (tmp_path / "three.tsv").write_text("the cat\tyes\nthe dog\tno\nthe cow\tmaybe\n")
    tree["data"] = {"train": [str(tmp_path / "three.tsv")]}
    prepare({**tree, "init": str(tmp_path / "first")}, tmp_path / "fourth", watcher := Silent())
    assert "new: classify.weight" in watcher.words[0]  # as many as before, but others


def test_a_model_of_another_architecture_is_not_begun_with(tmp_path: Path) -> None:
    run_tree(tree_of(tmp_path, updates=8), tmp_path / "rnn")
    with pytest.raises(ConfigError, match="is a rnn, not a bert"):
        prepare({**tree_of(tmp_path, "bert"), "init": str(tmp_path / "rnn")}, tmp_path / "out", Silent())
    wider = {**tree_of(tmp_path), "model": {"name": "rnn", "width": 18}, "init": str(tmp_path / "rnn")}
    with pytest.raises(BundleError, match="do not fit"):
        prepare(wider, tmp_path / "out", Silent())


def test_bad_data_is_named(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    unseen = tmp_path / "unseen.tsv"
    unseen.write_text("the cat\tanimal\nthe sea\twater\n")
    tree["data"]["val"] = [str(unseen)]
    with pytest.raises(DataError, match=r"(?s)'water' does not occur in the training data.*unseen\.tsv, line 2"):
        prepare(tree, tmp_path / "out", Silent())
    one = tmp_path / "one.tsv"
    one.write_text("the cat\tanimal\nthe dog\tanimal\n")
    tree["data"] = {"train": [str(one)]}
    with pytest.raises(DataError, match=r"(?s)only one class.*'animal' in all 2 rows"):
        prepare(tree, tmp_path / "out", Silent())
    long = tmp_path / "long.tsv"
    long.write_text("the cat\tanimal\n" + "the dog " * 200 + "\ttool\n")
    tree["data"] = {"train": [str(long)]}
    with pytest.raises(LimitError, match=r"(?s)longer than the model.*402 tokens in .*long\.tsv, line 2.*at most 256"):
        prepare(tree, tmp_path / "out", Silent())
    tree["data"]["too_long"] = "cut"
    assert prepare(tree, tmp_path / "out", Silent()).task.examples["train"].lengths.max() == 256


def test_a_long_text_is_refused_or_cut(tmp_path: Path) -> None:
    run_tree(tree_of(tmp_path, updates=8), tmp_path / "out")
    classifier = regard.load(tmp_path / "out")
    with pytest.raises(LimitError, match=r"(?s)Text 2.*602 tokens.*at most 256.*--truncate"):
        classifier.classify(["a cat", "cat " * 600])
    assert len(classifier.classify(["a cat", "cat " * 600], truncate=True)) == 2
    assert classifier.classify([]) == []
    assert classifier.classify([""])[0].label in classifier.labels


def test_what_the_pooling_counts_is_shown(tmp_path: Path) -> None:
    run_tree(tree_of(tmp_path, updates=8), tmp_path / "out")
    trace = regard.load(tmp_path / "out").attention("the old cat is here")
    assert trace.axes["pooling"] == ("class", "text")
    assert trace.weights["pooling"].sum() == pytest.approx(1.0)
    run_tree(tree_of(tmp_path, "rnn, last", updates=8), tmp_path / "last")
    with pytest.raises(ConfigError, match="does not attend"):
        regard.load(tmp_path / "last").attention("the old cat is here")


def test_precision_recall_f1_and_confusion_by_hand() -> None:
    """Of 5 a's 3 are right and 2 are called b; of 7 b's 1 is called a and 2 are called c; both c's are right."""
    truth = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2]
    said = [0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    found = Classes.of(("a", "b", "c"), truth=truth, said=said)
    assert found.confusion.tolist() == [[3, 2, 0], [1, 4, 2], [0, 0, 2]]
    assert found.accuracy == pytest.approx(9 / 14)
    assert [row["label"] for row in found.table()] == ["a", "b", "c"]
    assert [row["precision"] for row in found.table()] == pytest.approx([3 / 4, 4 / 6, 2 / 4])
    assert [row["recall"] for row in found.table()] == pytest.approx([3 / 5, 4 / 7, 2 / 2])
    assert [row["f1"] for row in found.table()] == pytest.approx([6 / 9, 8 / 13, 4 / 6])
    assert [row["texts"] for row in found.table()] == [5, 7, 2]
    assert found.macro_f1 == pytest.approx((6 / 9 + 8 / 13 + 4 / 6) / 3)
    picture = found.picture()
    shares = [[3 / 5, 2 / 5, 0], [1 / 7, 4 / 7, 2 / 7], [0, 0, 1]]
    assert picture.axes["confusion"] == ("is", "said to be")
    np.testing.assert_allclose(picture.weights["confusion"][0], shares, rtol=1e-6)
    unsaid = Classes.of(("a", "b", "c"), truth=[0, 0, 1], said=[0, 1, 1])
    assert unsaid.macro_f1 == pytest.approx((2 / 3 + 2 / 3) / 2)


def test_a_classifier_that_always_says_the_same_fills_one_column_of_the_confusion(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    run = prepare(tree, tmp_path / "out", Silent())
    with torch.no_grad():
        run.model.classify.weight.zero_()
        run.model.classify.bias.copy_(torch.tensor([0.0, 0.0, 1.0]))
    counts = np.bincount(run.task.labels["val"].tolist(), minlength=3).tolist()
    column = [[0, 0, count] for count in counts]
    classifier = Classifier(run.model, run.task.tokenizers)
    figures = evaluate(classifier, run.task)["val"]
    assert figures["confusion"] == column
    assert [row["recall"] for row in figures["classes"]] == [0, 0, 1]
    assert [row["precision"] for row in figures["classes"]] == pytest.approx([0, 0, counts[2] / 40])
    said, found = classify_and_score(classifier, read_labelled(tree["data"]["val"], ONE))
    assert said == ["tool"] * 40
    assert found.confusion.tolist() == column


@pytest.mark.parametrize("architecture", ["BertModel", "BertForPreTraining", "BertForSequenceClassification"])
def test_a_bert_of_others_is_begun_with(tmp_path: Path, architecture: str) -> None:
    place = checkpoints.write(tmp_path / "theirs", checkpoints.theirs(architecture))
    tree = {key: value for key, value in tree_of(tmp_path).items() if key not in ("model", "tokenizer")}
    tree |= {"task": "classification", "init": str(place)}
    tree["data"] |= {"too_long": "cut"}
    run = prepare(tree, tmp_path / "out", Silent())
    mine, theirs = dict(run.model.named_parameters()), regard.load(place).model
    theirs = getattr(theirs, "bert", theirs)
    assert torch.equal(mine["bert.pooler.weight"], theirs.pooler.weight)
    assert torch.equal(mine["bert.words.weight"], theirs.words.weight[: len(run.task.tokenizers.tokenizer)])
    assert run.task.tokenizers.labels == ("animal", "fruit", "tool")
    run_tree({**tree, "training": {"updates": 6, "warmup": 1}}, tmp_path / "out")
    assert regard.load(tmp_path / "out").classify(["the cat"])[0].label in run.task.tokenizers.labels


def test_only_wordpiece_lowers_unasked() -> None:
    assert WordPieceConfig().lowercase
    assert not WordPieceConfig.parse({"kind": "word"}, where="tokenizer").lowercase


def test_the_wider_a_pretrained_model_is_the_smaller_its_rate(tmp_path: Path) -> None:
    def rate(width: int, **settings: Any) -> float:
        tree = {"task": "classification", "model": {"name": "bert", "width": width, "heads": 2}, "init": "some"}
        return resolve({**tree, **settings}).training.learning_rate

    assert [rate(width) for width in (384, 768)] == pytest.approx([1e-4, 2.5e-5])
    assert rate(16) == 2e-3
    assert rate(384, training={"learning_rate": 3e-4}) == 3e-4
    assert rate(384, init="") == 2e-3
