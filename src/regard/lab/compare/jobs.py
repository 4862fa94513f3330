"""The runs of a contest, each in a fresh process: its memory is measured there, and nothing is carried over."""

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import active_children, get_context
from pathlib import Path
from types import FrameType

from regard import bundle
from regard.config import Tree
from regard.errors import LimitError, RegardError
from regard.files import write_text
from regard.lab.compare.figures import FIGURES, measure
from regard.lab.compare.plan import Budget, Plan
from regard.training.run import train
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


def work(job: Job, watch: Watchers) -> bool:
    """One run from wherever it is to its end; False if it was asked to stop before."""
    run = prepare(job.tree, job.out, watch(job.label), resume=True, minutes=job.budget.minutes)
    trained = (job.out / bundle.CARD).exists()
    try:
        outcome = train(run)
    except LimitError as error:
        if isinstance(error.__cause__, OSError):  # the disk, not the model
            raise
        write_text(job.out / FAILED, f"{error}\n")
        return True
    if outcome.finished and job.final:
        measure(job.out, job.plan, memory=None if trained else _peak())
    return outcome.finished


def run_all(jobs: Iterable[Job], at_once: int, watch: Watchers, say: Callable[[str], None]) -> None:
    """Those that are not done yet, some at once. Ctrl-C, SIGTERM or an error leave them all resumable."""
    left = [job for job in jobs if not job.done]
    if not left:
        return
    with (
        _stopping_children(),
        ProcessPoolExecutor(at_once, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool,
    ):
        waiting = iter(left)
        running = {pool.submit(work, job, watch): job for job in islice(waiting, at_once)}
        done = 0
        try:
            while running:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    job = running.pop(future)
                    if not future.result():
                        raise KeyboardInterrupt
                    done += 1
                    say(f"{job.label} is done ({done} of {len(left)})")
                    # one by one: what the pool has taken it cannot give back when all shall stop
                    running |= {pool.submit(work, other, watch): other for other in islice(waiting, 1)}
        except KeyboardInterrupt:  # the runs were told by the terminal too, and save what they have
            raise
        except Exception as error:
            _stop_children()
            if isinstance(error, RegardError):
                raise
            raise RegardError(
                "A run has ended before its time.", found=repr(error)[:300], do="call it again: what is done is kept"
            ) from error


def _stop_children() -> None:
    """Asks every run to save and leave."""
    for child in active_children():
        child.terminate()


@contextmanager
def _stopping_children() -> Iterator[None]:
    """SIGTERM reaches this process alone: inside the `with` it is passed on to the runs, then counts as Ctrl-C."""

    def stop(number: int, frame: FrameType | None) -> None:
        _stop_children()
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _peak() -> int | None:
    """Most memory that this process has held, in bytes."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held if sys.platform == "darwin" else 1024 * held
