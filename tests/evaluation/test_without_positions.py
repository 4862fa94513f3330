"""Proof of difficulty: without positions, who chased whom cannot be told; with them, the same model learns it."""

import subprocess
import sys
from pathlib import Path

import pytest

from regard import load
from regard.evaluation.challenges import evaluate_challenges, read_challenges
from regard.tasks.translator import Search

# In processes of their own: there no type checker watches every call.
WRITE = """
import sys
from pathlib import Path
from regard.data.corpora import build
from regard.evaluation.challenges import Challenge, write_challenges
corpus = build(1, train=30_000, validation=10, test=10, contrasts=60)
deeds = [pair for pair in corpus.train if pair.family.startswith("deed") and len(pair.source_words) <= 14]
Path("train.tsv").write_text("".join(f"{pair.source}\\t{pair.target}\\n" for pair in deeds))
write_challenges(Path("challenges.jsonl"), map(Challenge.of, corpus.challenges["who-chased-whom"]))
"""
TRAIN = """
import sys
from regard.cli.main import main
sys.argv = ["regard", "train", "--train", "train.tsv", "--langs", "en-zh", "--out", sys.argv[1],
    "model.width=64", "model.hidden=128", "model.encoder_layers=2", "model.decoder_layers=2",
    "model.positions=" + sys.argv[1], "tokenizer.size=1500", "batch.tokens=1024", "training.threads=1",
    "training.updates=600", "training.warmup=100", "training.learning_rate=5e-3", "training.average=0.98"]
main()
"""


@pytest.mark.slow
def test_without_positions_who_chased_whom_is_at_chance(tmp_path: Path) -> None:
    def python(script: str, *words: str) -> None:
        subprocess.run([sys.executable, "-c", script, *words], cwd=tmp_path, check=True, capture_output=True)

    python(WRITE)
    challenges = read_challenges(tmp_path / "challenges.jsonl")
    right = {}
    for positions in ("sinusoidal", "none"):
        python(TRAIN, positions)
        figures = evaluate_challenges(load(tmp_path / positions), challenges, Search(beam=1))
        right[positions] = figures["who-chased-whom"]["key"]
    assert right["sinusoidal"] > 0.5
    assert right["none"] <= 0.25
