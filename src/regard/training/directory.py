"""The directory of a run: what lies in it, and when it may be written."""

import json
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from regard import bundle
from regard.config import Tree, leaves, merge
from regard.errors import BundleError, ConfigError
from regard.files import write_text
from regard.training import checkpoint, tracking

RUN, LOCK, PROBES = "run.json", ".lock", "probes"
OURS = (
    bundle.CONFIG, bundle.WEIGHTS, bundle.CARD, bundle.README, checkpoint.FILE, tracking.FILE, RUN,
    "tokenizer.json", "tokenizer.target.json", "curves.svg", "skipped.txt",
)  # fmt: skip
FOLDERS = (checkpoint.KEPT, PROBES, tracking.EVENTS)
MOVABLE = {
    ("training", "device"), ("training", "threads"), ("training", "tensorboard"), ("distributed", "processes"),
    ("data", "train"), ("data", "val"), ("data", "test"),
}  # fmt: skip
"""Settings that a resumed run may change: on another machine they are others. What the files hold is compared by
fingerprint; another device, or another number of threads or processes, may change the last bits of the weights."""


def claim(out: Path, *, resume: bool, overwrite: bool) -> Tree | None:
    """The saved settings if a run is to go on here, None if it starts afresh. Only looks: nothing is changed yet."""
    if out.exists() and not out.is_dir():
        raise BundleError(f"{out} is a file, not a directory.", do="choose another --out")
    if resume and overwrite:
        raise ConfigError("--resume and --overwrite exclude each other.", do="choose one")
    if not out.exists() or not any(path.name != LOCK for path in out.iterdir()):
        return None
    if not resume and not overwrite:
        raise BundleError(
            f"{out} is not empty.",
            found=", ".join(sorted(path.name for path in out.iterdir())[:5]),
            do="go on with --resume, start anew with --overwrite, or choose another --out",
        )
    _refuse_foreign(out)
    if overwrite:
        return None
    if (out / checkpoint.FILE).exists():
        return bundle.read_config(out)
    if (out / bundle.CARD).exists():
        raise BundleError(
            f"{out} holds a finished model, but no {checkpoint.FILE} to go on from.",
            do="train it anew with --overwrite, or choose another --out",
        )
    return None


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Keeps a second training out of the directory while this one is at work; the system opens the lock if it dies."""
    _make(out)
    with (out / LOCK).open("a+", encoding="utf-8") as file:
        if not _taken(file):
            file.seek(0)
            raise BundleError(
                f"Another training is at work in {out}.",
                found=f"process {file.read().strip() or 'unknown'}",
                do="wait for it, stop it, or choose another --out",
            )
        file.truncate(0)
        file.write(f"{os.getpid()} on {platform.node()}\n")
        file.flush()
        try:
            yield
        finally:
            (out / LOCK).unlink(missing_ok=True)


def at_work(out: Path) -> bool:
    """Whether a training is at work in the directory. A lock that a killed one has left behind means nothing."""
    try:
        with (out / LOCK).open(encoding="utf-8") as file:
            return not _taken(file, shared=True)
    except FileNotFoundError:
        return False


def _taken(file: IO[str], *, shared: bool = False) -> bool:
    try:
        import fcntl
    except ImportError:  # not on Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_NB | (fcntl.LOCK_SH if shared else fcntl.LOCK_EX))
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def agree(out: Path, saved: Tree, given: Tree) -> Tree:
    """The settings a resumed run goes by: the saved ones. What is given must not contradict what was asked for then."""
    asked = bundle.read_json(out / RUN).get("asked", {})
    moved: Tree = {}
    for path, value in leaves(given):
        before = _leaf(asked, path) if _leaf(asked, path) is not None else _leaf(saved, path)
        if path in MOVABLE or (path == ("training", "updates") and _prolongs(saved, value)):
            moved = merge(moved, {path[0]: {path[1]: value}})
        elif before != _plain(value):
            key = ".".join(path)
            raise ConfigError(
                f"The run was started with {key}={before}, not {_plain(value)}.",
                do=f"leave {key} out to resume, or start anew with --overwrite",
            )
    return {key: value for key, value in merge(saved, moved).items() if key != "format"}


def _prolongs(saved: Tree, updates: Any) -> bool:
    """Whether a run can be made longer: not if its learning rate was to reach zero at the end."""
    training = saved["training"]
    if not isinstance(updates, int) or updates <= training["updates"]:
        return False
    if training["schedule"] in ("linear", "cosine"):
        raise ConfigError(
            f"The learning rate of this run was to end at update {training['updates']:,}; it cannot be made longer.",
            found=f"training.schedule={training['schedule']}",
            do="train on in another directory with --init, or use training.schedule=inverse-sqrt from the beginning",
        )
    return True


def begin(out: Path, config: Tree, asked: Tree, task: Any) -> None:
    """Clears what an earlier run left here, and writes what can be known before the first update."""
    _make(out)
    for name in OURS:
        (out / name).unlink(missing_ok=True)
    for name in FOLDERS:
        shutil.rmtree(out / name, ignore_errors=True)
    bundle.write_config(out, config)
    task.tokenizers.save(out)
    write_text(out / RUN, json.dumps({"asked": asked, "data": task.fingerprints()}, indent=2) + "\n")
    if skipped := task.skipped():
        write_text(out / "skipped.txt", "\n".join(skipped) + "\n")


def _make(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BundleError(f"{out} cannot be made: {error.strerror}.", do="choose another --out") from None


def check_data(out: Path, fingerprints: dict[str, str]) -> None:
    """Refuses to go on with other data than the run began with."""
    before = bundle.read_json(out / RUN).get("data", {})
    changed = [split for split in before if fingerprints.get(split) != before[split]]
    if changed:
        raise BundleError(
            f"The {' and '.join(changed)} data has changed since this run began.",
            do="put the old data back to resume, or start anew with --overwrite",
        )


def _refuse_foreign(out: Path) -> None:
    """A directory with files called like ours that no run of ours has written is somebody's own."""
    theirs = [name for name in OURS if (out / name).exists()]
    if theirs and "format" not in (bundle.read_config(out) if (out / bundle.CONFIG).exists() else {}):
        raise BundleError(
            f"{out} holds files that regard did not write.", found=", ".join(theirs), do="choose another --out"
        )


def _leaf(tree: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        tree = tree.get(part) if isinstance(tree, dict) else None
    return _plain(tree)


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))
