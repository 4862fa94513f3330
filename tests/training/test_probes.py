"""Where a model looked, kept at each validation."""

import os
import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regard
from regard.errors import BundleError
from regard.training import probes
from regard.training.run import train
from regard.training.start import prepare
from tests.runs import Silent, run_tiny, run_tree, tiny_tree


class Stops(Silent):
    """Asks for the end when so many updates were made; without waiting, if it is to be a crash."""

    def __init__(self, after: int, *, crash: bool = False) -> None:
        super().__init__()
        self.after, self.crash = after, crash

    def stepped(self, step: Any, seconds: float) -> None:
        super().stepped(step, seconds)
        if len(self.losses) == self.after:
            if self.crash:
                raise RuntimeError("crash")
            os.kill(os.getpid(), signal.SIGTERM)


def files(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted((out / "probes").rglob("*.npz"))}


def test_probes_are_the_attention_of_the_model_at_that_update(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out", metric="loss")
    assert probes.updates(tmp_path / "out") == [5, 10, 12]
    card = regard.bundle.read_card(tmp_path / "out")
    assert card["best_update"] == 12  # so that the model on disk is the last one
    model = regard.load(tmp_path / "out")
    traces = probes.read(tmp_path / "out")
    assert len(traces) == 4
    for trace in traces:
        again = model.attention(trace.rows["source"].text, trace.rows["prediction"].text)
        assert trace.rows == again.rows
        assert trace.axes == again.axes
        assert trace.meta == {"model": "out", "update": 12}
        for name in again.names:
            assert np.allclose(trace.weights[name], again.weights[name], atol=1e-3)
    earlier = probes.read(tmp_path / "out", 5)
    assert [trace.rows for trace in earlier] == [trace.rows for trace in traces]
    name = traces[-1].names[0]
    assert not np.allclose(earlier[-1].weights[name], traces[-1].weights[name], atol=1e-3)


@pytest.mark.parametrize("without", ["attention", "validation"])
def test_without_attention_or_validation_data_there_are_no_probes(tmp_path: Path, without: str) -> None:
    tree = tiny_tree(tmp_path)
    if without == "attention":
        tree["model"] = {"name": "rnn", "width": 12, "limit": 32}
    else:
        del tree["data"]["val"]
    run_tree(tree, tmp_path / "out")
    assert not (tmp_path / "out" / "probes").exists()
    with pytest.raises(BundleError, match="has no probe sentences"):
        probes.read(tmp_path / "out")


def test_an_update_without_probes_is_told_with_those_that_have_some(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out")
    with pytest.raises(BundleError, match=r"(?s)update 7.*5, 10, 12"):
        probes.read(tmp_path / "out", 7)


def test_probes_are_rewound_and_come_back_the_same(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    run_tiny(tmp_path, tmp_path / "whole" / "out")
    out = tmp_path / "out"
    with pytest.raises(RuntimeError):  # the last checkpoint is that of update 9, the last validation that of 10
        run_tiny(tmp_path, out, Stops(11, crash=True))
    assert probes.updates(out) == [5, 10]
    (out / "probes" / "00000010.tmp").mkdir()  # as a kill leaves it
    run = prepare(tiny_tree(tmp_path), out, Silent(), resume=True)
    run.progress = regard.training.checkpoint.Progress(updates=9)
    probes.rewind(run)
    assert [path.name for path in (out / "probes").iterdir()] == ["00000005"]
    run_tiny(tmp_path, out)
    assert files(out) == files(tmp_path / "whole" / "out")


def test_many_validations_are_thinned_out_evenly_whether_resumed_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "KEPT", 5)
    settings = {"updates": 24, "validate_every": 2}
    (tmp_path / "whole").mkdir()
    run_tiny(tmp_path, tmp_path / "whole" / "out", **settings)
    assert probes.updates(tmp_path / "whole" / "out") == [2, 10, 18, 24]
    run_tiny(tmp_path, tmp_path / "out", Stops(14), **settings)
    run_tiny(tmp_path, tmp_path / "out", **settings)
    assert files(tmp_path / "out") == files(tmp_path / "whole" / "out")


@pytest.mark.parametrize("validations", [1, 5, 99, 100, 101, 199, 200, 5000])
def test_at_most_a_hundred_validations_are_kept_and_the_first_is_among_them(validations: int) -> None:
    now = validations * 500
    kept = [update for update in range(500, now, 500) if probes._stays(update, now, 500)]
    assert len(kept) + 1 <= probes.KEPT
    assert kept[:1] in ([], [500])
    assert len({later - sooner for sooner, later in pairwise(kept)}) <= 1
    assert len(kept) + 1 >= min(validations, probes.KEPT // 2)


def test_a_new_run_in_the_same_directory_begins_without_probes(tmp_path: Path) -> None:
    run_tiny(tmp_path, tmp_path / "out", updates=20)
    train(prepare(tiny_tree(tmp_path), tmp_path / "out", Silent(), overwrite=True))
    assert probes.updates(tmp_path / "out") == [5, 10, 12]
