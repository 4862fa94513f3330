"""How fast training is, beside a Marian-shaped model of Hugging Face transformers and the machine's matrix product.

Every contestant is a process of its own, so that the malloc setting of one does not reach another. They take turns: a
few full updates each (batch, forward, backward, clip, optimiser), in a round all on the same batches, another one going
first from round to round; the matrix product is measured in every round too. All run regard.training.loop.steps with
regard's AdamW, in float32, uncompiled; only model and loss differ. Ours also keeps its moving average of the weights.

Useful FLOPs are those of the matrix products on real tokens (contestants.useful_flops): padding, look-ups, biases,
norms and softmax count nothing. One formula for all, so that the ratio of two contestants is the ratio of their times.

    .venv-bench/bin/python bench/training.py [--data DIR] [--rounds N] [--json FILE]
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median, quantiles

import torch

from contestants import SMOOTHING, Contestant, Facts, Turn, compete
from regard.data.corpora import build
from regard.training.settings import RunConfig, resolve

MULTI30K = Path(__file__).resolve().parents[2] / "shared" / "data" / "multi30k"
PRESET, VOCABULARY, BATCH_TOKENS = "small", 8000, 4096
WARM_UP, BATCHES = 3, 2  # updates before the first round, and in every turn
GEMM_SIZES, GEMM_REPEATS = (1024, 1536, 2048), 3
OURS, PEER, PLAIN = "regard", "HF Marian", "HF Marian, malloc as usual"
CONTESTANTS = (
    Contestant(OURS, ours=True, keeps_memory=True),
    Contestant(PEER, ours=False, keeps_memory=True),
    Contestant(PLAIN, ours=False, keeps_memory=False),
)


@dataclass(frozen=True)
class Round:
    """One round: FLOP/s of the matrix product, and everybody's turn."""

    peak: float
    turns: dict[str, Turn]


def settings(data: Path, scratch: Path) -> tuple[RunConfig, str]:
    """The run that all contestants make, and what its text is."""
    files, about = [data / "train.en.gz", data / "train.de.gz"], f"Multi30k en-de in {data}"
    if not all(file.exists() for file in files):
        about = f"the built-in corpus (no Multi30k in {data})"
        files = [scratch / "train.en", scratch / "train.zh"]
        pairs = build().train
        files[0].write_text("".join(f"{pair.source}\n" for pair in pairs), encoding="utf-8")
        files[1].write_text("".join(f"{pair.target}\n" for pair in pairs), encoding="utf-8")
    tree = {
        "model": {"name": "transformer", "preset": PRESET},
        "data": {"train": [str(file) for file in files], "too_long": "skip"},
        "tokenizer": {"kind": "bpe", "size": VOCABULARY, "joint": True},
        "batch": {"tokens": BATCH_TOKENS},
        "loss": {"label_smoothing": SMOOTHING},
        "training": {"updates": 10**6, "schedule": "constant"},
    }
    return resolve(tree), about


@contextmanager
def started(config: RunConfig, threads: int) -> Iterator[dict[str, Connection]]:
    """The contestants' processes, each at the other end of its link."""
    context, links, processes = get_context("spawn"), {}, []
    for who in CONTESTANTS:
        links[who.name], theirs = context.Pipe()
        process = context.Process(target=compete, args=(who, config, threads, theirs), daemon=True)
        process.start()
        theirs.close()  # so that a contestant's death is heard as EOFError
        processes.append(process)
    yield links
    for link, process in zip(links.values(), processes, strict=True):
        link.send(0)
        process.join()


def gemm_rate() -> float:
    """FLOP/s of a float32 matrix product: the best size, the best repetition."""
    rates = []
    for size in GEMM_SIZES:
        a, b, c = torch.rand(size, size), torch.rand(size, size), torch.empty(size, size)
        torch.mm(a, b, out=c)
        for _ in range(GEMM_REPEATS):
            began = time.perf_counter()
            torch.mm(a, b, out=c)
            rates.append(2 * size**3 / (time.perf_counter() - began))
    return max(rates)


