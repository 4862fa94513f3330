"""Several processes on one machine: `distributed.processes=2`, or `auto`, which measures what is fastest here.

For several machines there is torchrun; the processes cannot tell the difference.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, Any

from regard.config import Tree, merge
from regard.errors import LimitError

SECONDS = 8.0
"""How long each way is tried."""


def several(tree: Tree, saved: Tree | None, say: Callable[[str], None]) -> tuple[int, int] | None:
    """How many processes of how many threads a run is to have; None if it is one, or if this is one of them already."""
    if "RANK" in os.environ:
        return None
    both = merge(saved or {}, tree)
    settings = {name: both[name] if isinstance(both.get(name), dict) else {} for name in ("distributed", "training")}
    wanted, threads = settings["distributed"].get("processes", 1), settings["training"].get("threads", 0)
    if wanted == "auto":
        return _fastest(tree, say)
    if not isinstance(wanted, int) or wanted < 2:
        return None
    return wanted, threads if isinstance(threads, int) and threads > 0 else max(1, cores() // wanted)


def launch(command: Sequence[str], processes: int, threads: int) -> int:
    """Runs a Python command in so many processes that know of each other; its exit code. Only the first one is heard,
    unless another fails."""
    with ExitStack() as open_files:
        logs = [open_files.enter_context(tempfile.TemporaryFile("w+")) for _ in range(1, processes)]
        world = {**os.environ, "WORLD_SIZE": str(processes), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_port())}
        children = [
            _start(command, {**world, "RANK": str(rank), "LOCAL_RANK": str(rank), "OMP_NUM_THREADS": str(threads)}, log)
            for rank, log in enumerate([None, *logs])
        ]
        with _passing_on(children):
            code = _wait(children)
        for child, log in zip(children[1:], logs, strict=True):
            if child.returncode == code and children[0].returncode != code:
                log.seek(0)
                sys.stderr.write(log.read())
    return code


def cores() -> int:
    """As many as this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def measured(tree: Tree, processes: int, threads: int, seconds: float) -> dict[str, Any]:
    """What a short trial of a run gives (see training/speed.py)."""
    with tempfile.TemporaryDirectory() as scratch:
        given, found = Path(scratch, "tree.json"), Path(scratch, "found.json")
        given.write_text(json.dumps(merge(tree, {"training": {"threads": threads}})), encoding="utf-8")
        command = ["-m", "regard.training.speed", str(given), str(found), str(seconds)]
        if launch(command, processes, threads):
            raise LimitError("A short trial of the training has failed.", do="see what it says above")
        figures: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
    return figures


def _fastest(tree: Tree, say: Callable[[str], None]) -> tuple[int, int]:
    """Every way to share out the cores is tried for some seconds."""
    alone = merge(tree, {"distributed": {"processes": 1}})
    ways = [(count, cores() // count) for count in (1, 2, 4, 8, 16, 32, 64) if cores() % count == 0]
    speeds = {}
    for processes, threads in ways:
        figures = measured(alone, processes, threads, SECONDS)
        speeds[processes, threads] = figures["tokens_an_update"] / figures["seconds_an_update"]
        say(f"{processes} × {threads} threads: {speeds[processes, threads]:,.0f} tokens/s")
    return max(ways, key=lambda way: speeds[way])


def _start(command: Sequence[str], environment: dict[str, str], log: IO[str] | None) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, *command], env=environment, stdout=log, stderr=log)


def _wait(children: "Sequence[subprocess.Popen[bytes]]") -> int:
    """Until all have ended; if one fails, the others are stopped."""
    while any(child.poll() is None for child in children):
        if any(child.returncode for child in children):
            for child in children:
                if child.poll() is None:
                    child.terminate()
        time.sleep(0.1)
    codes = [child.returncode for child in children]
    failed = next((code for code in codes if code), 0)
    return 128 - failed if failed < 0 else failed


@contextmanager
def _passing_on(children: "Sequence[subprocess.Popen[bytes]]") -> Iterator[None]:
    """A terminal's Ctrl-C reaches all of them; SIGTERM reaches only us, and is passed on."""

    def stop(number: int, frame: FrameType | None) -> None:
        for child in children:
            child.terminate()

    before = signal.signal(signal.SIGTERM, stop), signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGINT, before[1])


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port
