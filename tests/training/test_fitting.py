"""The largest batch that fits."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from regard.errors import ConfigError, LimitError
from regard.training import fitting
from regard.training.start import prepare
from tests.runs import Silent, run_tree, tiny_tree


def test_memory_grows_in_a_line_and_the_rest_is_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "_bytes", lambda tree, tokens, threads: 1e9 + 1e5 * tokens)
    said: list[str] = []
    tokens = fitting.fitting_tokens({}, 2e9, 1, said.append)
    assert tokens == int(0.6e9 / 1e5) // fitting.STEP * fitting.STEP
    assert said == [f"batches of {tokens:,} tokens: 100 kB a token, 2.0 GB of memory"]
    assert fitting.fitting_tokens({}, 1e12, 1, said.append) == fitting.MOST
    with pytest.raises(LimitError, match="Not even a small batch"):
        fitting.fitting_tokens({}, 1.2e9, 1, said.append)


def test_a_batch_that_fits_does_fit(tmp_path: Path) -> None:
    tree: dict[str, Any] = tiny_tree(tmp_path, updates=2, warmup=1, memory=3.0)
    tree["batch"] = {"tokens": "auto"}
    watcher = Silent()
    run_tree(tree, tmp_path / "out", watcher)
    saved = json.loads((tmp_path / "out" / "config.json").read_text())
    assert fitting.STEP <= saved["batch"]["tokens"] <= fitting.MOST
    assert any(words.startswith("batches of") for words in watcher.words)
    again = prepare(tree, tmp_path / "out", Silent(), resume=True)  # "auto" is no other setting than before
    assert again.config.tree()["batch"] == saved["batch"]


def test_the_memory_of_a_process_is_not_that_of_the_one_that_started_it() -> None:
    large = bytearray(600_000_000)
    large[::4096] = b"x" * len(large[::4096])
    asked = "from regard.training.speed import peak; print(peak('cpu'))"
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert 1e7 < int(told.stdout) < len(large)


def test_memory_of_this_machine() -> None:
    assert 1e8 < fitting.available("cpu") < 1e14


def test_auto_is_refused_where_nothing_is_measured(tmp_path: Path) -> None:
    from regard.data.batches import BatchConfig

    with pytest.raises(ConfigError, match="give a number"):
        _ = BatchConfig(tokens="auto").budget
