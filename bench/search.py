"""How long a search through a million vectors takes, beside the mere reading of them.

Random vectors of length 1 are written to a file, as `regard embed` would. In every round, a question is looked for,
then 32 at once, and all numbers are read once (their sum): nothing that compares every line can be faster than that.

    .venv-bench/bin/python bench/search.py [--lines N] [--width N] [--rounds N] [--scratch DIR] [--json FILE]
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import torch

from racing import spread
from regard.tasks.search import Index

ONE, MANY, READ = "1 question", "32 questions", "reading (sum)"
TOP, AT_ONCE = 10, 65_536
MOST_MS = 150.0  # for a question, on two cores that nobody else uses
TOLERANCE = 1e-5


def write(path: Path, lines: int, width: int, seed: int = 1) -> None:
    """Random directions, part by part."""
    draw = np.random.default_rng(seed)
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(lines, width))
    for first in range(0, lines, AT_ONCE):
        part = draw.standard_normal((min(AT_ONCE, lines - first), width), dtype=np.float32)
        rows[first : first + AT_ONCE] = part / np.linalg.norm(part, axis=1, keepdims=True)
    rows.flush()


def check(index: Index, questions: np.ndarray) -> None:
    """What is found is what a sort of all cosines finds; two that are nearly equal may change places."""
    for question, hits in zip(questions, index.top(questions, TOP), strict=True):
        cosines = index.vectors.numpy() @ (question / np.linalg.norm(question))
        wanted = cosines[np.argsort(-cosines, kind="stable")[:TOP]]
        apart = max(np.abs(wanted - [hit.score for hit in hits]).max(), *(abs(cosines[h.line] - h.score) for h in hits))
        if not apart < TOLERANCE:
            raise SystemExit(f"The search differs from a sort of all cosines by {apart:.1e}.")


def resident() -> tuple[int, int]:
    """Bytes that this process holds by itself, and those of files that it looks into."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines())
    own, mapped = (int(fields[kind].split()[0]) * 1024 for kind in ("RssAnon", "RssFile"))
    return own, mapped


def race(work: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Seconds and CPU seconds of each, in turns; the round before the first only warms up."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in work}
    for number in range(rounds + 1):
        for name, do in work.items():
            began, cpu_began = time.perf_counter(), time.process_time()
            do()
            if number:
                taken[name].append((time.perf_counter() - began, time.process_time() - cpu_began))
    return taken


def table(taken: dict[str, list[tuple[float, float]]], size: int) -> None:
    """Medians and quartiles; the share is that of the same round's reading."""
    print(f"\n{'median [quartiles]':<18}{'ms':>26}{'GB/s':>8}{'cores had':>11}{'share of the limit':>26}")
    for name, times in taken.items():
        seconds = [wall for wall, _ in times]
        shares = [limit / wall for (limit, _), wall in zip(taken[READ], seconds, strict=True)]
        cores = median(cpu / wall for wall, cpu in times)
        rate = size / median(seconds) / 1e9
        told = spread([1000 * wall for wall in seconds], ".1f")
        print(f"{name:<18}{told:>26}{rate:>8.1f}{cores:>11.2f}{spread(shares, '.2f'):>26}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--scratch", type=Path, help="directory for the file (1.5 GB); a temporary one if none")
    parser.add_argument("--json", type=Path, help="also write every round's figures here")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        path = Path(scratch) / "lines.npy"
        write(path, options.lines, options.width)
        size = path.stat().st_size
        before, began = resident(), time.perf_counter()
        index = Index.read(path)
        opened, after = time.perf_counter() - began, resident()
        print(
            f"{options.lines:,} vectors of width {options.width}, {size / 1e9:.2f} GB; torch {torch.__version__}, ",
            end="",
        )
        print(f"{options.threads} threads; load before the start {load:.1f} on {os.cpu_count()} cores")
        own, mapped = (now - then for now, then in zip(after, before, strict=True))
        print(f"opened in {opened:.2f} s: {own / 1e6:.0f} MB of memory, {mapped / 1e6:.0f} MB looked at in the file")
        questions = np.random.default_rng(2).standard_normal((32, options.width), dtype=np.float32)
        check(index, questions[:2])
        work: dict[str, Callable[[], object]] = {
            ONE: lambda: index.top(questions[:1], TOP),
            MANY: lambda: index.top(questions, TOP),
            READ: index.vectors.sum,
        }
        taken = race(work, max(1, options.rounds))
    table(taken, size)
    middle = median(1000 * wall for wall, _ in taken[ONE])
    print(f"\na question: {middle:.1f} ms; the aim is below {MOST_MS:.0f} ms on two cores")
    if options.json:
        run = {"lines": options.lines, "width": options.width, "threads": options.threads, "load": load, "own": own}
        options.json.write_text(json.dumps({**run, "ms": middle, "rounds": taken}, indent=2) + "\n")


if __name__ == "__main__":
    main()
