"""What a run was made with: run.json tells of every session of it, from a start or a resume to its end.

A session that has no end in it is still at work, or was killed.
"""

import json
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from regard import bundle
from regard.config import Tree
from regard.errors import RegardError
from regard.files import write_text
from regard.training.directory import RUN
from regard.training.start import Run, parameters

FINISHED, STOPPED, FAILED = "finished", "stopped", "failed"
PATIENCE = 10
"""Seconds that git may take."""


@dataclass
class Session:
    """How it ends is for the run to say."""

    finished: bool = False


@contextmanager
def session(run: Run) -> Iterator[Session]:
    """Writes down how a session begins and how it ends. The first process of several does that for all."""
    ours = Session()
    if not run.world.leads:
        yield ours
        return
    record = bundle.read_json(run.out / RUN) | {"parameters": parameters(run.model)}
    record["sessions"] = [*record.get("sessions", []), _beginning(run)]
    _write(run.out, record)
    how, why = FAILED, ""
    try:
        yield ours
        how = FINISHED if ours.finished else STOPPED
    except KeyboardInterrupt:
        how = STOPPED
        raise
    except BaseException as error:
        why = error.what if isinstance(error, RegardError) else f"{type(error).__name__}: {error}"
        raise
    finally:
        seconds = round(run.progress.seconds, 1)
        end = {"at": _now(), "how": how, "why": why, "updates": run.learner.updates, "seconds": seconds}
        record["sessions"][-1]["ended"] = end
        _write(run.out, record)


def git(directory: Path) -> Tree | None:
    """The revision that is checked out there, and whether its files were changed since; None where there is none."""
    try:
        return {
            "revision": _git(directory, "rev-parse", "HEAD"),
            "dirty": bool(_git(directory, "status", "--porcelain", "--untracked-files=no")),
        }
    except (OSError, subprocess.SubprocessError):  # no git, no repository, or nothing in it
        return None


def processor() -> str:
    """What the CPU is called."""
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text(encoding="utf-8", errors="replace").splitlines() if cpus.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def _beginning(run: Run) -> Tree:
    return {
        "began": _now(),
        "after": run.progress.updates,
        "command": _command(sys.argv),
        "directory": str(Path.cwd()),
        "git": git(Path.cwd()),
        "host": platform.node(),
        "platform": platform.platform(),
        "cpu": processor(),
        "gpu": torch.cuda.get_device_name(run.world.device) if run.world.device.startswith("cuda") else None,
        "versions": bundle.versions(),
    }


def _command(words: list[str]) -> str:
    """As it was typed, without the directory that the program is in."""
    program = Path(words[0])
    return shlex.join([program.parent.name if program.name == "__main__.py" else program.name, *words[1:]])


def _git(directory: Path, *words: str) -> str:
    command = ["git", "--no-optional-locks", "-C", str(directory), *words]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=True)
    return done.stdout.strip()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _write(out: Path, record: dict[str, Any]) -> None:
    write_text(out / RUN, json.dumps(record, indent=2, ensure_ascii=False) + "\n")
