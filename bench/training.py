"""How fast our Transformer trains, beside others of the same sizes and the machine's matrix product.

Others: a Marian-shaped model of Hugging Face transformers in a hand-written loop, and JoeyNMT's Transformer. Float32,
uncompiled, dropout and label smoothing alike, one vocabulary, all matrices tied. "Malloc and Adam as ours" means that a
contestant gets what regard sets up for itself: a malloc that keeps freed memory, and the fused Adam. All train on our
batches, but for JoeyNMT once more on batches made by its own rule. Ours also keeps its moving average of the weights.

Useful FLOPs are those of the matrix products on real tokens: padding, look-ups, biases, norms and softmax count
nothing. One formula for all, so that the ratio of two contestants is the ratio of their times.

    .venv-bench/bin/python bench/training.py [--data DIR] [--rounds N] [--peer PYTHON] [--json FILE]
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

import numpy as np
import torch

from contest import (
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
from turns import Given

PRESET, VOCABULARY, BATCH_TOKENS = "small", 8000, 4096
OURS, TWICE = "regard", "regard, 2 processes"
MARIAN, MARIAN_PLAIN = "HF Marian, malloc and Adam as ours", "HF Marian as it comes"
JOEY, JOEY_PLAIN = "JoeyNMT, malloc and Adam as ours", "JoeyNMT as it comes, our batches"
JOEY_OWN = "JoeyNMT as it comes"


def configure(files: list[str]) -> RunConfig:
    """The run that all contestants make."""
    return resolve(
        {
            "model": {"name": "transformer", "preset": PRESET},
            "data": {"train": files, "too_long": "skip"},
            "tokenizer": {"kind": "bpe", "size": VOCABULARY, "joint": True},
            "batch": {"tokens": BATCH_TOKENS},
            "training": {"updates": 10**6, "schedule": "constant"},
        }
    )


def useful_flops(batch: Given, shape: Any, vocabulary: int) -> float:
    """Of the matrix products on real tokens, forward and backward: three times the forward, 6 for a weight and a token.

    A query is charged for the keys it may look at: T(T+1)/2 pairs in the decoder's self-attention, not T².
    """
    D, encoders, decoders = shape.width, shape.encoder_layers, shape.decoder_layers
    feed_forward = 2 * D * shape.hidden
    S, T = batch.source_lengths.astype(np.float64), (batch.target_lengths - 1).astype(np.float64)
    on_source = encoders * (4 * D * D + feed_forward) + decoders * 2 * D * D  # the latter: memory's keys and values
    on_target = decoders * (6 * D * D + feed_forward) + vocabulary * D
    pairs = encoders * S * S + decoders * (T * (T + 1) / 2 + T * S)
    return float(6 * (on_source * S + on_target * T + 2 * D * pairs).sum())


def table(rounds: Sequence[Round], names: Sequence[str], shape: Any, vocabulary: int) -> dict[str, float]:
    """A row for every contestant: medians and quartiles of the rounds; the share is that of the same round's peak."""
    print(f"\nGEMM peak, float32: {spread([each.peak / 1e9 for each in rounds])} GFLOP/s\n")
    columns = f"{'useful GFLOP/s':>22}{'% of GEMM peak':>20}{'target tokens/s':>22}{'cores had':>11}{'last loss':>11}"
    print(f"{'median [quartiles]':<36}{columns}")
    found = {}
    for name in names:
        flops = [sum(useful_flops(batch, shape, vocabulary) for batch in each.batches[name]) for each in rounds]
        rates = [work / each.turns[name].seconds for work, each in zip(flops, rounds, strict=True)]
        shares = [100 * rate / each.peak for rate, each in zip(rates, rounds, strict=True)]
        speeds = spread([each.speed(name) for each in rounds], ".0f")
        row = f"{spread([rate / 1e9 for rate in rates]):>22}{spread(shares):>20}{speeds:>22}"
        print(f"{name:<36}{row}{cores_had(rounds, name):>11.2f}{rounds[-1].turns[name].loss:>11.2f}")
        found[name] = median(shares)
    return found


def verdict(rounds: Sequence[Round], names: Sequence[str]) -> dict[str, float]:
    """How many times faster ours is, compared round by round."""
    print()
    ratios = {name: faster(rounds, OURS, name) for name in names if name != OURS}
    for name, values in ratios.items():
        print(f"ours / {name}: {spread(values, '.2f')} (median of {len(rounds)} rounds)")
    return {name: median(values) for name, values in ratios.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=MULTI30K, help="directory with train.en.gz and train.de.gz")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--peer", type=Path, default=JOEYNMT, help="a Python that has JoeyNMT")
    parser.add_argument("--json", type=Path, help="also write every round's figures here")
    options = parser.parse_args()
    contestants = (
        Contestant(OURS, "ours.py"),
        Contestant(TWICE, "ours.py", processes=2),
        Contestant(MARIAN, "marian.py"),
        Contestant(MARIAN_PLAIN, "marian.py", favours=False),
        Contestant(JOEY, "joey.py", options.peer),
        Contestant(JOEY_PLAIN, "joey.py", options.peer, favours=False),
        Contestant(JOEY_OWN, "joey.py", options.peer, favours=False, by_length=False),
    )
    names = [who.name for who in contestants]
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as scratch:
        files, about = texts(options.data, Path(scratch))
        config = configure(files)
        task = task_of(config)
    told = setup(config, task, torch.get_num_threads())
    with started(contestants, told) as links:
        facts = {name: link.recv() for name, link in links.items()}
        introduce(facts, told, about, load)
        sizes = [fact.parameters for fact in facts.values()]
        if max(sizes) > 1.02 * min(sizes):
            raise SystemExit("The models are not of equal size.")
        mixed = {who.name for who in contestants if not who.by_length}
        rounds = list(race(links, task, max(1, options.rounds), mixed=mixed))
    shares = table(rounds, names, config.model, told.target_vocabulary)
    ratios = verdict(rounds, names)
    if options.json:
        models = {name: asdict(fact) for name, fact in facts.items()}
        turns = [{name: asdict(turn) for name, turn in each.turns.items()} for each in rounds]
        about_run = {"data": about, "threads": told.threads, "load": load, "models": models}
        figures = {"share_of_peak": shares, "ours_over": ratios, "peaks": [each.peak for each in rounds]}
        options.json.write_text(json.dumps({**about_run, **figures, "rounds": turns}, indent=2) + "\n")


if __name__ == "__main__":
    main()
