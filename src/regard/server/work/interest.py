"""Which jobs somebody still waits for: a search for which nobody does is given up between two of its steps."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from threading import local
from typing import Any


class AbandonedError(Exception):
    """Nobody waits for a batch any more."""


class Interest:
    """Of many threads, each of which computes a batch."""

    def __init__(self) -> None:
        self._active: set[int] = set()
        self._gone: set[int] = set()
        self._here = local()

    def begin(self, ids: Iterable[int]) -> None:
        """These are computed from now on."""
        self._active.update(ids)

    def end(self, ids: Iterable[int]) -> None:
        self._active.difference_update(ids)
        self._gone.intersection_update(self._active)

    def lose(self, ids: Iterable[int]) -> None:
        """Nobody waits for these."""
        self._gone.update(ids)

    def lost(self, ids: Collection[int]) -> set[int]:
        """Those of some jobs for which nobody waits."""
        return self._gone.intersection(ids)

    @contextmanager
    def computing(self, ids: Collection[int]) -> Iterator[None]:
        """What this thread computes inside is for these."""
        self._here.ids = set(ids)
        try:
            yield
        finally:
            self._here.ids = set()

    def watch(self, model: Any) -> None:
        """Lets a model that searches ask, before each step, whether somebody still waits for this."""
        if not hasattr(model, "step"):
            return
        step = model.step

        def asking(tokens: Any, state: Any) -> Any:
            self._ask()
            return step(tokens, state)

        model.step = asking

    def _ask(self) -> None:
        ids = getattr(self._here, "ids", None)
        if ids and ids <= self._gone:
            raise AbandonedError
