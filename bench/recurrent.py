"""How fast our Bahdanau model trains, beside JoeyNMT's recurrent model with additive attention, at equal sizes.

JoeyNMT needs other versions than we do, so each contestant is a process with the Python of its own venv. They take
turns on the same batches of token ids, a few full updates each (forward, loss, backward, clip, optimiser), another one
going first from round to round; the others wait. Float32, no dropout, no label smoothing, separate vocabularies.

Both: embeddings of width E, a bidirectional GRU encoder of width D each way, an additive score of width D, a GRU
decoder of width D, an output matrix. They differ as their authors meant: ours looks, then updates, gives the whole
context (2D) to the update, and ends in a maxout layer; JoeyNMT updates, then looks, feeds back a tanh layer of width D
over state and context, and predicts from it. Ours also keeps its moving average of the weights.

    .venv-bench/bin/python bench/recurrent.py [--data DIR] [--rounds N] [--peer PYTHON] [--json FILE]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import torch

from regard.tasks.translation import TranslationTask
from regard.training.settings import RunConfig, resolve
from training import MULTI30K, settings, spread
from turns import Facts, Given, Setup, Turn

BENCH = Path(__file__).resolve().parent
JOEYNMT = BENCH.parent / ".venv-joeynmt" / "bin" / "python"
WIDTH, VOCABULARY, BATCH_TOKENS = 256, 8000, 4096
WARM_UP, BATCHES = 3, 3  # updates before the first round, and in every turn
OURS, PEER, PLAIN = "regard", "JoeyNMT, malloc and Adam as ours", "JoeyNMT as it comes"


@dataclass(frozen=True)
class Round:
    """One round: how many target tokens it had, and everybody's turn."""

    tokens: int
    turns: dict[str, Turn]


def configure(data: Path, scratch: Path) -> tuple[RunConfig, str]:
    """The run that all contestants make: bench/training.py's text, read in the other direction."""
    base, about = settings(data, scratch)
    tree = base.tree()
    files: list[str] = tree["data"]["train"]
    sizes = {"width": WIDTH, "embedding": WIDTH, "dropout": 0.0, "tie": "none"}
    changed = {
        "model": {"name": "bahdanau", **sizes},
        "data": {**tree["data"], "train": files[::-1]},
        "tokenizer": {**tree["tokenizer"], "size": VOCABULARY, "joint": False},
        "batch": {"tokens": BATCH_TOKENS},
        "loss": {"label_smoothing": 0.0},
        "training": {**tree["training"], "learning_rate": 1e-3, "warmup": 1},
    }
    return resolve({**tree, **changed}), f"{about}, from the second language into the first"


def setup(config: RunConfig, task: TranslationTask, threads: int) -> Setup:
    text = task.tokenizers
    marks = {"pad": text.target.pad, "bos": text.target.start, "eos": text.target.end, "unk": text.target.unknown}
    return Setup(config.tree(), len(text.source), len(text.target), marks, threads, favours=True)


def given(task: TranslationTask, first: int, count: int) -> list[Given]:
    batches = [task.batch(step) for step in range(first, first + count)]
    return [
        Given(*(x.numpy() for x in (each.source, each.source_lengths, each.target, each.target_lengths)))
        for each in batches
    ]


@contextmanager
def started(told: Setup, peer: Path) -> Iterator[dict[str, Connection]]:
    """The contestants' processes, each at the other end of its link."""
    contestants = {
        OURS: (Path(sys.executable), "ours.py", True),
        PEER: (peer, "joey.py", True),
        PLAIN: (peer, "joey.py", False),
    }
    links: dict[str, Connection] = {}
    processes = []
    for name, (python, script, favours) in contestants.items():
        links[name], theirs = Pipe()
        command = [str(python), str(BENCH / script), str(theirs.fileno())]
        processes.append(subprocess.Popen(command, pass_fds=[theirs.fileno()]))
        theirs.close()  # so that a contestant's death is heard as EOFError
        links[name].send(replace(told, favours=favours))
    try:
        yield links
    finally:
        for link, process in zip(links.values(), processes, strict=True):
            link.close()
            process.wait()


