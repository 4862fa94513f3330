"""The runs of a contest."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from regard import bundle
from regard.config import Tree
from regard.errors import LimitError
from regard.files import write_text
from regard.lab.compare.directory import advised
from regard.lab.compare.figures import FIGURES, measure
from regard.lab.compare.plan import Budget, Plan
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
    watch: Watchers

    @property
    def label(self) -> str:
        return f"{self.out.parent.name}/{self.out.name}"

    @property
    def done(self) -> bool:
        return any((self.out / name).exists() for name in (FIGURES if self.final else bundle.CARD, FAILED))

    def work(self) -> bool:
        """From wherever it is to its end; False if it was asked to stop before."""
        with advised(self.out):
            run = prepare(self.tree, self.out, self.watch(self.label), resume=True, minutes=self.budget.minutes)
            trained = (self.out / bundle.CARD).exists()
            try:
                outcome = train(run)
            except LimitError as error:
                if isinstance(error.__cause__, OSError):  # the disk, not the model
                    raise error.instead("free some space, then call it again") from error
                write_text(self.out / FAILED, f"{error}\n")
                return True
            if outcome.finished and self.final:
                measure(self.out, self.plan, memory=None if trained else peak("cpu"))
        return outcome.finished
