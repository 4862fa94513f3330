"""Writing files: what was there is replaced as a whole, or not at all."""

import os
import threading
from pathlib import Path

import pytest

from regard.errors import LimitError
from regard.files import write_atomically, write_text


def test_a_file_is_replaced_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    path.chmod(0o600)
    write_text(path, "新")
    assert path.read_text(encoding="utf-8") == "新"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["x"]


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "through")
    reader.join()
    assert heard == ["through"]
    assert pipe.is_fifo()


def test_directories_are_made(tmp_path: Path) -> None:
    write_text(tmp_path / "new" / "deep" / "x", "here")
    assert (tmp_path / "new" / "deep" / "x").read_text() == "here"


@pytest.mark.parametrize("name", ["file/x", "."])
def test_what_cannot_be_written_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(LimitError, match="Could not write"):
        write_atomically(tmp_path / name, b"x")
