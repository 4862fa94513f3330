"""What benches share: contestants in processes of their own, whose turn it is, and how figures of rounds are told."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from statistics import median, quantiles
from typing import Any, TypeVar

Player = TypeVar("Player")


@contextmanager
def started(names: Iterable[str], play: Callable[..., None], *told: Any) -> Iterator[dict[str, Connection]]:
    """A process each, at the other end of its link: it runs `play(link, name, *told)`, and says something once it is
    ready. They get ready one after the other."""
    links: dict[str, Connection] = {}
    processes = []
    for name in names:
        links[name], end = Pipe()
        processes.append(get_context("spawn").Process(target=play, args=(end, name, *told)))
        processes[-1].start()
        end.close()  # so that a contestant's death is heard as EOFError
        links[name].poll(None)
    try:
        yield links
    finally:
        for link, process in zip(links.values(), processes, strict=True):
            link.close()
            process.join()


def in_turn(players: Iterable[Player], number: int) -> list[Player]:
    """The same players; in every round another one goes first."""
    listed = list(players)
    first = number % len(listed)
    return listed[first:] + listed[:first]


def spread(values: Sequence[float], form: str = ".1f") -> str:
    """Median and quartiles."""
    low, _, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else list(values) * 3
    return f"{median(values):{form}} [{low:{form}}–{high:{form}}]"
