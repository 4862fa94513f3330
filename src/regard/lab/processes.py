"""Pieces of work, each in a fresh process: its memory is measured there, and nothing is carried over."""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import NamedTuple, Protocol, runtime_checkable

from regard.errors import RegardError
from regard.tasks.crew import deaf, ending


@runtime_checkable
class Job(Protocol):
    """A piece of work. Another process can be given it."""

    @property
    def label(self) -> str: ...

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        ...

    def work(self) -> bool:
        """From wherever it is to its end; False if it was asked to stop before."""
        ...


class Worker(NamedTuple):
    """A piece at work in its process, and the end of the pipe at which it tells how it ended."""

    job: Job
    process: BaseProcess
    told: Connection

    def finished(self) -> bool:
        """Whether it came to its end, or was asked to stop before; raises what it has failed with."""
        try:
            outcome = self.told.recv()
        except (EOFError, OSError):  # it died before it could tell, or while it did
            outcome = None
        self.process.join()
        if isinstance(outcome, RegardError):
            raise outcome
        if outcome is None:
            raise RegardError(
                "A run has ended before its time.",
                found=f"{self.job.label}: {ending(self.process.exitcode or 0)}",
                do="call it again: what is done is kept",
            )
        return bool(outcome)


def run_all(
    jobs: Iterable[Job], at_once: int, say: Callable[[str], None], *, failed: list[RegardError] | None = None
) -> None:
    """Those that are not done yet, some at once. Ctrl-C, SIGTERM or an error leave them all resumable; where there is a
    list of what has `failed`, an error is told and put there instead, and the others go on."""
    left = [job for job in jobs if not job.done]
    waiting, running = list(left), list[Worker]()
    with _signals():
        try:
            while waiting or running:
                while waiting and len(running) < at_once:
                    running.append(_started(waiting.pop(0)))
                ready = wait([worker.told for worker in running])
                for worker in [worker for worker in running if worker.told in ready]:
                    running.remove(worker)
                    done = len(left) - len(waiting) - len(running)
                    try:
                        if not worker.finished():
                            raise KeyboardInterrupt
                        say(f"{worker.job.label} is done ({done} of {len(left)})")
                    except RegardError as error:
                        if failed is None:
                            raise
                        failed.append(error)
                        say(f"{worker.job.label} has failed ({done} of {len(left)}): {error}")
        finally:
            _stop(running)


def _started(job: Job) -> Worker:
    context = get_context("spawn")
    told, tells = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(job, tells), daemon=True)
    with deaf():
        process.start()
    tells.close()  # or its end would not be noticed
    return Worker(job, process, told)


def _stop(running: list[Worker]) -> None:
    """Asks every run to save and leave, and waits until they have; a second Ctrl-C does not wait."""
    for worker in running:
        worker.process.terminate()
    for worker in running:
        worker.process.join()


def _run(job: Job, tells: Connection) -> None:
    """All that the process of a run does."""
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # signals reach the parent alone, who asks once: to be asked twice is not to save
    threading.Thread(target=_leave_with_the_parent, daemon=True).start()
    outcome: bool | RegardError
    try:
        outcome = job.work()
    except RegardError as error:
        outcome = error
    except KeyboardInterrupt:
        outcome = False
    with suppress(BrokenPipeError):  # nobody is left to be told
        tells.send(outcome)


def _leave_with_the_parent() -> None:
    """Waits in a thread for the parent to end, however it does; then the run is asked to save and leave."""
    if (parent := parent_process()) is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def _signals() -> Iterator[None]:
    """Inside the `with` SIGTERM counts as Ctrl-C, once."""

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
