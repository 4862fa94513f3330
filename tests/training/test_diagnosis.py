"""Each fault is made to happen in a real training and is then named; a training that goes well is left in peace."""

import json
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.errors import LimitError
from regard.training import checkpoint
from regard.training.diagnosis import diagnose
from regard.training.divergence import sound
from regard.training.run import train
from regard.training.start import prepare
from tests.runs import LETTERS, Silent, run_tree, tiny_tree
from tests.unchecked import unchecked

Words = list[str]
Rows = list[tuple[Words, Words]]
SMALL = {
    "bahdanau": {"name": "bahdanau", "width": 24, "dropout": 0.1, "limit": 32},
    "luong": {"name": "luong", "width": 32, "limit": 32},
    "rnn": {"name": "rnn", "width": 48, "dropout": 0.1, "limit": 32},
}


@pytest.fixture(autouse=True)
def hundreds_of_updates() -> Iterator[None]:
    with unchecked():
        yield


def sentences(count: int, seed: int) -> Iterator[Words]:
    draw = random.Random(seed)
    return ([draw.choice(LETTERS) for _ in range(draw.randint(1, 6))] for _ in range(count))


def reversals(count: int, seed: int) -> Rows:
    return [(words, words[::-1]) for words in sentences(count, seed)]


def tree_of(directory: Path, learned: Rows, asked: Rows, model: str = "bahdanau", **training: Any) -> dict[str, Any]:
    """A run that learns some rows and is asked others."""
    settings = {"updates": 120, "warmup": 12, "validate_every": 12, "save_every": 1000, "learning_rate": 1e-2}
    tree = {**tiny_tree(directory, **{**settings, "log_every": 2, **training})}
    for split, rows in (("train", learned), ("val", asked)):
        path = directory / f"{split}.tsv"
        path.write_text("".join(f"{' '.join(source)}\t{' '.join(target)}\n" for source, target in rows))
        tree["data"][split] = [str(path)]
    return {**tree, "model": SMALL.get(model, tree["model"])}


def diagnosed(out: Path) -> dict[str, str]:
    """What was recorded as wrong, and by which evidence."""
    return {record["what"]: record["evidence"] for record in records(out) if record["kind"] == "diagnosis"}


