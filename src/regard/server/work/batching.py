"""Which texts a model computes next, and which together.

Fair: each text has a place on a line (Demers 1989). A request's first text stands where the line has come to when it
arrives, each further one behind it by what the one before costs; and the line moves on by what is computed, shared by
the requests that wait. So a single sentence that comes after a book waits for the page that is being computed, not for
the book; and the book goes on whatever comes.

Together: texts of the same verb and options, those of like length first, up to a budget of tokens.

Two lanes: while the first one is at something long, the second takes what is short. Texts that are continued have a
lane of their own, in which some short ones find room beside whatever is long.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from threading import Condition

from regard.server.messages import Job

SHORT = 64
"""Most tokens of a text that need not wait for long ones."""


@dataclass(frozen=True)
class Entry:
    """A job that waits. length: its tokens, with those that may be made for it; cost: the tokens that it takes of a
    batch; place: see above; request: the first job of the request that it belongs to."""

    job: Job
    length: int
    cost: int
    place: float = 0.0
    request: int = -1

    @property
    def key(self) -> tuple[object, ...]:
        """What it must have in common with those that it is computed with."""
        return (self.job.id,) if self.job.alone else (self.job.verb, self.job.options)


class Waiting:
    """The jobs that wait for a model. Many threads may call it."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self._entries: dict[int, Entry] = {}
        self._changed = Condition()
        self._line, self._at_length = 0.0, False

    def add(self, entries: Iterable[Entry]) -> None:
        """The jobs of one request."""
        with self._changed:
            place, request = self._line, -1
            for entry in entries:
                request = entry.job.id if request < 0 else request
                self._entries[entry.job.id] = replace(entry, place=place, request=request)
                place += min(entry.cost, self.budget)
            self._changed.notify_all()

    def drop(self, ids: Iterable[int]) -> None:
        """Nobody waits for these any more."""
        with self._changed:
            for id in ids:
                self._entries.pop(id, None)

    def next(self, but: str = "") -> list[Entry]:
        """What the first lane computes now; it waits until there is something. but: a verb that it leaves alone."""
        with self._changed:
            self._at_length = False
            batch = self._take(self._wait(lambda entry: entry.job.verb != but))
            self._at_length = any(entry.length > SHORT for entry in batch)
            self._changed.notify_all()
            return batch

    def next_short(self, but: str = "") -> list[Entry]:
        """What the second lane computes now: something short, while the first is at something long."""
        with self._changed:
            found = self._wait(lambda entry: self._at_length and entry.length <= SHORT and entry.job.verb != but)
            return self._take(found)

    def newcomers(self, verb: str, room: int, *, wait: bool, beside: int = 0) -> list[Entry]:
        """Jobs of a verb, whatever their options, in the order of the line, that fit into the room; where all of it is
        free, one that is larger too. When no more fit, so many short ones come in beside: they cost no room."""
        with self._changed:
            if wait:
                self._wait(lambda entry: entry.job.verb == verb)
            waiting = sorted((e for e in self._entries.values() if e.job.verb == verb), key=lambda e: e.place)
            if waiting and waiting[0].job.alone:  # nobody is to be lost with it: it comes when no others are there
                return self._removed(waiting[:1]) if wait else []
            fits = 0
            for entry in waiting:
                if entry.job.alone or (entry.cost > room and (fits or room < self.budget)):
                    break
                room -= entry.cost
                fits += 1
            short = [
                replace(entry, cost=0) for entry in waiting[fits:] if entry.length <= SHORT and not entry.job.alone
            ]
            return self._removed([*waiting[:fits], *short[: max(0, beside)]])

    def _wait(self, wanted: Callable[[Entry], bool]) -> list[Entry]:
        """Until there are such entries: these."""
        self._changed.wait_for(lambda: any(map(wanted, self._entries.values())))
        return [entry for entry in self._entries.values() if wanted(entry)]

    def _take(self, entries: Sequence[Entry]) -> list[Entry]:
        first = min(entries, key=lambda entry: entry.place)
        alike = [entry for entry in entries if entry.key == first.key]
        return self._removed(together(first, alike, self.budget))

    def _removed(self, entries: list[Entry]) -> list[Entry]:
        waiting = len({entry.request for entry in self._entries.values()})
        for entry in entries:
            del self._entries[entry.job.id]
        self._line += sum(min(entry.cost, self.budget) for entry in entries) / max(1, waiting)
        return entries


def together(first: Entry, alike: Sequence[Entry], budget: int) -> list[Entry]:
    """The first, and those that are nearest to it in length, as long as all of them, padded to the longest, stay within
    the budget."""
    ordered = sorted(alike, key=lambda entry: (entry is not first, abs(entry.length - first.length), entry.place))
    batch: list[Entry] = []
    largest = 0
    for entry in ordered:
        largest = max(largest, entry.cost)
        if batch and largest * (len(batch) + 1) > budget:
            break
        batch.append(entry)
    return batch
