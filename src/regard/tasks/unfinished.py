"""A file that grows for hours, and may be broken off at any moment: it is gone on with at the first line that it lacks.

The file itself says how far it has come; a note beside it (out.txt.regard.json) says how it is made, until it is
complete. Who goes on must do the same with the same input.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from regard.config import Tree, leaves
from regard.errors import ConfigError, DataError, LimitError
from regard.files import write_text

NOTE = ".regard.json"
BLOCK = 1 << 20


class Reached(NamedTuple):
    """How far a file has come: up to which line of the input, how many of them are sure to be complete, and in how many
    bytes."""

    line: int
    done: int
    size: int


@dataclass(frozen=True)
class Making:
    """How a file is made: what must be the same when it is gone on with. numbered: each line begins with the number of
    the line of the input that it belongs to, and a tab; else line N belongs to line N."""

    facts: Tree
    lines: int
    numbered: bool = False


class Output:
    """A file to which text is added. Without `making` it cannot be gone on with: the input comes only once."""

    def __init__(self, path: Path, making: Making | None) -> None:
        self.path, self.note = path, path.with_name(path.name + NOTE)
        self.making = None if path.exists() and not path.is_file() else making  # a pipe keeps nothing
        self._file: IO[bytes] | None = None
        self._kept = 0

    @property
    def lasting(self) -> bool:
        """Whether it can be gone on with."""
        return self.making is not None

    def begun(self, *, resume: bool) -> int:
        """How many lines of the input are done already. It only looks: nothing is changed."""
        held = self.path.is_file() and self.path.stat().st_size > 0
        if held and not resume and self.note.exists():
            raise ConfigError(
                f"{self.path} is not complete: it was broken off.",
                found=f"{self.note.name} beside it",
                do=f"go on with --resume, or delete {self.path} to start anew",
            )
        if not resume or not held:
            return 0
        if self.making is None:
            told = f"{self.path} cannot be gone on with: its input comes only once."
            raise ConfigError(told, do="give a file with --input, or leave out --resume")
        return self._missing_from(self.making)

    def jobs(self) -> int | None:
        """How many processes were found to be the fastest, if somebody has measured."""
        return _read(self.note).get("jobs") if self.note.exists() else None

    def remember(self, jobs: int) -> None:
        """How many processes are the fastest."""
        if self.making:
            self._write_note({"jobs": jobs})

    def write(self, text: str, *, last: bool = False) -> None:
        """At once and whole, as far as the system goes along. last: nothing comes after it, and it is on the disk."""
        try:
            if self._file is None:
                self._file = self._opened()
            self._file.write(text.encode("utf-8", errors="backslashreplace"))
            self._file.flush()
            if last and self.making:
                os.fsync(self._file)
            if last:
                self._file.close()
        except OSError as error:
            self.close()
            raise LimitError(
                f"Could not write {self.path}: {error.strerror or error}.",
                do="make room, then go on with --resume" if self.making else "make room, or write elsewhere",
            ) from error

    def finish(self) -> None:
        """All is written: the note can go."""
        self.write("", last=True)
        if self.making:
            self.note.unlink(missing_ok=True)

    def close(self) -> None:
        """Lets go of the file, whatever is still to come."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()

    def _missing_from(self, making: Making) -> int:
        reached = _reached(self.path, numbered=making.numbered)
        if reached.line > making.lines:
            raise DataError(
                f"{self.path} has more lines than the input: it belongs to another one.",
                found=f"{reached.line:,} lines",
                wanted=f"at most {making.lines:,}",
                do="give the input that it was made from, or another --output",
            )
        if not self.note.exists():
            if reached.line == making.lines:
                self._kept = self.path.stat().st_size
                return making.lines
            raise ConfigError(
                f"Nobody knows how {self.path} was made.",
                found=f"{reached.line:,} of {making.lines:,} lines, and no {self.note.name} beside it",
                do=f"delete {self.path}, or call without --resume, to start anew",
            )
        self._agree(making)
        self._kept = reached.size
        return reached.done

    def _agree(self, making: Making) -> None:
        """Refuses what would give other lines than those that are there."""
        before, now = (dict(leaves(facts)) for facts in (_read(self.note).get("made", {}), making.facts))
        for key in sorted(before.keys() | now.keys()):
            if before.get(key) != now.get(key):
                raise ConfigError(
                    f"{self.path} was begun with another {' '.join(key)}.",
                    found=_shown(now.get(key)),
                    wanted=_shown(before.get(key)),
                    do=f"call it as it was begun, or delete {self.path} to start anew",
                )

    def _opened(self) -> IO[bytes]:
        """Ready for what comes next. An older output is gone before the note says how the new one is made."""
        if self.making is None:
            self.note.unlink(missing_ok=True)
            return self.path.open("wb")
        self._file = file = self.path.open("ab")  # known from now on: whatever happens, it is closed
        _take(file, self.path)
        file.truncate(self._kept)
        if not self._kept:
            os.fsync(file)
            self._write_note({})
        return file

    def _write_note(self, more: Mapping[str, Any]) -> None:
        facts = {"made": self.making.facts if self.making else {}, **more}
        write_text(self.note, json.dumps(facts, indent=2, ensure_ascii=False) + "\n")


def _reached(path: Path, *, numbered: bool) -> Reached:
    return _by_number(path) if numbered else _by_lines(path)


def _by_lines(path: Path) -> Reached:
    lines = size = at = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            lines += block.count(b"\n")
            if (last := block.rfind(b"\n")) >= 0:
                size = at + last + 1
            at += len(block)
    return Reached(lines, lines, size)


def _by_number(path: Path) -> Reached:
    """Several lines may belong to one of the input: those of the last one are made again, since more may be missing."""
    number = size = at = 0
    with path.open("rb") as file:
        for raw in file:
            found = raw.partition(b"\t")[0]
            if raw.endswith(b"\n") and found.isdigit() and int(found) != number:
                number, size = int(found), at
            at += len(raw)
    return Reached(number, max(number - 1, 0), size)


def _read(note: Path) -> Tree:
    try:
        content = json.loads(note.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise ConfigError(
            f"{note} is damaged.", found=str(error), do="delete it and its output, to start anew"
        ) from None
    return content if isinstance(content, dict) else {}


def _take(file: IO[bytes], path: Path) -> None:
    """Keeps others out while this process writes; the system opens the lock if it dies."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_NB | fcntl.LOCK_EX)
    except BlockingIOError:
        raise ConfigError(
            f"Another process is writing {path}.", do="wait for it, stop it, or write elsewhere"
        ) from None
    except OSError:  # a file system without locks
        return


def _shown(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:16]}…"
