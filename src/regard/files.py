"""Writing files so that a reader finds the old one or the new one, never half of either."""

import os
from pathlib import Path

from regard.errors import LimitError


def write_atomically(path: Path, content: bytes) -> None:
    """To a temporary name, flushed to the disk, then renamed. If that fails, what was there before is still there.

    A link is followed, permissions are kept, and what is not an ordinary file (a pipe, /dev/null) is simply written to.
    """
    goal = path.resolve()
    try:
        if goal.exists() and not goal.is_file() and not goal.is_dir():
            goal.write_bytes(content)
        else:
            _replace(goal, content)
    except OSError as error:
        kept = "the previous file is intact" if goal.is_file() else "nothing was written"
        raise LimitError(
            f"Could not write {path}: {error.strerror or error}; {kept}.",
            do="free some space, or write to another place; a training goes on with --resume",
        ) from error


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o7777)
        temporary.replace(path)
        _flush_directory(path.parent)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """The same for text, in UTF-8."""
    write_atomically(path, text.encode("utf-8"))


def _flush_directory(directory: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
