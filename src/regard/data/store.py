"""Token ids of a corpus: tokenised once, kept on disk, looked up row by row without being read into memory.

Small corpora are kept in memory instead. A corpus has columns (source and target, or one text); each is all its ids,
one text after the other, and where each text ends. What is on disk is found again by what the files hold and by the
tokenizers, so a changed file is another corpus.
"""

import json
import mmap
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from regard.errors import BundleError, LimitError
from regard.files import write_text

FORMAT, META = 1, "meta.json"
CHUNK, CHARACTERS = 20_000, 1 << 21
"""Rows that are tokenised at a time; fewer, if they have more characters than this."""
LONGEST = 65_000
TOGETHER = 64
"""Rows that are looked up before the files are let go."""
Row = tuple[str, ...]


@runtime_checkable
class Encodes(Protocol):
    """What is asked of a tokenizer; its length is one more than its highest id."""

    def __len__(self) -> int: ...
    def encode_all(self, texts: Iterable[str]) -> list[list[int]]: ...


@dataclass(frozen=True)
class Column:
    """The ids of all texts, and where each text ends."""

    ids: np.ndarray
    ends: np.ndarray
    maps: tuple[mmap.mmap, ...] = ()

    def __getitem__(self, row: int) -> np.ndarray:
        return self.ids[self.ends[row - 1] if row else 0 : self.ends[row]]

    def lengths(self) -> np.ndarray:
        """Ids of each text; LONGEST stands for more."""
        lengths = np.empty(len(self.ends), dtype=np.uint16)
        for first in range(0, len(lengths), 1 << 20):  # the ends may be larger than memory
            stretch = np.diff(self.ends[first : first + (1 << 20)], prepend=self.ends[first - 1] if first else 0)
            lengths[first : first + len(stretch)] = np.minimum(stretch, LONGEST)
        self.release()
        return lengths

    def release(self) -> None:
        """Lets go of the parts of the files that have been looked at: they count as ours otherwise."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for mapped in self.maps:
                mapped.madvise(mmap.MADV_DONTNEED)


@dataclass(frozen=True)
class Store:
    """The columns of a corpus."""

    columns: tuple[Column, ...]

    def __len__(self) -> int:
        return len(self.columns[0].ends)

    def lengths(self) -> np.ndarray:
        """(rows, columns)"""
        return np.stack([column.lengths() for column in self.columns], axis=1)

    def rows(self, numbers: Sequence[int]) -> list[list[np.ndarray]]:
        """The ids of some rows, for each column a list. They are copies: the files are let go, every few rows, since a
        look at one row brings 64 kB of its file along."""
        found: list[list[np.ndarray]] = [[] for _ in self.columns]
        for first in range(0, len(numbers), TOGETHER):
            for texts, column in zip(found, self.columns, strict=True):
                texts += [np.array(column[number]) for number in numbers[first : first + TOGETHER]]
                column.release()
        return found


def in_memory(rows: Iterable[Row], tokenizers: Sequence[Encodes]) -> Store:
    """Tokenised, and kept here."""
    chunks = list(_chunks(rows, tokenizers))
    columns = [[np.concatenate(arrays) for arrays in zip(*column, strict=True)] for column in zip(*chunks, strict=True)]
    return Store(tuple(Column(ids, np.cumsum(lengths)) for ids, lengths in columns))


def on_disk(place: Path) -> Store:
    """What `write` wrote there."""
    meta = _meta(place)
    columns = []
    for number, dtype in enumerate(meta["columns"]):
        ids, ends = (_mapped(place / f"{number}.{kind}", meta) for kind in ("ids", "ends"))
        columns.append(Column(np.frombuffer(ids, dtype), np.frombuffer(ends, np.int64), (ids, ends)))
    return Store(tuple(columns))


def write(place: Path, rows: Iterable[Row], tokenizers: Sequence[Encodes], notes: Callable[[], Any]) -> None:
    """Tokenises rows into a directory. notes: gives what is to be kept beside them, when all rows are read."""
    publish(place, lambda made: _fill(made, rows, tokenizers, notes))


def publish(place: Path, fill: Callable[[Path], None]) -> None:
    """Makes a directory that appears when it is complete; if two make it at once, the first one stays."""
    made = place.with_name(f"{place.name}.{os.getpid()}.tmp")
    try:
        made.mkdir(parents=True, exist_ok=True)
        fill(made)
        try:
            made.rename(place)
        except OSError:
            if not place.exists():
                raise
    except OSError as error:
        raise LimitError(
            f"{place} could not be written: {error.strerror}.",
            do="free some space, or keep tokens elsewhere: set REGARD_CACHE to a directory",
        ) from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def cache_directory() -> Path:
    """Where tokens are kept: $REGARD_CACHE, or a place in the user's cache."""
    if own := os.environ.get("REGARD_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "regard"


def key(*what: Any) -> str:
    """A name for the tokens of certain texts by certain tokenizers."""
    return sha256(json.dumps([FORMAT, *what]).encode()).hexdigest()[:32]


def notes(place: Path) -> Any:
    """What was kept beside the tokens."""
    return _meta(place)["notes"]


def _fill(place: Path, rows: Iterable[Row], tokenizers: Sequence[Encodes], notes: Callable[[], Any]) -> None:
    kinds = [_dtype(tokenizer) for tokenizer in tokenizers]
    files = [[(place / f"{i}.{kind}").open("wb") for kind in ("ids", "ends")] for i in range(len(kinds))]
    ends = [0] * len(kinds)
    try:
        for chunk in _chunks(rows, tokenizers):
            for number, (ids, lengths) in enumerate(chunk):
                reached = ends[number] + np.cumsum(lengths)
                files[number][0].write(ids.tobytes())
                files[number][1].write(reached.tobytes())
                ends[number] = int(reached[-1])
    finally:
        for pair in files:
            for file in pair:
                file.close()
    _write_meta(place, [kind.name for kind in kinds], notes())


def _write_meta(place: Path, columns: Sequence[str], notes: Any) -> None:
    sizes = {path.name: path.stat().st_size for path in place.iterdir()}
    meta = {"format": FORMAT, "columns": columns, "sizes": sizes, "notes": notes}
    write_text(place / META, json.dumps(meta, ensure_ascii=False))


def _chunks(rows: Iterable[Row], tokenizers: Sequence[Encodes]) -> Iterator[list[tuple[np.ndarray, np.ndarray]]]:
    """For each column, the ids of a chunk of rows and how many each text has."""
    for chunk in _cut(rows):
        found = []
        for texts, tokenizer in zip(zip(*chunk, strict=True), tokenizers, strict=True):
            encoded = tokenizer.encode_all(texts)
            lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
            flat = (id for ids in encoded for id in ids)
            found.append((np.fromiter(flat, dtype=_dtype(tokenizer), count=int(lengths.sum())), lengths))
        yield found


def _cut(rows: Iterable[Row]) -> Iterator[list[Row]]:
    chunk: list[Row] = []
    characters = 0
    for row in rows:
        chunk.append(row)
        characters += sum(map(len, row))
        if len(chunk) >= CHUNK or characters >= CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def _dtype(tokenizer: Encodes) -> np.dtype[Any]:
    return np.dtype(np.uint16 if len(tokenizer) <= 1 << 16 else np.uint32)


def _meta(place: Path) -> dict[str, Any]:
    try:
        meta: dict[str, Any] = json.loads((place / META).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _damaged(place / META, str(error)) from None
    return meta


def _mapped(path: Path, meta: dict[str, Any]) -> mmap.mmap:
    size, wanted = path.stat().st_size if path.exists() else 0, meta["sizes"][path.name]
    if size != wanted:
        raise _damaged(path, f"{size:,} bytes, not {wanted:,}")
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _damaged(path: Path, found: str) -> BundleError:
    return BundleError(
        f"The tokens kept in {path} are damaged.", found=found, do=f"delete {path.parent}: it will be made anew"
    )
