"""A library is translated to the same bytes, whoever does it, and however often it is broken off."""

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.errors import ConfigError, DataError, LimitError, RegardError
from regard.tasks import crew
from regard.tasks import windows as module
from regard.tasks.crew import Workshop
from regard.tasks.engine import Found, TorchEngine
from regard.tasks.library import FORMS, Library, Source, survey, texts_of
from regard.tasks.searching import Asked, Habits, Search
from regard.tasks.translator import Translator
from regard.tasks.unfinished import Output
from regard.tasks.windows import How, windows
from tests.tasks.libraries import brief, lines

HOW = How(Search(beam=1))


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINES", 8)


@pytest.fixture(scope="module")
def translator() -> Translator:
    return brief()


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.txt"
    path.write_text("".join(f"{line}\n" for line in lines(60)), encoding="utf-8")
    return path


def into(library: Library, path: Path, *, resume: bool = False, stop: int | None = None, jobs: Any = 1) -> int:
    """What the command does; broken off when so many windows are written. How many lines were translated."""
    known = library.survey()
    output = Output(path, library.making(known))
    done = output.begun(resume=resume)
    written = 0

    def write(text: str) -> None:
        nonlocal written
        if written == stop:
            raise KeyboardInterrupt
        written += 1
        output.write(text)

    with closing(output):
        count = sum(library.run(Workshop(brief, library.how, jobs), write, done, known))
        output.finish()
    return count


@pytest.mark.parametrize("form", FORMS)
def test_wherever_it_was_broken_off_the_output_is_the_same(
    translator: Translator, book: Path, tmp_path: Path, form: str
) -> None:
    how = How(Search(beam=2, nbest=2 if form == "numbered" else 1), split=form == "sentences")
    library = Library(translator, how, Source(path=str(book)), form)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert into(library, whole) == 60
    with pytest.raises(KeyboardInterrupt):
        into(library, broken, stop=3)
    assert 0 < broken.stat().st_size < whole.stat().st_size
    content = whole.read_bytes()
    assert content.startswith(broken.read_bytes())
    note = (tmp_path / "broken.regard.json").read_text()
    for cut in (1, 500, broken.stat().st_size, len(content) - 3, len(content) - 1):
        broken.write_bytes(content[:cut])
        (tmp_path / "broken.regard.json").write_text(note)
        translated = into(library, broken, resume=True)
        assert broken.read_bytes() == content
        assert not (tmp_path / "broken.regard.json").exists()
        assert translated <= 60 - content[:cut].count(b"\n") + 8 or form == "numbered"
    assert into(library, broken, resume=True) == 0


def test_a_packed_input_is_the_same_input(translator: Translator, book: Path, tmp_path: Path) -> None:
    packed = tmp_path / "book.txt.gz"
    packed.write_bytes(gzip.compress(book.read_bytes()))
    assert survey(str(packed)) == survey(str(book))
    first, second = (Library(translator, HOW, Source(path=str(path))) for path in (book, packed))
    with pytest.raises(KeyboardInterrupt):
        into(first, tmp_path / "out", stop=2)
    into(second, tmp_path / "out", resume=True)
    into(first, tmp_path / "whole")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [2, 3, "auto"])
