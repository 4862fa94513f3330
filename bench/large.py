"""How much memory training takes when the corpus grows: 100,000 pairs against 10 million.

Pairs are generated, `regard train` is run on them for some updates, and its memory is looked at all the while (resident
set of the process, as the kernel counts it). The second time the tokens are found on disk.

    .venv/bin/python bench/large.py [--pairs N …] [--updates N] [--scratch DIR]
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

WORDS = 20_000
SETTINGS = (
    "model.width=128", "model.hidden=256", "tokenizer.size=8000", "batch.tokens=4096", "training.log_every=1000000",
    "training.save_every=1000000", "data.too_long=skip",
)  # fmt: skip


@dataclass(frozen=True)
class Watched:
    """A run: how long it prepared and trained, and its memory: the most of each, and at some moments of training."""

    prepared: float
    trained: float
    peak_before: int
    peak_training: int
    moments: list[int]


def write(path: Path, pairs: int) -> None:
    """Pairs of 4 to 24 made-up words, frequent ones as in real text; the target has the same words backwards."""
    draw = random.Random(pairs)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(WORDS)]
    weights = [1 / (rank + 10) for rank in range(WORDS)]
    pool = draw.choices(words, weights, k=1 << 20)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(pairs):
            first, length = draw.randrange(len(pool) - 24), draw.randint(4, 24)
            chosen = pool[first : first + length]
            file.write(f"{' '.join(chosen)}\t{' '.join(reversed(chosen))}\n")


def resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def watch(data: Path, out: Path, updates: int, cache: Path) -> Watched:
    """Trains, and looks at the process ten times a second."""
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "regard", "train", "--train", str(data), "--out", str(out)]
    environment = {**os.environ, "REGARD_CACHE": str(cache)}
    process = subprocess.Popen([*command, f"training.updates={updates}", *SETTINGS], env=environment)
    began, begun, before, during = time.monotonic(), 0.0, [0], [0]
    while process.poll() is None:
        time.sleep(0.1)
        try:
            held = resident(process.pid)
        except (OSError, IndexError):  # it has just ended
            break
        if not begun and (out / "metrics.jsonl").exists():
            begun = time.monotonic()
        if held:  # a process that has ended holds nothing
            (during if begun else before).append(held)
    if process.wait():
        raise SystemExit("The training has failed.")
    ended = time.monotonic()
    moments = [during[len(during) * i // 5 - 1] for i in range(1, 6)]
    return Watched(begun - began, ended - begun, max(before), max(during), moments)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, nargs="+", default=[100_000, 10_000_000])
    parser.add_argument("--updates", type=int, default=600)
    parser.add_argument("--scratch", type=Path, help="where some gigabytes may be written")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        for pairs in options.pairs:
            data, cache = Path(scratch, f"{pairs}.tsv"), Path(scratch, "cache")
            write(data, pairs)
            for what in ("first time", "again"):
                found = watch(data, Path(scratch, "out"), options.updates, cache)
                moments = " ".join(f"{held / 1e6:.0f}" for held in found.moments)
                print(f"{pairs:,} pairs ({data.stat().st_size / 1e6:,.0f} MB), {what}:")
                print(f"  prepared in {found.prepared:.0f} s, at most {found.peak_before / 1e6:.0f} MB")
                print(f"  trained in {found.trained:.0f} s, at most {found.peak_training / 1e6:.0f} MB", end="")
                print(f", over time {moments} MB", flush=True)
            data.unlink()


if __name__ == "__main__":
    main()
