"""From directories to what is known of the runs in them."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard import bundle
from regard.config import Tree
from regard.errors import DataError, RegardError
from regard.lab.compare.figures import FIGURES, training_speed
from regard.training import checkpoint, directory, tracking
from regard.training.records import FINISHED, STOPPED
from regard.weights import describe

RUNNING, KILLED, DIVERGED, DAMAGED = "running", "killed", "diverged", "damaged"
MARKS = (bundle.CONFIG, directory.RUN, tracking.FILE, checkpoint.FILE)
"""Files of a run; a directory with two of them is taken for one."""


@dataclass(frozen=True)
class Best:
    """The validation that was the best of its run: after which update, by which figure."""

    update: int
    metric: str
    value: float
    text: str


@dataclass(frozen=True)
class KnownRun:
    """What is known of a run; of a damaged one no more than its place and what is wrong with it."""

    name: str
    path: Path
    state: str
    why: str = ""
    began: str = ""
    model: str = ""
    seed: int | None = None
    parameters: int | None = None
    updates: int = 0
    planned: int = 0
    best: Best | None = None
    test: str = ""
    seconds: float = 0.0
    tokens_per_second: float | None = None
    config: Tree = field(default_factory=dict)
    data: Tree = field(default_factory=dict)
    sessions: list[Tree] = field(default_factory=list)
    records: list[Tree] = field(default_factory=list)


def find(places: Iterable[Path]) -> list[KnownRun]:
    """All runs in or under these directories, the newest first. Their names are their places below all of these."""
    roots = [place.resolve() for place in places]
    for root in roots:
        if not root.is_dir():
            raise DataError(f"There is no directory {root}.", do="give directories that hold runs")
    base = Path(os.path.commonpath(roots))
    paths = dict.fromkeys(path for root in roots for path in _runs_under(root))
    runs = [read(path, base.name if path == base else path.relative_to(base).as_posix()) for path in paths]
    return sorted(runs, key=lambda run: run.began, reverse=True)


def read(path: Path, name: str) -> KnownRun:
    """One run. Whatever is wrong with its files is told in its `why`."""
    try:
        return _read(path, name)
    except RegardError as error:
        return KnownRun(name, path, DAMAGED, error.what)
    except (OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        return KnownRun(
            name, path, DAMAGED, f"Its files do not hold what they should ({type(error).__name__}: {error})."
        )


def _runs_under(place: Path) -> Iterator[Path]:
    """Directories that are runs. Links are not followed, hidden directories and what is inside of runs passed over."""
    for folder, folders, files in os.walk(place):
        if len(set(MARKS) & set(files)) > 1 and _ours(Path(folder)):
            folders.clear()
            yield Path(folder)
        folders[:] = sorted(name for name in folders if not name.startswith("."))


def _ours(folder: Path) -> bool:
    """Other tools have files of these names, too."""
    said = []
    for file, key in ((bundle.CONFIG, "format"), (directory.RUN, "asked")):
        with suppress(OSError, ValueError, TypeError):
            said.append(key in json.loads((folder / file).read_text(encoding="utf-8")))
    return any(said) or not said


def _read(path: Path, name: str) -> KnownRun:
    running = directory.at_work(path)  # asked before and after, lest one that just ends or begins seems to be killed
    config, run, card = bundle.read_config(path), bundle.read_json(path / directory.RUN), bundle.read_card(path)
    records = [{**record, "update": int(record["update"])} for record in tracking.Metrics(path).records()]
    sessions, size = run.get("sessions", []), run.get("parameters", card.get("parameters"))
    state, why = (RUNNING, "") if running or directory.at_work(path) else _state(sessions, card)
    for file in (bundle.WEIGHTS, checkpoint.FILE):
        if (path / file).exists() or (state == FINISHED and file == bundle.WEIGHTS):
            describe(path / file)
    end = sessions[-1].get("ended", {}) if sessions else {}
    seconds = [record["seconds"] for record in records if record["kind"] == "train"]
    return KnownRun(
        name=name,
        path=path,
        state=state,
        why=why,
        began=str(sessions[0]["began"]) if sessions else "",
        model=config["model"]["name"],
        seed=int(config["seed"]),
        parameters=None if size is None else int(size),
        updates=int(end.get("updates", records[-1]["update"] if records else 0)),
        planned=int(config["training"]["updates"]),
        best=_best(records, str(config["training"]["metric"])),
        test=_test(path, card),
        seconds=float(end.get("seconds", seconds[-1] if seconds else 0.0)),
        tokens_per_second=training_speed(path),
        config={key: value for key, value in config.items() if key != "format"},
        data={split: str(digest) for split, digest in run["data"].items()},
        sessions=sessions,
        records=records,
    )


def _state(sessions: list[Tree], card: Tree) -> tuple[str, str]:
    """How a run ended, and why it has failed if it has."""
    if not sessions:
        return (FINISHED if card else STOPPED), ""
    end = sessions[-1].get("ended")
    if end is None:
        return KILLED, ""
    return DIVERGED if "diverged" in end["why"] else str(end["how"]), end["why"]


def _best(records: list[Tree], metric: str) -> Best | None:
    found = [record for record in records if record["kind"] == "validation" and record["best"]]
    if not found:
        return None
    value = float(found[-1][metric])
    text = _short(found[-1]["headline"]) if metric == "score" else f"{metric} {value:.4g}"
    return Best(found[-1]["update"], metric, value, text)


def _test(path: Path, card: Tree) -> str:
    """What the finished model scores on the test set, which in a comparison it meets only afterwards."""
    if figures := card.get("scores", {}).get("test"):
        return _short(figures["headline"])
    figures = bundle.read_json(path / FIGURES) if (path / FIGURES).exists() else {}
    return f"BLEU {figures['bleu']:.2f}" if figures else ""


def _short(headline: Any) -> str:
    """The first figure of a headline."""
    return str(headline).split("  ")[0].split(" (")[0]
