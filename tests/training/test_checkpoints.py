"""What is kept of a run, when it ends early, and how it goes on."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.errors import ConfigError
from regard.training import checkpoint
from regard.training.run import train
from regard.training.start import prepare
from regard.training.stopping import StopRequest
from regard.weights import read_tensors
from tests.runs import Silent, run_tiny, tiny_tree


class Stops(Silent):
    """Asks for the end after so many validations."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after

    def validated(self, update: int, metrics: dict[str, Any], *, best: bool) -> None:
        super().validated(update, metrics, best=best)
        if len(self.validations) == self.after:
            os.kill(os.getpid(), signal.SIGTERM)


def test_the_last_checkpoints_are_kept_and_no_more(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out", keep=2)
    assert [path.stem for path in checkpoint.kept_files(tmp_path / "out")] == ["00000009", "00000012"]
    last = (tmp_path / "out" / checkpoint.FILE).read_bytes()
    assert checkpoint.kept_files(tmp_path / "out")[-1].read_bytes() == last
    run_tiny(tmp_path, tmp_path / "one")
    assert not (tmp_path / "one" / checkpoint.KEPT).exists()


def test_the_mean_of_checkpoints_is_their_mean(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out", keep=3)
    files = checkpoint.kept_files(tmp_path / "out")
    mean = checkpoint.mean_weights(files)
    for name, tensor in mean.items():
        each = torch.stack([read_tensors(path)[0][f"model.{name}"] for path in files])
        assert torch.allclose(tensor, each.mean(0), atol=1e-7)


def test_the_mean_of_the_last_checkpoints_is_tried_and_taken_if_it_is_better(tmp_path: Path) -> None:
    watcher = Silent()
    outcome = run_tiny(tmp_path, tmp_path / "out", watcher, keep=4, average_last=4, metric="loss", average=0)
    assert any(words.startswith("mean of 4 checkpoints: BLEU") for words in watcher.words)
    taken = outcome.card.get("mean_of_checkpoints", 0)
    weights = read_tensors(tmp_path / "out" / "model.safetensors")[0]
    mean = checkpoint.mean_weights(checkpoint.kept_files(tmp_path / "out"))
    assert (taken == 4) == all(torch.equal(weights[name], mean[name]) for name in mean)
    with pytest.raises(ConfigError, match="needs as many checkpoints"):
        run_tiny(tmp_path, tmp_path / "other", average_last=3)


def test_training_ends_when_nothing_gets_better_any_more(tmp_path: Path) -> None:
    watcher = Silent()
    slow = {"updates": 40, "validate_every": 2, "patience": 3, "learning_rate": 1e-9, "metric": "bleu"}
    outcome = run_tiny(tmp_path, tmp_path / "out", watcher, **slow)
    assert outcome.finished
    assert outcome.updates == 8  # the first validation was the best, the next three were not better
    assert outcome.card["best_update"] == 2
    assert "3 validations without a better one" in watcher.words[-2]
    again = run_tiny(tmp_path, tmp_path / "out", **slow)
    assert again.updates == 8


def test_patience_is_counted_across_a_resume(tmp_path: Path) -> None:
    slow = {"updates": 40, "validate_every": 2, "patience": 4, "learning_rate": 1e-9}
    run_tiny(tmp_path, tmp_path / "whole", **slow)
    assert not run_tiny(tmp_path, tmp_path / "broken", Stops(after=3), **slow).finished
    run_tiny(tmp_path, tmp_path / "broken", **slow)
    for name in ("model.safetensors", "config.json"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "broken" / name).read_bytes()
    assert run_tiny(tmp_path, tmp_path / "broken", **slow).updates == 10


def test_the_best_model_can_be_chosen_by_any_figure(tmp_path: Path) -> None:
    watcher = Silent()
    run_tiny(tmp_path, tmp_path / "out", watcher, metric="loss", learning_rate=3e-3, updates=20, warmup=4)
    losses = [figures["loss"] for figures in watcher.validations]
    note = checkpoint.read(tmp_path / "out")[1]
    assert f'"best_score": {min(losses)}' in note
    with pytest.raises(ConfigError, match="no figure blue") as caught:
        run_tiny(tmp_path, tmp_path / "other", metric="blue")
    assert "chrf" in str(caught.value)


def test_a_run_can_be_made_longer_unless_its_learning_rate_has_ended(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "long", schedule="constant", updates=20)
    run_tiny(tmp_path, tmp_path / "out", schedule="constant", updates=12)
    longer = run_tiny(tmp_path, tmp_path / "out", schedule="constant", updates=20)
    assert longer.updates == 20
    one, other = (checkpoint.read(tmp_path / name)[0] for name in ("long", "out"))
    assert all(torch.equal(one[name], other[name]) for name in one)
    with pytest.raises(ConfigError, match="updates=12, not 6"):
        run_tiny(tmp_path, tmp_path / "out", schedule="constant", updates=6)
    run_tiny(tmp_path, tmp_path / "linear")
    with pytest.raises(ConfigError, match="cannot be made longer") as caught:
        run_tiny(tmp_path, tmp_path / "linear", updates=20)
    assert "--init" in str(caught.value)


def test_what_is_kept_goes_when_a_new_run_begins(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out", keep=2)
    train(prepare(tiny_tree(tmp_path), tmp_path / "out", Silent(), overwrite=True))
    assert not (tmp_path / "out" / checkpoint.KEPT).exists()


def test_two_signals_at_once_are_one_and_a_later_one_does_not_wait() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        with StopRequest() as stop:
            for _ in range(2):
                signal.raise_signal(signal.SIGINT)
            assert stop.requested == "SIGINT"
            time.sleep(0.6)
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