def records(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("model", "updates", "rate"),
    [("bahdanau", 200, 1e-2), ("luong", 200, 1e-2), ("rnn", 300, 1e-2), ("transformer", 400, 5e-3)],
)
def test_nothing_is_wrong_with_a_model_that_learns(tmp_path: Path, model: str, updates: int, rate: float) -> None:
    settings = {"updates": updates, "warmup": updates // 10, "validate_every": updates // 10, "learning_rate": rate}
    tree = tree_of(tmp_path, reversals(2000, 0), reversals(60, 1), model, **settings)
    outcome = run_tree(tree, tmp_path / "out")
    assert records(tmp_path / "out")[-1]["bleu"] > 30
    assert outcome.card["diagnoses"] == []
    assert diagnosed(tmp_path / "out") == {}


def test_a_loss_that_explodes_ends_the_training_and_leaves_the_last_good_checkpoint(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, reversals(500, 0), reversals(20, 1), "rnn", learning_rate=1.0, save_every=1)
    with pytest.raises(LimitError, match=r"mean of the last 20 losses is .*it began with .*diverged") as caught:
        run_tree(tree, tmp_path / "out")
    assert "lower training.learning_rate" in str(caught.value)
    last = records(tmp_path / "out")[-1]
    assert (last["kind"], last["what"]) == ("diagnosis", "training has diverged")
    note = json.loads(checkpoint.read(tmp_path / "out")[1])
    note.pop("scaler")
    assert sound(checkpoint.Progress(**note))
    assert note["updates"] < last["update"]


def test_a_loss_that_is_no_number_is_recorded(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, reversals(500, 0), reversals(20, 1), learning_rate=1e30, clip=0, average=0)
    with pytest.raises(LimitError, match="no longer a number"):
        run_tree(tree, tmp_path / "out")
    assert list(diagnosed(tmp_path / "out")) == ["training has diverged"]


@pytest.mark.parametrize("model", ["transformer", "bahdanau"])
@pytest.mark.parametrize("rate", [1e-5, 1e-7])
def test_a_learning_rate_that_is_too_low(tmp_path: Path, model: str, rate: float) -> None:
    tree = tree_of(tmp_path, reversals(500, 0), reversals(20, 1), model, learning_rate=rate, updates=60, warmup=6)
    run_tree(tree, tmp_path / "out")
    assert list(diagnosed(tmp_path / "out")) == ["learning rate too low"]


@pytest.mark.parametrize(("model", "rate"), [("transformer", 0.5), ("rnn", 0.2)])
def test_a_learning_rate_that_is_too_high(tmp_path: Path, model: str, rate: float) -> None:
    tree = tree_of(tmp_path, reversals(500, 0), reversals(20, 1), model, learning_rate=rate, schedule="constant")
    run_tree(tree, tmp_path / "out")
    assert next(iter(diagnosed(tmp_path / "out"))) == "learning rate too high"


def test_overfitting(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, reversals(20, 0), reversals(60, 1))
    tree["model"] = {**tree["model"], "dropout": 0.0}
    run_tree(tree, tmp_path / "out")
    assert "the training loss fell" in diagnosed(tmp_path / "out")["overfitting"]


def test_outputs_that_copy_the_source(tmp_path: Path) -> None:
    run_tree(tree_of(tmp_path, [(words, words) for words in sentences(2000, 0)], reversals(60, 1)), tmp_path / "out")
    assert "output copies the source" in diagnosed(tmp_path / "out")


def test_outputs_that_loop(tmp_path: Path) -> None:
    learned = [(words, words[:1] * 8) for words in sentences(1000, 0)]
    run_tree(tree_of(tmp_path, learned, reversals(60, 1)), tmp_path / "out")
    assert "output loops" in diagnosed(tmp_path / "out")


def test_one_output_for_all(tmp_path: Path) -> None:
    learned = [(words, ["a", "b", "c"]) for words in sentences(1000, 0)]
    run_tree(tree_of(tmp_path, learned, reversals(60, 1)), tmp_path / "out")
    assert "output is constant" in diagnosed(tmp_path / "out")


def climbs(count: int, seed: int) -> Rows:
    """Targets that can be foretold from their own beginning: b c d, or g h."""
    return [(words, list(LETTERS[LETTERS.index(words[0]) :])) for words in sentences(count, seed)]


def test_a_source_that_is_ignored_because_it_belongs_to_another_target(tmp_path: Path) -> None:
    sources, targets = (list(side) for side in zip(*climbs(1000, 0), strict=True))
    random.Random(1).shuffle(sources)
    run_tree(tree_of(tmp_path, list(zip(sources, targets, strict=True)), climbs(60, 1)), tmp_path / "out")
    assert "source ignored" in diagnosed(tmp_path / "out")


def test_attention_that_is_the_same_everywhere(tmp_path: Path) -> None:
    run = prepare(tree_of(tmp_path, reversals(1000, 0), reversals(60, 1)), tmp_path / "out", Silent())
    for name, parameter in run.model.named_parameters():
        if "align.score" in name:  # all scores are zero, and stay so
            torch.nn.init.zeros_(parameter.requires_grad_(False))
    train(run)
    assert "entropy 1.000" in diagnosed(tmp_path / "out")["attention diffuse"]


@pytest.mark.parametrize(("learned", "asked"), [(1, 2), (2, 1)])
def test_outputs_that_are_too_short_or_too_long(tmp_path: Path, learned: int, asked: int) -> None:
    cut = (
        [(words, words[: (len(words) + part - 1) // part]) for words in sentences(1000, part)]
        for part in (learned, asked)
    )
    run_tree(tree_of(tmp_path, *cut), tmp_path / "out")
    assert "length ratio off" in diagnosed(tmp_path / "out")


class StopsWhenTold(Silent):
    def said(self, text: str) -> None:
        super().said(text)
        if text.startswith("learning rate"):
            os.kill(os.getpid(), signal.SIGTERM)


def test_each_problem_is_told_once_also_after_a_resume_and_stands_in_the_card(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, reversals(200, 0), reversals(20, 1), learning_rate=1e-7, updates=60, warmup=6)
    watchers = StopsWhenTold(), StopsWhenTold()
    assert not run_tree(tree, tmp_path / "out", watchers[0]).finished
    outcome = run_tree(tree, tmp_path / "out", watchers[1])
    assert outcome.finished
    told = [[text for text in watcher.words if text.startswith("learning rate")] for watcher in watchers]
    assert [len(texts) for texts in told] == [1, 0]
    assert "do this: raise training.learning_rate, 1e-07 so far" in told[0][0]
    assert [found["what"] for found in outcome.card["diagnoses"]] == ["learning rate too low"]
    assert [record["update"] for record in records(tmp_path / "out") if record["kind"] == "start"] == [0]


def test_the_unigram_entropy_is_that_of_the_target_tokens(tmp_path: Path) -> None:
    rows = reversals(300, 0)
    run = prepare(tree_of(tmp_path, rows, reversals(20, 1)), tmp_path / "out", Silent())
    counts = Counter(token for _, target in rows for token in [*target, "end"])
    shares = [count / counts.total() for count in counts.values()]
    assert run.task.unigram_entropy() == pytest.approx(-sum(share * log(share) for share in shares), rel=0.02)


def course(trained: list[float], validated: list[float]) -> list[dict[str, Any]]:
    """The records of a run with a validation at every hundredth update."""
    made: list[dict[str, Any]] = [{"kind": "start", "update": 0, "unigram_entropy": 5.0}]
    for number, (ours, theirs) in enumerate(zip(trained, validated, strict=True), start=1):
        made += [
            {"kind": "train", "update": 100 * number - 90 + part, "loss": ours + part / 1000, "learning_rate": 1e-3}
            for part in range(0, 100, 10)
        ]
        made.append({"kind": "validation", "update": 100 * number, "loss": float(theirs)})
    return made


@pytest.mark.parametrize(
    ("trained", "validated", "found"),
    [
        ([3, 2, 1.5, 1.2], [2.5, 2, 2.1, 2.2], ["overfitting"]),
        ([3, 2, 2.5, 3], [2.5, 2, 2.5, 2.9], ["learning rate too high"]),
        ([3, 2, 1.5, 1.2], [2.5, 2, 2.1, 2.0], []),  # above the best only once
        ([3, 2, 2, 2], [0.05, 0.04, 0.042, 0.043], []),  # next to nothing
        ([9, 8, 7, 6], [9, 8, 7, 6], []),  # slow, but it will get there
        ([9, 8.9, 8.8, 8.7], [9, 8.9, 8.8, 8.7], ["learning rate too low"]),
        ([5.3, 5.2, 5.2, 5.2], [5.2, 5.1, 5.12, 5.11], ["learning rate too high"]),
        ([9, 7, 7, 7], [5.4, 5.3, 5.25, 5.24], ["learning rate too high"]),  # the average alone looks calm
    ],
)
def test_the_course_of_the_losses_is_told_apart(trained: list[float], validated: list[float], found: list[str]) -> None:
    made = course(trained, validated)
    assert [diagnosis.what for diagnosis in diagnose(made, updates=1000, warmup=50)] == found
    assert diagnose(made, updates=2000, warmup=50) == []  # not yet a quarter
    assert diagnose(made, updates=1000, warmup=500) == []


def test_records_of_older_runs_without_symptoms_and_entropy_can_be_read() -> None:
    made = course([3, 2, 1.5, 1.2], [2.5, 2, 2.1, 2.2])[1:]
    assert [diagnosis.what for diagnosis in diagnose(made, updates=1000, warmup=50)] == ["overfitting"]
