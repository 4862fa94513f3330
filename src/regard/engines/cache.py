"""Where converted models lie: beside the model, or in a cache directory where that may not be written.

The name of a conversion holds a fingerprint of all that it was made of. It is written under another name and then
renamed, so that a reader finds all of it or nothing, and two processes at once do not disturb each other.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from torch import nn

from regard import weights
from regard.data.store import cache_directory
from regard.engines.conversion import Words
from regard.errors import LimitError

FORMAT = 1
"""Another number if conversions are made in another way."""
FOLDER, STEM = "engines", "ctranslate2"
UNUSED = 24 * 3600.0
"""Seconds after which nobody is about to open a conversion, or still at making one."""


def fingerprint(model: nn.Module, words: Sequence[Words]) -> str:
    """SHA-256 of all that a conversion is made of: weights, settings, names of tokens."""
    return weights.fingerprint(model, FORMAT, type(model).__name__, model.config, words)


def kept(key: str, place: Path | None, make: Callable[[Path], None]) -> Path:
    """The directory of a conversion; `make` fills it if it is not there. place: the model's own directory, if it has
    one."""
    name = f"{STEM}-{key[:24]}"
    homes = [home / FOLDER for home in (place, cache_directory()) if home is not None]
    for home in homes:
        if (home / name).is_dir():
            return home / name
    for home in homes:
        with suppress(OSError):
            return _made(home / name, make, alone=home != homes[-1])
    raise LimitError(
        "There is no place for the converted model.",
        found=", ".join(f"{home} cannot be written" for home in homes),
        do="set REGARD_CACHE to a directory that can be written, or take --engine torch",
    )


def _made(goal: Path, make: Callable[[Path], None], *, alone: bool) -> Path:
    """alone: what else is there was made of weights that the model no longer has, and goes, once nobody can be about to
    open it; so do drafts of those who were killed."""
    goal.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{goal.name}-", dir=goal.parent))
    try:
        make(draft)
        _flush(draft)
        draft.chmod(goal.parent.stat().st_mode & 0o777)
        try:
            draft.rename(goal)
        except OSError:
            if not goal.is_dir():  # else another process was first
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    old = [*goal.parent.glob(f".{STEM}-*"), *(goal.parent.glob(f"{STEM}-*") if alone else ())]
    for other in old:
        if other != goal and _age(other) > UNUSED:
            shutil.rmtree(other, ignore_errors=True)
    return goal


def _age(path: Path) -> float:
    """Seconds since something was put into a directory; 0 if it is gone."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _flush(directory: Path) -> None:
    """Onto the disk, before it gets the name that readers look for."""
    for path in directory.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
