"""What a run writes down: metrics.jsonl is the truth; curves and TensorBoard's event files only repeat it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from regard.config import leaves
from regard.errors import LimitError
from regard.files import write_text

FILE, EVENTS = "metrics.jsonl", "tensorboard"


class Metrics:
    """One line of JSON per record, appended as it happens; tensorboard: its numbers also as event files."""

    def __init__(self, directory: Path, *, tensorboard: bool = False) -> None:
        self.path = directory / FILE
        self._tensorboard = tensorboard
        self._events: Events | None = None

    def __enter__(self) -> "Metrics":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._events is not None:
            self._events.close()

    def rewind(self, updates: int) -> None:
        """Forgets what was recorded after this update: a resumed run records it again."""
        kept = [line for line in self.records() if line["update"] <= updates]
        write_text(self.path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in kept))
        if self._tensorboard:
            with _told(self.path.parent / EVENTS):
                self._events = Events(self.path.parent / EVENTS, updates)

    def add(self, kind: str, update: int, values: dict[str, Any]) -> None:
        record = {"kind": kind, "update": update, **values}
        with _told(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
        if self._events is not None:
            with _told(self.path.parent / EVENTS):
                self._events.add(kind, update, values)

    def records(self) -> list[dict[str, Any]]:
        """All that was recorded; lines that a crash has cut short are left out."""
        if not self.path.exists():
            return []
        records = []
        for line in self.path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]:
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue
            if isinstance(record, dict) and "update" in record:
                records.append(record)
        return records


class Events:
    """The numbers among the records as TensorBoard reads them: "train/loss", "validation/score" …"""

    def __init__(self, directory: Path, updates: int) -> None:
        """TensorBoard forgets what was written after so many updates before: it will be written again."""
        from torch.utils.tensorboard import SummaryWriter

        self._writer: Any = SummaryWriter(directory, purge_step=updates + 1)

    def add(self, kind: str, update: int, values: dict[str, Any]) -> None:
        for path, value in leaves({kind: values}):
            if isinstance(value, int | float) and not isinstance(value, bool):
                self._writer.add_scalar("/".join(path), value, update)
        self._writer.flush()

    def close(self) -> None:
        with suppress(OSError):  # everything was flushed before, or that was told
            self._writer.close()


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LimitError(f"Could not write {path}: {error.strerror}.", do="free some space, then --resume") from error
