"""The runs of a contest, each in a fresh process: its memory is measured there, and nothing is carried over."""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from regard import bundle
from regard.config import Tree
from regard.errors import LimitError, RegardError
from regard.files import write_text
from regard.lab.compare.directory import advised
from regard.lab.compare.figures import FIGURES, measure
from regard.lab.compare.plan import Budget, Plan
from regard.tasks.crew import ending
from regard.training.directory import locked
from regard.training.run import train
from regard.training.speed import peak
from regard.training.start import Watcher, prepare

FAILED = "failed.txt"
"""Why a run came to nothing: it has diverged, and would do so again."""

Watchers = Callable[[str], Watcher]
"""From the name of a run to who watches it; a function that another process can import."""


@dataclass(frozen=True)
class Job:
    """One run: where, with which settings, how long, and whether it is scored on the test set."""

    out: Path
    tree: Tree
    budget: Budget
    plan: Plan
    final: bool

    @property
    def label(self) -> str:
        return f"{self.out.parent.name}/{self.out.name}"

    @property
    def done(self) -> bool:
        return any((self.out / name).exists() for name in (FIGURES if self.final else bundle.CARD, FAILED))


class Worker(NamedTuple):
    """A run at work in its process, and the end of the pipe at which it tells how it ended."""

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


def work(job: Job, watch: Watchers) -> bool:
    """One run from wherever it is to its end; False if it was asked to stop before."""
    with locked(job.out):
        pass  # nobody else is at work there: what else may be wrong with the directory is damage
    with advised(job.out):
        run = prepare(job.tree, job.out, watch(job.label), resume=True, minutes=job.budget.minutes)
        trained = (job.out / bundle.CARD).exists()
        try:
            outcome = train(run)
        except LimitError as error:
            if isinstance(error.__cause__, OSError):  # the disk, not the model
                raise LimitError(error.what, found=error.found, do="free some space, then call it again") from error
            write_text(job.out / FAILED, f"{error}\n")
            return True
        if outcome.finished and job.final:
            measure(job.out, job.plan, memory=None if trained else peak("cpu"))
    return outcome.finished


def run_all(jobs: Iterable[Job], at_once: int, watch: Watchers, say: Callable[[str], None]) -> None:
    """Those that are not done yet, some at once. Ctrl-C, SIGTERM or an error leave them all resumable."""
    left = [job for job in jobs if not job.done]
    waiting, running = list(left), list[Worker]()
    with _signals():
        try:
            while waiting or running:
                while waiting and len(running) < at_once:
                    running.append(_started(waiting.pop(0), watch))
                ready = wait([worker.told for worker in running])
                for worker in [worker for worker in running if worker.told in ready]:
                    running.remove(worker)
                    if not worker.finished():
                        raise KeyboardInterrupt
                    done = len(left) - len(waiting) - len(running)
                    say(f"{worker.job.label} is done ({done} of {len(left)})")
        finally:
            _stop(running)


def _started(job: Job, watch: Watchers) -> Worker:
    context = get_context("spawn")
    told, tells = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(job, watch, tells), daemon=True)
    process.start()
    tells.close()  # or its end would not be noticed
    return Worker(job, process, told)


def _stop(running: list[Worker]) -> None:
    """Asks every run to save and leave, and waits until they have; a second Ctrl-C does not wait."""
    for worker in running:
        worker.process.terminate()
    for worker in running:
        worker.process.join()


def _run(job: Job, watch: Watchers, tells: Connection) -> None:
    """All that the process of a run does."""
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # Ctrl-C reaches the parent alone, who asks once: to be asked twice is not to save
    threading.Thread(target=_leave_with_the_parent, daemon=True).start()
    outcome: bool | RegardError
    try:
        outcome = work(job, watch)
    except RegardError as error:
        outcome = error
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
