"""The directory of a comparison: whose it is, what was begun there, and what to do about a damaged run in it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from regard import bundle
from regard.config import Tree, leaves
from regard.errors import BundleError
from regard.files import write_text
from regard.lab.compare.plan import Entry, Plan
from regard.training.directory import at_work

KEPT = "compare.json"
MAY_CHANGE = {("seeds",), ("sentence",)}
"""What a later call may ask otherwise, besides more or fewer models: what is finished stays as it is."""


def read(out: Path) -> Tree:
    """What is kept of the comparison in a directory, {} if none has begun there. Refuses one that holds other
    things."""
    with _told(out):
        if (out / KEPT).exists():
            return _sound(out / KEPT)
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise BundleError(f"{out} is not empty.", do="choose another --out; a comparison goes on in its own")
    return {}


def claim(out: Path) -> Tree:
    """The same, and makes the directory ours before anything is written into it."""
    kept = read(out)
    if not (out / KEPT).exists():
        with _told(out):
            out.mkdir(parents=True, exist_ok=True)
        write_text(out / KEPT, "{}\n")
    return kept


def agree(plan: Plan, kept: Tree, out: Path) -> None:
    """A comparison goes on as it began; models and seeds may join, but a name means what it meant."""
    then, now = dict(kept["plan"]), json.loads(json.dumps(plan.record()))
    then["models"] = {name: model for name, model in _meant(then).items() if name in plan.names}
    now["models"] = {name: model for name, model in _meant(now).items() if name in then["models"]}
    then["own"] = {name: own for name, own in then["own"].items() if name in plan.names}
    now["own"] = {name: own for name, own in now["own"].items() if name in kept["sizes"]}
    before, after = dict(leaves(then)), dict(leaves(now))
    keys = [key for key in sorted(before.keys() | after.keys()) if key not in MAY_CHANGE]
    if other := [key for key in keys if before.get(key) != after.get(key)]:
        raise BundleError(
            f"{out} holds a comparison with other settings.",
            found=", ".join(f"{'.'.join(key)}={before.get(key)}, now {after.get(key)}" for key in other),
            do="ask for the same to go on with it (models and seeds may be added), or choose another --out",
        )


def joined(plan: Plan, kept: Tree) -> Tree:
    """The plan as it is kept, with the models of earlier calls."""
    record, before = plan.record(), kept.get("plan", {"models": [], "own": {}})
    record["models"] = [*plan.models, *(model for model in before["models"] if Entry.of(model).name not in plan.names)]
    record["own"] = {**before["own"], **record["own"]}
    return record


@contextmanager
def advised(run: Path) -> Iterator[None]:
    """Whatever is damaged in a run, it can be made anew, and nothing else is lost by that."""
    try:
        yield
    except BundleError as error:
        if at_work(run):
            raise  # somebody else is: nothing need be damaged
        raise error.instead(f"delete {run} and call the same command again: all else is kept") from error


@contextmanager
def _told(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BundleError(f"{out} cannot be made: {error.strerror}.", do="choose another --out") from None


def _meant(record: Tree) -> dict[str, Tree]:
    """By name, the model and the preset."""
    return {entry.name: entry.model for entry in map(Entry.of, record["models"])}


def _sound(path: Path) -> Tree:
    """What the file holds, if it is what was written there."""
    do = "put it back as it was, or choose another --out"
    try:
        kept = bundle.read_json(path)
    except BundleError as error:
        raise error.instead(do) from None
    plan: Any = kept.get("plan")
    sound = {
        "plan.models": isinstance(plan, dict) and isinstance(plan.get("models"), list),
        "plan.own": isinstance(plan, dict) and isinstance(plan.get("own"), dict),
        "data": isinstance(kept.get("data"), dict),
        "sizes": isinstance(kept.get("sizes"), dict),
        "parameters": isinstance(kept.get("parameters"), int),
        "tokens_per_update": isinstance(kept.get("tokens_per_update"), float),
    }
    if kept and (wrong := [key for key, fine in sound.items() if not fine]):
        raise BundleError(f"{path} is damaged.", found=f"{', '.join(wrong)} missing or wrong", do=do)
    return kept
