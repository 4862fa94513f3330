"""From a document to files: report.html, report.md, report.json and pictures/."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, is_dataclass, replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from regard.errors import DataError
from regard.files import write_atomically, write_text
from regard.report import html, markdown
from regard.report.document import Block, Picture, Pictures, Plot, Report
from regard.report.plots import draw_plot


def write(report: Report, directory: Path | str) -> Path:
    """Write the report into a directory and return the path of its page. What else lies there is left alone."""
    directory = Path(directory)
    numbers = json.dumps(plain(report.data), indent=2, ensure_ascii=False, allow_nan=False)
    drawn = _with_pictures(report, directory / "pictures")
    # half a surrogate pair (a file name may have one) is written as JSON's own escape
    write_atomically(directory / "report.json", f"{numbers}\n".encode("utf-8", "backslashreplace"))
    write_text(directory / "report.md", markdown.text(drawn))
    write_text(directory / "report.html", html.page(drawn))
    return directory / "report.html"


def write_page(report: Report, path: Path | str) -> Path:
    """Write only the page, which needs no other file."""
    path = Path(path)
    with TemporaryDirectory() as folder:
        write_text(path, html.page(_with_pictures(report, Path(folder))))
    return path


def plain(value: Any) -> Any:
    """A value as JSON can hold it: dataclasses become objects, numpy's numbers numbers; what is no number, null."""
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {_key(key): plain(content) for key, content in value.items()}
    if isinstance(value, list | tuple):
        return [plain(content) for content in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Path):
        return str(value)
    raise DataError("The data of a report must be plain.", found=f"{type(value).__name__}: {value!r}"[:200])


def _key(key: Any) -> str:
    if isinstance(key, str | int):
        return str(key)
    raise DataError("The data of a report has a key that JSON does not know.", found=repr(key), wanted="a text")


def _with_pictures(report: Report, folder: Path) -> Report:
    """The report with all its plots drawn, and all its pictures in the folder, numbered as they come."""
    numbers = count(1)
    sections = [
        replace(section, blocks=[_in_folder(block, folder, numbers) for block in section.blocks])
        for section in report.sections
    ]
    return replace(report, sections=sections)


def _in_folder(block: Block, folder: Path, numbers: Iterator[int]) -> Block:
    if isinstance(block, Plot):
        name = _name(next(numbers), block.title, ".svg")
        return Picture(draw_plot(block, folder / name), block.alt(), block.caption)
    if isinstance(block, Picture):
        return replace(block, file=_kept(block.file, folder, next(numbers)))
    if isinstance(block, Pictures):
        return Pictures([replace(one, file=_kept(one.file, folder, next(numbers))) for one in block.pictures])
    return block


def _kept(file: Path, folder: Path, number: int) -> Path:
    """A copy of a picture in the folder, or the picture itself if it was drawn there."""
    suffix = file.suffix.lower()
    if suffix not in html.TYPES or not file.is_file():
        raise DataError(
            "A report cannot show this picture.", found=str(file), wanted=f"an existing file: {' or '.join(html.TYPES)}"
        )
    if file.parent.resolve() == folder.resolve():
        return file
    path = folder / _name(number, file.stem, suffix)
    write_atomically(path, file.read_bytes())
    return path


def _name(number: int, title: str, suffix: str) -> str:
    """A file name that every system and every link can bear."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-")
    return f"{number:02}-{words}{suffix}" if words else f"{number:02}{suffix}"
