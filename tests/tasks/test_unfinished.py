"""Files that are broken off and gone on with."""

import errno
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from regard.errors import ConfigError, DataError, LimitError
from regard.tasks.unfinished import Making, Output

FACTS: dict[str, Any] = {"model": "abc", "beam": 5, "penalty": 0.6, "window": [3, 4], "top_k": None}
TEXT = "eins\nzwei\ndrei 猫\nvier\n"


def output(path: Path, lines: int = 4, *, numbered: bool = False, **facts: Any) -> Output:
    return Output(path, Making({**FACTS, **facts}, lines, numbered=numbered))


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """An output of four lines, the last of which is missing."""
    path = tmp_path / "out.txt"
    begun = output(path)
    assert begun.begun(resume=False) == 0
    begun.write("eins\nzwei\ndrei 猫\n")
    begun.close()
    return path


def note(path: Path) -> Path:
    return path.with_name(path.name + ".regard.json")


def test_a_note_lies_beside_it_until_all_is_done(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    whole = output(path)
    whole.begun(resume=False)
    assert not path.exists()
    whole.write("eins\n")
    assert path.read_text() == "eins\n"
    assert json.loads(note(path).read_text())["made"] == FACTS
    whole.write("zwei\ndrei 猫\nvier\n")
    whole.finish()
    assert path.read_text(encoding="utf-8") == TEXT
    assert not note(path).exists()


@pytest.mark.parametrize("kept", range(len(TEXT.encode()) + 1))
def test_wherever_it_was_cut_it_goes_on_at_the_first_missing_line(broken: Path, kept: int) -> None:
    broken.write_bytes(TEXT.encode()[:kept])
    again = output(broken)
    done = again.begun(resume=True)
    assert done == TEXT.encode()[:kept].count(b"\n")
    assert broken.read_bytes() == TEXT.encode()[:kept]  # it has only looked
    again.write("".join(TEXT.splitlines(keepends=True)[done:]))
    again.finish()
    assert broken.read_text(encoding="utf-8") == TEXT


NUMBERED = "1\t-0.5\teins\n1\t-0.7\tein\n2\t-0.1\tzwei\n3\t-0.2\tdrei\n3\t-0.3\tdreie\n4\t0\t\n"


@pytest.mark.parametrize("kept", range(len(NUMBERED) + 1))
def test_of_numbered_lines_those_of_the_last_number_are_made_again(broken: Path, kept: int) -> None:
    broken.write_text(NUMBERED[:kept])
    again = output(broken, numbered=True)
    done = again.begun(resume=True)
    complete = NUMBERED[:kept].split("\n")[:-1]
    assert done == max(0, (int(complete[-1].split("\t")[0]) if complete else 0) - 1)
    rest = [line for line in NUMBERED.splitlines(keepends=True) if int(line.split("\t")[0]) > done]
    again.write("".join(rest))
    again.finish()
    assert broken.read_text() == NUMBERED


def test_without_resume_what_is_unfinished_is_not_overwritten(broken: Path) -> None:
    with pytest.raises(ConfigError, match="broken off") as told:
        output(broken).begun(resume=False)
    assert "--resume" in told.value.do
    broken.unlink()
    assert output(broken).begun(resume=False) == 0  # a note without a file is nothing


def test_without_a_note_an_old_output_is_replaced_when_there_is_a_new_line(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old\n" * 9)
    fresh = output(path)
    assert fresh.begun(resume=False) == 0
    assert path.read_text() == "old\n" * 9
    fresh.write("new\n")
    assert path.read_text() == "new\n"
    fresh.close()


def test_resume_without_anything_begins(tmp_path: Path) -> None:
    assert output(tmp_path / "out.txt").begun(resume=True) == 0
    (tmp_path / "empty").touch()
    assert output(tmp_path / "empty").begun(resume=True) == 0


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"beam": 4}, "begun with another beam"),
        ({"model": "abd"}, "another model"),
        ({"penalty": 0.7}, "another penalty"),
        ({"window": [3, 5]}, "another window"),
        ({"top_k": 4}, "another top_k"),
        ({"new": True}, "another new"),
    ],
)
def test_what_was_made_otherwise_is_refused(broken: Path, facts: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        output(broken, **facts).begun(resume=True)


def test_more_lines_than_the_input_are_refused(broken: Path) -> None:
    with pytest.raises(DataError, match="more lines than the input") as told:
        output(broken, lines=2).begun(resume=True)
    assert (told.value.found, told.value.wanted) == ("3 lines", "at most 2")
    broken.write_text(NUMBERED)
    with pytest.raises(DataError, match="more lines than the input"):
        output(broken, lines=3, numbered=True).begun(resume=True)


def test_without_a_note_only_a_complete_output_is_believed(broken: Path) -> None:
    note(broken).unlink()
    with pytest.raises(ConfigError, match="Nobody knows how"):
        output(broken).begun(resume=True)
    complete = output(broken, lines=3)
    assert complete.begun(resume=True) == 3
    complete.finish()
    assert broken.read_text(encoding="utf-8") == "eins\nzwei\ndrei 猫\n"


def test_a_damaged_note_is_told(broken: Path) -> None:
    note(broken).write_text("{")
    with pytest.raises(ConfigError, match="is damaged"):
        output(broken).begun(resume=True)


def test_two_cannot_write_at_once(broken: Path) -> None:
    one, other = output(broken), output(broken)
    assert one.begun(resume=True) == other.begun(resume=True) == 3
    one.write("vier\n")
    with pytest.raises(ConfigError, match="Another process is writing"), closing(other):
        other.write("vier\n")
    one.finish()
    assert broken.read_text(encoding="utf-8") == TEXT


def test_how_many_processes_are_fastest_is_remembered(broken: Path) -> None:
    again = output(broken)
    assert (again.begun(resume=True), again.jobs()) == (3, None)
    again.remember(2)
    assert output(broken).jobs() == 2
    assert output(broken).begun(resume=True) == 3


def test_an_empty_input_gives_an_empty_file(tmp_path: Path) -> None:
    empty = output(tmp_path / "out.txt", lines=0)
    empty.begun(resume=False)
    empty.finish()
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]
    assert (tmp_path / "out.txt").read_bytes() == b""


