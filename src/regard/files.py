"""Writing files so that a reader finds the old one or the new one, never half of either."""

import os
from pathlib import Path

from regard.errors import LimitError


def write_atomically(path: Path, content: bytes) -> None:
    """To a temporary name, flushed to the disk, then renamed. If that fails, what was there before is still there."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _flush_directory(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        kept = "the previous file is intact" if path.exists() else "nothing was written"
        raise LimitError(
            f"Could not write {path}: {error.strerror or error}; {kept}.",
            found=f"{len(content):,} bytes to write",
            do="free some space, or write to another place; a training goes on with --resume",
        ) from error


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
