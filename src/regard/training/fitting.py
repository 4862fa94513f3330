"""`batch.tokens=auto`: the largest batch that fits into memory, found by two short trials and a straight line.

The trials are processes of their own: what one has needed at most can then be told from what others need.
"""

import os
from collections.abc import Callable
from pathlib import Path

import torch

from regard.config import Tree, merge
from regard.errors import LimitError
from regard.training.launch import measured

TRIALS = (1024, 4096)
STEP, MOST = 512, 32_768
"""Larger batches than that do not make training faster, only coarser."""
MARGIN = 0.8


def fitting_tokens(tree: Tree, limit: float, threads: int, say: Callable[[str], None]) -> int:
    """Tokens a side. limit: bytes that the training may take."""
    small, large = (_bytes(tree, tokens, threads) for tokens in TRIALS)
    each = max(1.0, (large - small) / (TRIALS[1] - TRIALS[0]))
    rest = large - each * TRIALS[1]
    tokens = int((MARGIN * limit - rest) / each) // STEP * STEP
    if tokens < STEP:
        raise LimitError(
            "Not even a small batch fits into memory.",
            found=f"{rest / 1e9:.1f} GB are needed before the first token, of {limit / 1e9:.1f} GB",
            do="choose a smaller model, or raise training.memory",
        )
    tokens = min(tokens, MOST)
    say(f"batches of {tokens:,} tokens: {each / 1e3:.0f} kB a token, {limit / 1e9:.1f} GB of memory")
    return tokens


def available(device: str) -> float:
    """Bytes of memory that nobody uses now, on the device or on this machine."""
    if device.startswith("cuda"):
        return float(torch.cuda.mem_get_info(device)[0])
    found = [os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            found = [1024 * int(line.split()[1])]
    group = [line for name in ("memory.max", "memory.current") for line in _lines(f"/sys/fs/cgroup/{name}")]
    if len(group) == 2 and all(map(str.isdigit, group)):
        found.append(int(group[0]) - int(group[1]))
    return float(min(found))


def _bytes(tree: Tree, tokens: int, threads: int) -> float:
    trial = merge(tree, {"batch": {"tokens": tokens}, "distributed": {"processes": 1}})
    peak = measured(trial, 1, threads, seconds=2.0)["peak_bytes"]
    if peak is None:
        raise LimitError("Memory cannot be measured on this system.", do="give batch.tokens a number")
    return float(peak)


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text().splitlines() if file.exists() else []