def race(links: dict[str, Connection], rounds: int) -> Iterator[Round]:
    """One works at a time. The round before the first only warms up."""
    names = list(links)
    for number in range(-1, rounds):
        turns: dict[str, Turn] = {}
        first = number % len(names)
        for name in names[first:] + names[:first]:
            links[name].send(WARM_UP if number < 0 else BATCHES)
            turns[name] = links[name].recv()
        if len({(turn.batches, turn.flops) for turn in turns.values()}) > 1:
            raise SystemExit("The contestants did not see the same batches.")
        if number >= 0:
            yield Round(gemm_rate(), turns)


def spread(values: list[float], form: str = ".1f") -> str:
    """Median and quartiles."""
    low, _, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return f"{median(values):{form}} [{low:{form}}–{high:{form}}]"


def introduce(facts: dict[str, Facts], about: str, threads: int, load: float) -> None:
    """What is compared, and whether it is comparable."""
    ours, peer = facts[OURS], facts[PEER]
    versions = ", ".join(f"{name} {version(name)}" for name in ("regard", "torch", "transformers"))
    print(f"{versions}; {threads} threads; load before the start {load:.1f} on {os.cpu_count()} cores")
    print(f"Data: {about}; {ours.pairs:,} pairs, vocabulary {ours.vocabulary:,}, batches of {BATCH_TOKENS:,} tokens")
    print(f"Parameters, embedding included: {OURS} {ours.parameters:,}, {PEER} {peer.parameters:,}")
    if abs(ours.parameters / peer.parameters - 1) > 0.01:
        raise SystemExit("The models are not of equal size.")


def table(rounds: list[Round]) -> None:
    """A row for every contestant: medians and quartiles of the rounds; the share is that of the same round's peak."""
    print(f"\nGEMM peak, float32: {spread([each.peak / 1e9 for each in rounds])} GFLOP/s\n")
    columns = f"{'useful GFLOP/s':>20}{'% of GEMM peak':>20}{'target tokens/s':>20}{'cores had':>11}{'last loss':>11}"
    print(f"{'median [quartiles]':<28}{columns}")
    for who in CONTESTANTS:
        turns = [each.turns[who.name] for each in rounds]
        rates = spread([turn.flops / turn.seconds / 1e9 for turn in turns])
        shares = [100 * each.turns[who.name].flops / each.turns[who.name].seconds / each.peak for each in rounds]
        speeds = spread([turn.tokens / turn.seconds for turn in turns], ".0f")
        cores = median(turn.cpu_seconds / turn.seconds for turn in turns)  # below the threads: others had the rest
        print(f"{who.name:<28}{rates:>20}{spread(shares):>20}{speeds:>20}{cores:>11.2f}{turns[-1].loss:>11.2f}")


def verdict(rounds: list[Round]) -> dict[str, float]:
    """How many times faster ours is, compared round by round."""
    faster = {name: [each.turns[name].seconds / each.turns[OURS].seconds for each in rounds] for name in (PEER, PLAIN)}
    print("\nregard tells malloc to keep freed memory. The first HF row has the same; the second is HF as it comes.")
    print(f"ours / {PLAIN}: {spread(faster[PLAIN], '.2f')}")
    print(f"ours / {PEER}, malloc as ours: {spread(faster[PEER], '.2f')}")
    print(f"ours / HF: {median(faster[PEER]):.2f}× (median of {len(rounds)} rounds)")
    return {name: median(ratios) for name, ratios in faster.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=MULTI30K, help="directory with train.en.gz and train.de.gz")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path, help="also write every round's figures here")
    given = parser.parse_args()
    threads, load = torch.get_num_threads(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as scratch:
        config, about = settings(given.data, Path(scratch))
        with started(config, threads) as links:
            facts = {name: link.recv() for name, link in links.items()}
            introduce(facts, about, threads, load)
            rounds = list(race(links, max(1, given.rounds)))
    table(rounds)
    ratios = verdict(rounds)
    if given.json:
        models = {name: asdict(fact) for name, fact in facts.items()}
        figures = {"data": about, "threads": threads, "load": load, "models": models, "ours_over": ratios}
        given.json.write_text(json.dumps({**figures, "rounds": [asdict(each) for each in rounds]}, indent=2) + "\n")


if __name__ == "__main__":
    main()
