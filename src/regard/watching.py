"""Work that takes long can be watched, by a bar or a log, without knowing who looks."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar, runtime_checkable

T = TypeVar("T")


@runtime_checkable
class Watch(Protocol):
    """Passes items on while somebody looks, such as a progress bar. total: how many will come, 0 if nobody knows."""

    def __call__(self, items: Iterable[T], *, total: int, what: str) -> Iterator[T]: ...


def unwatched(items: Iterable[T], *, total: int, what: str) -> Iterator[T]:
    """Nobody looks."""
    return iter(items)