def test_what_comes_only_once_leaves_no_note(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    once = Output(path, None)
    assert once.begun(resume=False) == 0
    once.write("eins\n")
    assert [each.name for each in tmp_path.iterdir()] == ["out.txt"]
    once.finish()
    with pytest.raises(ConfigError, match="comes only once"):
        Output(path, None).begun(resume=True)


def test_what_comes_only_once_does_not_overwrite_what_was_broken_off(broken: Path) -> None:
    with pytest.raises(ConfigError, match="broken off"):
        Output(broken, None).begun(resume=False)
    broken.unlink()
    once = Output(broken, None)
    assert once.begun(resume=False) == 0
    once.write("eins\n")
    once.finish()
    assert not note(broken).exists()  # it told of another output


def test_a_device_is_written_to_as_it_is() -> None:
    device = output(Path("/dev/null"))
    assert device.begun(resume=False) == 0
    device.write("eins\n")
    device.finish()
    assert not Path("/dev/null.regard.json").exists()


def test_the_note_stays_until_all_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = output(tmp_path / "out.txt")
    made.begun(resume=False)
    made.write("eins\n")

    def full(file: object) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr("regard.tasks.unfinished.os.fsync", full)
    with pytest.raises(LimitError, match="Disk quota exceeded") as told:
        made.finish()
    assert told.value.do == "make room, then go on with --resume"
    assert note(tmp_path / "out.txt").exists()


def test_a_full_disk_is_told(broken: Path) -> None:
    full = Output(Path("/dev/full"), None)
    full.begun(resume=False)
    with pytest.raises(LimitError, match="Could not write") as told:
        full.write("eins\n")
    assert isinstance(told.value.__cause__, OSError)
    assert told.value.__cause__.errno == errno.ENOSPC
