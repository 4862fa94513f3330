"""Who translates windows: this process alone, or several, each with one thread; the lines come in order either way.

Several processes of one thread are faster than one of several threads, and how many there are changes no bit of the
output: each window is computed by one thread, whoever it belongs to.
"""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, Literal, NamedTuple

import torch

from regard.errors import ConfigError, RegardError
from regard.tasks.pace import Fixed, Measured, Pace, cores, unheard
from regard.tasks.translator import Translator
from regard.tasks.windows import How, Line, Window, translated

Load = Callable[[], Translator]
"""Loads the translator in another process: something that can be pickled."""
Write = Callable[[list[Line]], None]
"""Takes the lines of each window, in order."""
TRIAL = 10.0
"""Seconds that this process works alone, before others are started: what is done by then needs none."""
AHEAD = 4
"""So many windows a process may be translated before the one that is to be written next."""


@dataclass(frozen=True)
class Unchanged:
    """Loads the translator that had this fingerprint, and refuses what has become of it: a training that goes on writes
    better weights where it lies."""

    load: Load
    fingerprint: str

    def __call__(self) -> Translator:
        translator = self.load()
        if translator.fingerprint() != self.fingerprint:
            raise ConfigError(
                "The model has changed since it began to translate.",
                do="wait for its training to end, or copy its directory; then begin anew",
            )
        return translator


@dataclass(frozen=True)
class Workshop:
    """How windows are shared out. say: is told what was measured; remember: how many processes were chosen."""

    load: Load
    how: How
    jobs: int | Literal["auto"] = 1
    say: Callable[[str], None] = unheard
    remember: Callable[[int], None] = unheard

    def run(self, translator: Translator, windows: Iterator[Window], write: Write, done: int = 0) -> Iterator[int]:
        """Translates the windows but those whose lines are done; yields a number whenever so many more lines are.

        A single window is translated here, with all threads. Else each one has a single thread, here or elsewhere.
        """
        head = list(islice(windows, 2))
        missing = (window for window in chain(head, windows) if window.last > done)
        if len(head) < 2:
            yield from alone(translator, missing, self.how, write)
            return
        with one_thread():
            if self.jobs == "auto":
                yield from self._measured(translator, missing, write)
            elif self.jobs == 1:
                yield from alone(translator, missing, self.how, write)
            else:
                yield from self._shared(translator, missing, write, Fixed(self.jobs))

    def _measured(self, translator: Translator, windows: Iterator[Window], write: Write) -> Iterator[int]:
        """The first windows here, to see how fast that is, the others elsewhere, if there are any."""
        began, size = time.perf_counter(), 0
        for window in windows:
            yield from alone(translator, [window], self.how, write)
            size += window.size
            if time.perf_counter() - began >= TRIAL:
                break
        pace = Measured(size / (time.perf_counter() - began), cores(), self.say, self.remember)
        if pace.settled:
            yield from alone(translator, windows, self.how, write)
        else:
            yield from self._shared(translator, windows, write, pace)

    def _shared(self, translator: Translator, windows: Iterator[Window], write: Write, pace: Pace) -> Iterator[int]:
        """Nobody is called in for nothing. What the engine leaves to torch is told here: the others say nothing."""
        for first in windows:
            deque(translator.engine.search((), self.how.search), maxlen=0)
            if any(first.prefixes):
                translator.engine.aside("--prefix")
            with Crew(Unchanged(self.load, translator.fingerprint()), self.how, pace) as crew:
                yield from crew.run(chain([first], windows), write)


def ending(code: int) -> str:
    """What the exit code of a process says."""
    return f"signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"exit code {code}"


def alone(translator: Translator, windows: Iterable[Window], how: How, write: Write) -> Iterator[int]:
    """One window after the other, in this process."""
    for window in windows:
        lines = yield from translated(translator, window, how)
        write(lines)


class Done(NamedTuple):
    """What a process has made of a window, and how long it took."""

    lines: list[Line]
    seconds: float


@dataclass
class _Worker:
    """A process, and this end of the pipe to it. `among`: so many were ready when it got its window."""

    process: BaseProcess
    link: Connection
    ready: bool = False
    window: Window | None = None
    among: int = 0

    def take(self, window: Window | None, among: int = 0) -> None:
        """None: it may leave."""
        self.window, self.among = window, among
        with suppress(OSError):  # that it has died is noticed when it is listened to
            self.link.send(window)

    def heard(self) -> Any:
        """What it tells; raises what it has failed with."""
        try:
            told = self.link.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode or 0
            raise RegardError(
                "A process that translates has ended before its time.",
                found=ending(code),
                do="call it again with --resume: what --output has is kept; fewer --jobs need less memory",
            ) from None
        if isinstance(told, RegardError):
            raise told
        return told