def test_however_many_processes_there_are_the_output_is_the_same(
    translator: Translator, book: Path, tmp_path: Path, jobs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.tasks.crew.cores", lambda: 4)
    monkeypatch.setattr("regard.tasks.crew.TRIAL", 0.0)
    library = Library(translator, HOW, Source(path=str(book)), "json")
    before = torch.get_num_threads()
    assert into(library, tmp_path / "alone") == 60
    assert into(library, tmp_path / "shared", jobs=jobs) == 60
    assert torch.get_num_threads() == before
    assert not active_children()
    found = (tmp_path / "shared").read_bytes()
    assert found == (tmp_path / "alone").read_bytes()
    texts = [json.loads(line)["translations"][0]["text"] for line in found.decode().splitlines()]
    assert texts == translator.translate(lines(60), beam=1)
    assert len(set(texts)) > 10


def test_a_short_text_needs_no_other_processes(translator: Translator, book: Path, tmp_path: Path) -> None:
    library = Library(translator, HOW, Source(path=str(book)))
    begun = list(library.run(Workshop(fails, HOW, "auto"), lambda text: None))
    assert sum(begun) == 60


def fails() -> Translator:
    raise DataError("There is nothing to load.")


@pytest.mark.slow
def test_what_goes_wrong_in_another_process_is_told(translator: Translator, book: Path) -> None:
    library = Library(translator, HOW, Source(path=str(book)))
    with pytest.raises(RegardError, match="There is nothing to load"):
        list(library.run(Workshop(fails, HOW, 2), lambda text: None))
    assert not active_children()

    def kill(text: str) -> None:
        for child in active_children():
            assert child.pid
            os.kill(child.pid, signal.SIGKILL)

    with pytest.raises(RegardError, match="ended before its time") as told:
        list(library.run(Workshop(brief, HOW, 2), kill))
    assert told.value.found == "signal 9 (Killed)"
    assert "--resume" in told.value.do
    assert not active_children()


def another() -> Translator:
    """What a training has made of it meanwhile."""
    return brief(seed=1)


@pytest.mark.slow
def test_a_model_that_has_changed_meanwhile_translates_nothing_more(translator: Translator, book: Path) -> None:
    library = Library(translator, HOW, Source(path=str(book)))
    with pytest.raises(ConfigError, match="The model has changed"):
        list(library.run(Workshop(another, HOW, 2), lambda text: None))


@pytest.mark.slow
def test_what_others_leave_to_torch_is_told_here(translator: Translator, book: Path) -> None:
    told: list[object] = []

    class Telling(TorchEngine):
        """Tells what it is asked for."""

        def search(self, asked: Sequence[Asked], how: Search) -> Iterator[Found]:
            told.append((len(asked), how.beam))
            return super().search(asked, how)

        def aside(self, what: str) -> None:
            told.append(what)

    translator.use(Telling(translator.model, translator.tokenizers, translator.habits))
    library = Library(translator, HOW, Source(path=str(book), prefix="a"))
    list(library.run(Workshop(brief, HOW, 2), lambda text: None))
    assert told == [(0, 1), "--prefix"]


def test_a_single_window_keeps_all_threads_and_several_take_one(
    translator: Translator, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, seen = Library(translator, HOW, Source(path=str(book))), set()
    torch.set_num_threads(2)
    for most, threads in ((8, 1), (200, 2)):
        monkeypatch.setattr(module, "LINES", most)
        seen.clear()
        list(library.run(Workshop(brief, HOW), lambda text: seen.add(torch.get_num_threads())))
        assert seen == {threads}
        assert torch.get_num_threads() == 2


def test_lines_are_read_as_they_are_needed(translator: Translator, tmp_path: Path) -> None:
    read, written = 0, 0

    def source() -> Iterator[str]:
        nonlocal read
        for line in lines(60):
            read += 1
            yield line

    def write(found: list[Any]) -> None:
        nonlocal written
        written += len(found)
        assert read <= written + 2 * 8

    assert sum(Workshop(brief, HOW).run(translator, windows(source()), write)) == 60
    assert written == 60


def test_all_that_changes_translations_is_noted(translator: Translator, book: Path, tmp_path: Path) -> None:
    plain = Library(translator, HOW, Source(path=str(book)))
    other = tmp_path / "other.txt"
    other.write_text(book.read_text() + "One more.\n")
    prefixes = tmp_path / "prefixes.txt"
    prefixes.write_text("那只\n" * 60, encoding="utf-8")
    others = [
        Library(brief(seed=1), HOW, Source(path=str(book))),
        Library(Translator(translator.model, translator.tokenizers, habits=Habits(banned=(5,))), HOW, plain.source),
        Library(Translator(translator.model, translator.tokenizers, habits=translator.habits), HOW, plain.source),
        Library(translator, How(Search(beam=2)), plain.source),
        Library(translator, How(Search(beam=1), split=True), plain.source),
        Library(translator, HOW, plain.source, "json"),
        Library(translator, HOW, Source(path=str(other))),
        Library(translator, HOW, Source(path=str(book), prefix="那只")),
        Library(translator, HOW, Source(path=str(book), prefixes=str(prefixes))),
    ]
    again = Library(brief(), HOW, plain.source)
    first, same, *noted = [made.facts for one in (plain, again, *others) if (made := one.making(one.survey()))]
    assert first == same
    assert len({json.dumps(facts) for facts in (first, *noted)}) == len(others) + 1


def test_the_fingerprint_is_that_of_the_model_not_of_its_name(translator: Translator) -> None:
    named = Translator(brief().model, translator.tokenizers, name="another", habits=translator.habits)
    assert named.fingerprint() == translator.fingerprint()
    next(named.model.parameters()).data[0, 0] += 1e-3
    assert named.fingerprint() != translator.fingerprint()


def test_what_is_too_long_is_told_before_anything_is_written(
    translator: Translator, book: Path, tmp_path: Path
) -> None:
    book.write_text(book.read_text() + "cat " * 60 + "\n")
    library = Library(translator, HOW, Source(path=str(book)))
    with pytest.raises(LimitError, match="Line 61 "):
        library.survey()
    for how in (How(Search(beam=1), split=True), How(Search(beam=1, truncate=True))):
        assert into(Library(translator, how, Source(path=str(book))), tmp_path / "out") == 61
    once = Library(translator, HOW, Source(texts=("The cat slept.", "", "cat " * 60)))
    assert once.survey() is None
    with pytest.raises(LimitError, match="Line 3 "):
        list(once.run(Workshop(brief, HOW), lambda text: None))


def test_prefixes_must_be_as_many_as_lines(translator: Translator, book: Path, tmp_path: Path) -> None:
    prefixes = tmp_path / "prefixes.txt"
    prefixes.write_text("那只\n" * 59, encoding="utf-8")
    library = Library(translator, HOW, Source(path=str(book), prefixes=str(prefixes)))
    with pytest.raises(DataError, match="not as many prefixes") as told:
        library.survey()
    assert told.value.found == "59 prefixes, 60 lines"


def test_of_a_pipe_prefixes_are_checked_as_they_come(translator: Translator, tmp_path: Path) -> None:
    given = tmp_path / "prefixes"
    given.write_text("a\nb\nc\n")
    source = Source(texts=("The cat slept.", "A dog slept."), prefixes=str(given))
    library = Library(translator, HOW, source)
    with pytest.raises(DataError, match="more prefixes than lines") as told:
        list(library.run(Workshop(brief, HOW), lambda text: None))
    assert told.value.found == "2 lines, and a prefix 3"
    given.write_text("a\n" + "b " * 500 + "\n")
    with pytest.raises(LimitError, match="Prefix 2"):
        list(library.run(Workshop(brief, HOW), lambda text: None))


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert not Source(path=str(pipe)).again
    assert not Source(path=__file__, prefixes=str(pipe)).again
    assert not Source().again
    assert not Source(texts=("a",), path="x").again
    assert Source(path=str(tmp_path / "missing")).again  # and is told to be missing


def test_bytes_that_are_no_text_are_told_by_their_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"gut\nsch\xf6n\n")
    with pytest.raises(DataError, match="line 2: invalid UTF-8"):
        list(texts_of(str(path)))


def test_ctrl_c_waits_until_a_process_is_started_even_if_another_thread_takes_the_signal() -> None:
    ends = threading.Event()
    other = threading.Thread(target=ends.wait)  # it does not block the signal, so the system gives it to this one
    other.start()
    moments: list[str] = []

    def interrupted() -> None:
        with crew.deaf():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            moments.append("started")

    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    finally:
        ends.set()
        other.join()
    assert moments == ["started"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


FIRST = """
import time
from multiprocessing import get_context
from pathlib import Path
from regard.tasks.crew import deaf

process = get_context("spawn").Process(target=time.sleep, args=(60,))
with deaf():
    process.start()
print(Path(f"/proc/{process.pid}/status").read_text())
process.kill()
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="what a process blocks is told by Linux's /proc")
def test_the_first_process_of_all_does_not_hear_ctrl_c_either() -> None:
    """The first one that Python starts is a tracker of its own, and it makes the starting thread hear again."""
    told = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True).stdout
    (blocked,) = (line.split()[1] for line in told.splitlines() if line.startswith("SigBlk:"))
    assert int(blocked, 16) >> (signal.SIGINT - 1) & 1
