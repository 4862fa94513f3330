"""How fast our Bahdanau model trains, beside JoeyNMT's recurrent model with additive attention, at equal sizes.

Float32, no dropout, no label smoothing, separate vocabularies. Both: embeddings of width E, a bidirectional GRU encoder
of width D each way, an additive score of width D, a GRU decoder of width D, an output matrix. They differ as their
authors meant: ours looks, then updates, gives the whole context (2D) to the update, and ends in a maxout layer; JoeyNMT
updates, then looks, feeds back a tanh layer of width D over state and context, and predicts from it. Ours also keeps
its moving average of the weights.

    .venv-bench/bin/python bench/recurrent.py [--data DIR] [--rounds N] [--peer PYTHON] [--json FILE]
"""

import argparse
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import torch

from contest import (
    BATCHES,
    JOEYNMT,
    MULTI30K,
    Contestant,
    Round,
    cores_had,
    faster,
    introduce,
    race,
    setup,
    started,
    task_of,
    texts,
)  # fmt: skip
from racing import spread
from regard.training.settings import RunConfig, resolve

WIDTH, VOCABULARY, BATCH_TOKENS = 256, 8000, 4096
OURS, PEER, PLAIN = "regard", "JoeyNMT, malloc and Adam as ours", "JoeyNMT as it comes"


def configure(files: list[str]) -> RunConfig:
    """The run that all contestants make: from the second language into the first."""
    return resolve(
        {
            "model": {"name": "bahdanau", "width": WIDTH, "embedding": WIDTH, "dropout": 0.0, "tie": "none"},
            "data": {"train": files[::-1], "too_long": "skip"},
            "tokenizer": {"kind": "bpe", "size": VOCABULARY, "joint": False},
            "batch": {"tokens": BATCH_TOKENS},
            "loss": {"label_smoothing": 0.0},
            "training": {"updates": 10**6, "schedule": "constant", "learning_rate": 1e-3, "warmup": 1},
        }
    )


def table(rounds: Sequence[Round]) -> None:
    """A row for every contestant: medians and quartiles of the rounds."""
    print(f"\n{'median [quartiles]':<34}{'target tokens/s':>22}{'ms an update':>20}{'cores had':>11}{'last loss':>11}")
    for name in (OURS, PEER, PLAIN):
        speeds = spread([each.speed(name) for each in rounds], ".0f")
        times = spread([1000 * each.turns[name].seconds / BATCHES for each in rounds], ".0f")
        last = rounds[-1].turns[name].loss
        print(f"{name:<34}{speeds:>22}{times:>20}{cores_had(rounds, name):>11.2f}{last:>11.2f}")


def verdict(rounds: Sequence[Round]) -> dict[str, Any]:
    """How many times faster ours is, compared round by round, and where our time goes."""
    ours = [each.turns[OURS] for each in rounds]
    shares = {part: [100 * turn.parts[part] / turn.seconds for turn in ours] for part in ours[0].parts}
    ratios = {name: faster(rounds, OURS, name) for name in (PEER, PLAIN)}
    print()
    for part, percents in shares.items():
        print(f"share of our time in the {part}, forward and backward: {spread(percents)} %")
    for name, values in ratios.items():
        print(f"ours / {name}: {spread(values, '.2f')} (median of {len(rounds)} rounds)")
    return {
        "ours_over": {name: median(values) for name, values in ratios.items()},
        "shares": {part: median(percents) for part, percents in shares.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=MULTI30K, help="directory with train.en.gz and train.de.gz")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--peer", type=Path, default=JOEYNMT, help="a Python that has JoeyNMT")
    parser.add_argument("--json", type=Path, help="also write every round's figures here")
    options = parser.parse_args()
    contestants = (
        Contestant(OURS, "ours.py"),
        Contestant(PEER, "joey.py", options.peer),
        Contestant(PLAIN, "joey.py", options.peer, favours=False),
    )
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as scratch:
        files, about = texts(options.data, Path(scratch))
        config = configure(files)
        task = task_of(config)
    told = setup(config, task, torch.get_num_threads())
    with started(contestants, told) as links:
        facts = {name: link.recv() for name, link in links.items()}
        introduce(facts, told, about, load)
        if not 0.98 < facts[OURS].parameters / facts[PEER].parameters < 1.15:
            raise SystemExit("The models are not of equal size.")
        rounds = list(race(links, task, max(1, options.rounds)))
    table(rounds)
    figures = verdict(rounds)
    if options.json:
        models = {name: asdict(fact) for name, fact in facts.items()}
        turns = [{name: asdict(turn) for name, turn in each.turns.items()} for each in rounds]
        run = {"data": about, "threads": told.threads, "load": load, "models": models, **figures, "rounds": turns}
        options.json.write_text(json.dumps(run, indent=2) + "\n")


if __name__ == "__main__":
    main()