@dataclass
class Crew:
    """Processes that take windows, one at a time each, as many as the pace wants."""

    load: Load
    how: How
    pace: Pace
    workers: list[_Worker] = field(default_factory=list)

    def __enter__(self) -> "Crew":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self.workers:
            worker.process.terminate()
        for worker in self.workers:
            worker.process.join()
            worker.link.close()

    def run(self, windows: Iterable[Window], write: Write) -> Iterator[int]:
        """Yields a number whenever so many more lines are done; writes windows in their order."""
        source, order, made = iter(windows), deque[int](), dict[int, list[Line]]()
        more = True
        while more or order:
            more = more and self._share_out(source, order)
            for worker, told in self._news():
                if isinstance(told, int):
                    yield told
                else:
                    made[told.lines[0].number] = told.lines
                    self._finished(worker, told.seconds)
            while order and order[0] in made:
                write(made.pop(order.popleft()))

    def _share_out(self, source: Iterator[Window], order: deque[int]) -> bool:
        """Gives a window to each process that has none; False if there are no more windows."""
        while len(self.workers) < self.pace.wanted:
            self.workers.append(self._hired())
        for worker in [worker for worker in self.workers if worker.ready and worker.window is None]:
            if len(self.workers) > self.pace.wanted:
                self._dismiss(worker)
                continue
            if len(order) >= AHEAD * len(self.workers):
                break
            window = next(source, None)
            if window is None:
                return False
            worker.take(window, among=sum(worker.ready for worker in self.workers))
            order.append(window.first)
        return True

    def _news(self) -> Iterator[tuple[_Worker, Any]]:
        """What processes tell, one thing each, when there is something. (That one is ready is no news.)"""
        heard = wait([worker.link for worker in self.workers])
        for worker in [worker for worker in self.workers if worker.link in heard]:
            told = worker.heard()
            if told is None:
                worker.ready = True
            else:
                yield worker, told

    def _finished(self, worker: _Worker, seconds: float) -> None:
        window, worker.window = worker.window, None
        if window is not None:
            self.pace.told(window.size / seconds, worker.among)

    def _hired(self) -> _Worker:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(self.load, self.how, theirs), daemon=True)
        with deaf():
            process.start()
        theirs.close()  # or its end would not be noticed
        return _Worker(process, ours)

    def _dismiss(self, worker: _Worker) -> None:
        self.workers.remove(worker)
        worker.take(None)
        worker.process.join()
        worker.link.close()


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside the `with` torch computes with a single thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def deaf() -> Iterator[None]:
    """Processes that are started inside the `with` never hear Ctrl-C: it is this one's business, which hears of it when
    the `with` ends. (A process that is being started must get all of its settings, or it complains.)"""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # started with the first process, it would unblock what is blocked below
    heard: list[int] = []
    leads = threading.current_thread() is threading.main_thread()
    # Another thread may take a signal that this one blocks, and Python would raise it here all the same.
    handler = signal.signal(signal.SIGINT, lambda number, _: heard.append(number)) if leads else None
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if leads:
            signal.signal(signal.SIGINT, handler)
        if heard:
            signal.raise_signal(signal.SIGINT)


def _work(load: Load, how: How, link: Connection) -> None:
    """All that a process does: it tells that it is ready, and then of each window that it is given."""
    threading.Thread(target=_leave_with_the_parent, daemon=True).start()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    with one_thread(), suppress(EOFError, BrokenPipeError, ConnectionResetError):  # nobody is left to be told
        try:
            translator = load()
            link.send(None)
            while (window := link.recv()) is not None:
                link.send(_done(translator, window, how, link))
        except RegardError as error:
            link.send(error)


def _done(translator: Translator, window: Window, how: How, link: Connection) -> Done:
    """Tells on the way how many lines are done."""
    began = time.perf_counter()
    work = translated(translator, window, how)
    while True:
        try:
            link.send(next(work))
        except StopIteration as end:
            return Done(end.value, time.perf_counter() - began)


def _leave_with_the_parent() -> None:
    """Waits in a thread for the parent to end, however it does: what is in the making is made again then."""
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)
