"""Traces on disk: .npz (float32, compact) and .json (readable). Both come back exactly; no pickle is run."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

import numpy as np

from regard.errors import ConfigError, DataError, RegardError
from regard.files import write_atomically, write_text
from regard.insight import html
from regard.insight.pictures import picture_of
from regard.insight.tokens import Token, TokenRow
from regard.insight.trace import Trace

FORMAT = "regard.trace"
VERSION = 1
Way = TypeVar("Way")


def save(trace: Trace, path: Path | str) -> Path:
    """Write a trace as its suffix says: .npz, .json, a picture .svg, .png, or a page .html."""
    path = Path(path)
    write = _by_suffix(path, WRITERS)
    write(trace, path)
    return path


def load(path: Path | str) -> Trace:
    """Read a trace that `save` wrote as .npz or .json."""
    path = Path(path)
    read = _by_suffix(path, READERS)
    if not path.is_file():
        raise DataError(f"There is no trace at {path}.", do="check the path; save one with trace.save(path)")
    try:
        return read(path)
    except RegardError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, OSError, BadZipFile) as error:
        raise DataError(
            f"{path} is not a trace, or is damaged.",
            found=f"{type(error).__name__}: {error}",
            wanted="a file written by trace.save()",
        ) from error


def _write_npz(trace: Trace, path: Path) -> None:
    header = np.frombuffer(json.dumps(_header(trace), ensure_ascii=False).encode(), dtype=np.uint8)
    arrays = {f"weights/{name}": weights for name, weights in trace.weights.items()}
    file = BytesIO()
    np.savez_compressed(file, allow_pickle=False, header=header, **arrays)
    write_atomically(path, file.getvalue())


def _read_npz(path: Path) -> Trace:
    with np.load(path, allow_pickle=False) as file:
        header = json.loads(file["header"].tobytes())
        return _trace(header, {name: file[f"weights/{name}"] for name in _axes(header)})


def _write_json(trace: Trace, path: Path) -> None:
    # by way of str, since that is the shortest decimal that gives the same float32 back: 0.61, not 0.6100000143051147
    weights = {name: array.astype(str).astype(float).tolist() for name, array in trace.weights.items()}
    write_text(path, json.dumps({**_header(trace), "weights": weights}, ensure_ascii=False))


def _read_json(path: Path) -> Trace:
    header = json.loads(path.read_text(encoding="utf-8"))
    arrays = {}
    for name, (asks, reads) in _axes(header).items():
        T, S = (len(header["rows"][row]["tokens"]) for row in (asks, reads))
        array = np.array(header["weights"][name], dtype=np.float32)
        arrays[name] = array if array.size else array.reshape(len(array), T, S)  # lists forget empty axes
    return _trace(header, arrays)


def _write_page(trace: Trace, path: Path) -> None:
    write_text(path, html.page(trace))


def _draw(trace: Trace, path: Path) -> None:
    picture_of(trace)(trace, path=path)


WRITERS: dict[str, Callable[[Trace, Path], None]] = {
    ".npz": _write_npz,
    ".json": _write_json,
    ".svg": _draw,
    ".png": _draw,
    ".html": _write_page,
}
READERS: dict[str, Callable[[Path], Trace]] = {".npz": _read_npz, ".json": _read_json}


def _header(trace: Trace) -> dict[str, Any]:
    rows = {name: asdict(row) for name, row in trace.rows.items()}
    return {"format": FORMAT, "version": VERSION, "rows": rows, "axes": dict(trace.axes), "meta": dict(trace.meta)}


def _axes(header: dict[str, Any]) -> dict[str, tuple[str, str]]:
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        raise DataError(
            "The file is not a trace that this version can read.",
            found=f"format {header.get('format')}, version {header.get('version')}",
            wanted=f"format {FORMAT}, version {VERSION}",
        )
    return {name: (asks, reads) for name, (asks, reads) in header["axes"].items()}


def _trace(header: dict[str, Any], weights: dict[str, np.ndarray]) -> Trace:
    rows = {name: _row(row) for name, row in header["rows"].items()}
    return Trace(rows=rows, weights=weights, axes=_axes(header), meta=header["meta"])


def _row(row: dict[str, Any]) -> TokenRow:
    tokens = tuple(Token(**{**token, "ids": tuple(token["ids"])}) for token in row["tokens"])
    return TokenRow(row["text"], tokens, row["language"])


def _by_suffix(path: Path, table: Mapping[str, Way]) -> Way:
    if path.suffix.lower() not in table:
        raise ConfigError(
            "The suffix of a trace says what to write or read.",
            found=path.suffix or f"no suffix in {path.name}",
            wanted=f"one of {', '.join(table)}",
        )
    return table[path.suffix.lower()]
