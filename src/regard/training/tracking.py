"""What a run writes down: metrics.jsonl is the truth; the curves are drawn from it."""

import json
from pathlib import Path
from typing import Any

from regard.errors import LimitError
from regard.files import write_text

FILE = "metrics.jsonl"


class Metrics:
    """One line of JSON per record, appended as it happens."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE

    def rewind(self, updates: int) -> None:
        """Forgets what was recorded after this update: a resumed run records it again."""
        kept = [line for line in self.records() if line["update"] <= updates]
        write_text(self.path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in kept))

    def add(self, kind: str, update: int, values: dict[str, Any]) -> None:
        record = {"kind": kind, "update": update, **values}
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
        except OSError as error:
            raise LimitError(
                f"Could not write {self.path}: {error.strerror}.", do="free some space, then --resume"
            ) from error

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