def race(links: dict[str, Connection], task: TranslationTask, rounds: int) -> Iterator[Round]:
    """One works at a time. The round before the first only warms up."""
    names, done = list(links), 0
    for number in range(-1, rounds):
        batches = given(task, done, WARM_UP if number < 0 else BATCHES)
        done += len(batches)
        turns: dict[str, Turn] = {}
        first = number % len(names)
        for name in names[first:] + names[:first]:
            links[name].send(batches)
            turns[name] = links[name].recv()
        if number >= 0:
            yield Round(sum(batch.tokens for batch in batches), turns)


def introduce(facts: dict[str, Facts], told: Setup, about: str, load: float) -> None:
    """What is compared, and whether it is comparable."""
    ours, peer = facts[OURS], facts[PEER]
    print(f"{ours.version}, {peer.version}, torch {torch.__version__}; ", end="")
    print(f"{told.threads} threads; load before the start {load:.1f} on {os.cpu_count()} cores")
    words = f"{told.source_vocabulary:,} + {told.target_vocabulary:,}"
    print(f"Data: {about}; vocabularies {words}, batches of {BATCH_TOKENS:,} tokens")
    print(f"Widths {WIDTH}; parameters: {OURS} {ours.parameters:,}, JoeyNMT {peer.parameters:,}", flush=True)
    if not 0.98 < ours.parameters / peer.parameters < 1.15:
        raise SystemExit("The models are not of equal size.")


def table(rounds: Sequence[Round]) -> None:
    """A row for every contestant: medians and quartiles of the rounds."""
    print(f"\n{'median [quartiles]':<34}{'target tokens/s':>22}{'ms an update':>20}{'cores had':>11}{'last loss':>11}")
    for name in (OURS, PEER, PLAIN):
        turns = [each.turns[name] for each in rounds]
        speeds = spread([each.tokens / each.turns[name].seconds for each in rounds], ".0f")
        times = spread([1000 * turn.seconds / BATCHES for turn in turns], ".0f")
        cores = median(turn.cpu_seconds / turn.seconds for turn in turns)  # below the threads: others had the rest
        print(f"{name:<34}{speeds:>22}{times:>20}{cores:>11.2f}{turns[-1].loss:>11.2f}")


def verdict(rounds: Sequence[Round]) -> dict[str, Any]:
    """How many times faster ours is, compared round by round, and where our time goes."""
    ours = [each.turns[OURS] for each in rounds]
    shares = {part: [100 * turn.parts[part] / turn.seconds for turn in ours] for part in ours[0].parts}
    faster = {name: [each.turns[name].seconds / each.turns[OURS].seconds for each in rounds] for name in (PEER, PLAIN)}
    print()
    for part, percents in shares.items():
        print(f"share of our time in the {part}, forward and backward: {spread(percents)} %")
    for name, ratios in faster.items():
        print(f"ours / {name}: {spread(ratios, '.2f')}")
    print(f"ours / JoeyNMT: {median(faster[PEER]):.2f}× (median of {len(rounds)} rounds)")
    return {
        "ours_over": {name: median(ratios) for name, ratios in faster.items()},
        "shares": {part: median(percents) for part, percents in shares.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=MULTI30K, help="directory with train.en.gz and train.de.gz")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--peer", type=Path, default=JOEYNMT, help="a Python that has JoeyNMT")
    parser.add_argument("--json", type=Path, help="also write every round's figures here")
    options = parser.parse_args()
    threads, load = torch.get_num_threads(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as scratch:
        config, about = configure(options.data, Path(scratch))
        pairs: Any = config.settings
        task = TranslationTask(pairs, model=config.model, seed=config.seed)
    told = setup(config, task, threads)
    with started(told, options.peer) as links:
        facts = {name: link.recv() for name, link in links.items()}
        introduce(facts, told, about, load)
        rounds = list(race(links, task, max(1, options.rounds)))
    table(rounds)
    figures = verdict(rounds)
    if options.json:
        models = {name: asdict(fact) for name, fact in facts.items()}
        run = {"data": about, "threads": threads, "load": load, "models": models, **figures}
        options.json.write_text(json.dumps({**run, "rounds": [asdict(each) for each in rounds]}, indent=2) + "\n")


if __name__ == "__main__":
    main()
