"""Proof of difficulty: without positions, who chased whom cannot be told; with them, the same model learns it."""

from pathlib import Path

import pytest

from regard import load
from regard.data.corpora import build
from regard.evaluation.challenges import Challenge, evaluate_challenges
from regard.tasks.translator import Search
from tests.commands import Run
from tests.unchecked import unchecked

SIZES = [
    "model.width=64", "model.hidden=128", "model.encoder_layers=2", "model.decoder_layers=2", "tokenizer.size=1500",
    "batch.tokens=1024", "training.threads=1", "training.updates=600", "training.warmup=100",
    "training.learning_rate=5e-3", "training.average=0.98",
]  # fmt: skip


@pytest.mark.slow
def test_without_positions_who_chased_whom_is_at_chance(tmp_path: Path, run: Run) -> None:
    corpus = build(1, train=30_000, validation=10, test=10, contrasts=60)
    deeds = [pair for pair in corpus.train if pair.family.startswith("deed") and len(pair.source_words) <= 14]
    file = tmp_path / "train.tsv"
    file.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in deeds))
    challenges = [Challenge.of(contrast) for contrast in corpus.challenges["who-chased-whom"]]
    right = {}
    for positions in ("sinusoidal", "none"):
        out = tmp_path / positions
        with unchecked():
            code, _, err = run(
                "train", "--train", file, "--langs", "en-zh", "--out", out, f"model.positions={positions}", *SIZES
            )
        assert code == 0, err
        figures = evaluate_challenges(load(out), challenges, Search(beam=1))
        right[positions] = figures["who-chased-whom"]["key"]
    assert right["sinusoidal"] > 0.5
    assert right["none"] <= 0.25
