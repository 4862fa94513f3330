"""Tiny training runs for the tests: real files, real settings, seconds of work."""

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from regard.training.run import Outcome, train
from regard.training.start import prepare

LETTERS = "abcdefgh"
T = TypeVar("T")


class Silent:
    """Watches and says nothing, but remembers."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.validations: list[dict[str, Any]] = []
        self.words: list[str] = []

    def started(self, facts: dict[str, Any]) -> None: ...

    def stepped(self, step: Any, seconds: float) -> None:
        self.losses.append(sum(step.losses.values()))

    def validated(self, update: int, metrics: dict[str, Any], *, best: bool) -> None:
        self.validations.append(metrics)

    def said(self, text: str) -> None:
        self.words.append(text)

    def counted(self, items: Iterable[T], *, total: int, what: str) -> Iterator[T]:
        return iter(items)


def write_reversals(path: Path, count: int, seed: int = 0, longest: int = 6) -> Path:
    """Pairs of letters and the same letters backwards."""
    draw = random.Random(seed)
    rows = ([draw.choice(LETTERS) for _ in range(draw.randint(1, longest))] for _ in range(count))
    path.write_text("".join(f"{' '.join(row)}\t{' '.join(reversed(row))}\n" for row in rows), encoding="utf-8")
    return path


def tiny_tree(directory: Path, **training: Any) -> dict[str, Any]:
    """Settings of a run that takes a second or two."""
    return {
        "model": {
            "preset": "tiny", "width": 16, "heads": 2, "hidden": 24,
            "encoder_layers": 1, "decoder_layers": 2, "limit": 32,
        },
        "tokenizer": {"kind": "word", "size": 50},
        "batch": {"tokens": 200},
        "data": {
            "train": [str(write_reversals(directory / "train.tsv", 200))],
            "val": [str(write_reversals(directory / "val.tsv", 20, seed=1))],
            "langs": ["xx", "yy"],
        },
        "habits": {"limit": 12},  # what has learned little hardly ever ends
        "training": {
            "updates": 12, "warmup": 4, "validate_every": 5, "save_every": 3, "log_every": 1, "threads": 1, **training,
        },
    }  # fmt: skip


def run_tiny(directory: Path, out: Path, watcher: Silent | None = None, **training: Any) -> Outcome:
    """Trains (or resumes) such a run in `out`."""
    return run_tree(tiny_tree(directory, **training), out, watcher)


def run_tree(tree: dict[str, Any], out: Path, watcher: Silent | None = None) -> Outcome:
    """Trains in `out`, or goes on there if there is something: what `regard train --resume` does."""
    return train(prepare(tree, out, watcher or Silent(), resume=out.exists()))
