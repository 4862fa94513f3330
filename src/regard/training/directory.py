"""The directory of a run: what lies in it, and when it may be written."""

import json
from pathlib import Path
from typing import Any

from regard import bundle
from regard.config import Tree
from regard.errors import BundleError, ConfigError
from regard.files import write_text
from regard.training import checkpoint, tracking

DATA = "data.json"
OURS = (
    bundle.CONFIG, bundle.WEIGHTS, bundle.CARD, bundle.README, checkpoint.FILE, tracking.FILE, DATA,
    "tokenizer.json", "tokenizer.target.json", "curves.svg", "skipped.txt",
)  # fmt: skip


def claim(out: Path, *, resume: bool, overwrite: bool) -> Tree | None:
    """The saved settings if a run is to go on here, None if it starts afresh. Nothing is lost unless asked for."""
    if out.exists() and not out.is_dir():
        raise BundleError(f"{out} is a file, not a directory.", do="choose another --out")
    if resume and overwrite:
        raise ConfigError("--resume and --overwrite exclude each other.", do="choose one")
    if not out.exists() or not any(out.iterdir()):
        return None
    if resume:
        return bundle.read_config(out) if (out / checkpoint.FILE).exists() else None
    if not overwrite:
        raise BundleError(
            f"{out} is not empty.",
            found=", ".join(sorted(path.name for path in out.iterdir())[:5]),
            do="go on with --resume, start anew with --overwrite, or choose another --out",
        )
    for name in OURS:
        (out / name).unlink(missing_ok=True)
    return None


def agree(saved: Tree, given: Tree) -> None:
    """A resumed run takes its settings from the directory; what is given on the command line must not contradict
    them."""
    for path, value in _leaves(given):
        node: Any = saved
        for part in path:
            node = node.get(part) if isinstance(node, dict) else None
        if path != ("model", "preset") and _plain(node) != _plain(value):
            key = ".".join(path)
            raise ConfigError(
                f"The run was started with {key}={_plain(node)}, not {_plain(value)}.",
                do=f"leave {key} out to resume, or start anew with --overwrite",
            )


def write_start(out: Path, config: Tree, task: Any) -> None:
    """What can be known before the first update; refuses to go on with other data than the run began with."""
    fingerprints = task.fingerprints()
    known = out / DATA
    if (out / checkpoint.FILE).exists() and known.exists():
        before = json.loads(known.read_text(encoding="utf-8"))
        changed = [split for split in before if fingerprints.get(split, before[split]) != before[split]]
        if changed:
            raise BundleError(
                f"The {' and '.join(changed)} data has changed since this run began.",
                do="put the old data back to resume, or start anew with --overwrite",
            )
    bundle.write_config(out, config)
    task.tokenizers.save(out)
    write_text(known, json.dumps(fingerprints, indent=2) + "\n")
    if skipped := task.skipped():
        write_text(out / "skipped.txt", "\n".join(skipped) + "\n")


def _leaves(tree: Tree, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    found = []
    for key, value in tree.items():
        found += _leaves(value, (*path, key)) if isinstance(value, dict) else [((*path, key), value)]
    return found


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))
