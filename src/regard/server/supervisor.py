"""The server's side of a model: it starts the process, hands jobs over, and starts it again when it is lost.

Jobs that waited when a process is lost are handed to the next one. Those that were being computed are tried once more,
each by itself, since one of them may be the reason; then they are refused. A text of which a part was already sent is
refused at once.
"""

import asyncio
import itertools
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from regard.errors import BundleError, RegardError
from regard.server.line import Line
from regard.server.messages import (
    Asked,
    Begun,
    Broken,
    Done,
    Dropped,
    Event,
    Facts,
    Failed,
    Job,
    Options,
    Order,
    Piece,
    Ready,
)
from regard.server.metrics import Metrics
from regard.server.refusals import RefusedError, busy, closing, fault, lost, overdue
from regard.server.settings import Settings

logger = logging.getLogger("regard.server")
numbers = itertools.count()
"""Of jobs: never the same twice."""
MOST_WAITING = 4096
"""Texts that may wait for a model."""
STOPPING = 5.0
"""Seconds in which a process that is told to end must have ended."""
PAUSES = (0.0, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds before a process is started again: longer each time that it did not become ready."""

Told = tuple[int, Piece | Done]
"""The place of a job in its request, and what came of it."""


@dataclass(eq=False)
class Request:
    """Somebody who waits for the answers to some jobs. begun: something of it is being computed, or is done."""

    answers: "asyncio.Queue[tuple[int, Piece | Done | Failed]]"
    begun: bool = False


@dataclass(eq=False)
class Ticket:
    """A job that somebody waits for."""

    job: Job
    place: int
    request: Request
    since: float
    begun: bool = False
    tried: bool = False
    told: bool = False

    def tell(self, event: Piece | Done | Failed) -> None:
        self.told = True
        self.request.answers.put_nowait((self.place, event))


class Supervisor:
    """One model, whatever happens to its process."""

    def __init__(self, place: str, settings: Settings, metrics: Metrics) -> None:
        self._place, self._settings, self._metrics = place, settings, metrics
        self._tickets: dict[int, Ticket] = {}
        self._line: Line | None = None
        self._failures, self._closing = 0, False
        self._restarting: asyncio.Task[None] | None = None
        self._loaded: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ready = False
        self.facts: Facts

    async def start(self) -> None:
        """Until the model is loaded, or an error says why it cannot be."""
        self._line = self._started()
        await self._loaded

    @property
    def _was_loaded(self) -> bool:
        """Not if that failed, nor if it was not waited for (Ctrl-C)."""
        return self._loaded.done() and not self._loaded.cancelled() and self._loaded.exception() is None

    @property
    def running(self) -> int:
        return sum(ticket.begun for ticket in self._tickets.values())

    @property
    def waiting(self) -> int:
        return len(self._tickets) - self.running

    async def ask(self, verb: str, payloads: Sequence[Any], **options: Any) -> list[Done]:
        """The answers to a request, in the order of its texts."""
        found: dict[int, Done] = {}
        async with aclosing(self.stream(verb, payloads, streamed=False, **options)) as events:
            async for place, event in events:
                if isinstance(event, Done):
                    found[place] = event
        return [found[place] for place in range(len(payloads))]

    async def stream(
        self, verb: str, payloads: Sequence[Any], *, streamed: bool = True, **options: Any
    ) -> AsyncGenerator[Told, None]:
        """What comes of a request, as it comes; it is over when all texts are done. When nobody listens any more,
        nothing more is computed for it."""
        tickets = self._submit(verb, payloads, tuple(sorted(options.items())), streamed)
        deadline = asyncio.get_running_loop().time() + self._settings.timeout
        left = len(tickets)
        try:
            while left:
                async with asyncio.timeout_at(deadline):
                    place, event = await tickets[0].request.answers.get()
                if isinstance(event, Failed):
                    raise event.error or fault()
                left -= isinstance(event, Done)
                yield place, event
        except TimeoutError:
            raise overdue(self._settings.timeout) from None
        finally:
            self._drop(tickets)

    def refuse_waiting(self) -> None:
        """From now on only requests of which something was begun are finished."""
        self._closing, self.ready = True, False
        for request, tickets in self._requests():
            if not request.begun:
                for ticket in tickets:
                    ticket.tell(Failed(ticket.job.id, closing()))
                self._drop(tickets)

    async def stop(self) -> None:
        self._closing = True
        if self._restarting is not None:
            self._restarting.cancel()
        if self._line is not None:
            await asyncio.to_thread(self._line.end, STOPPING if self._was_loaded else 0.0)

    def heard(self, message: Ready | Broken | list[Event]) -> None:
        """What the process says."""
        if isinstance(message, Ready):
            self._begin(message.facts)
        elif isinstance(message, Broken):
            self._not_loaded(message.error)
        else:
            for event in message:
                self._note(event)

    def lost(self, line: Line) -> None:
        """The process is gone."""
        code = line.process.exitcode
        if not self._loaded.done():
            told = f"The process of {self._place} ended before the model was loaded."
            do = "see what was said before; -9: the machine has too little memory"
            self._not_loaded(BundleError(told, found=f"exit code {code}", do=do))
        if line is not self._line or not self._was_loaded:
            return
        name = self.facts.name
        self.ready = False
        again = self._after_loss()
        if self._closing:
            return
        logger.error(
            "the process of %s is lost (exit code %s); %d texts are tried again; it is started anew", name, code, again
        )
        self._metrics.restarts.add(name)
        self._restarting = asyncio.ensure_future(self._restart())

    def _submit(self, verb: str, payloads: Sequence[Any], options: Options, streamed: bool) -> list[Ticket]:
        if self._closing:
            raise closing()
        if self.waiting + len(payloads) > MOST_WAITING and self.waiting:
            raise busy(max(1, round(self._metrics.mean_seconds)), most=self.waiting)
        request = Request(asyncio.Queue())
        jobs = [Job(next(numbers), verb, payload, options, streamed) for payload in payloads]
        tickets = [Ticket(job, place, request, time.monotonic()) for place, job in enumerate(jobs)]
        self._tickets |= {ticket.job.id: ticket for ticket in tickets}
        if self.ready:
            self._say(Asked(tuple(jobs)))
        return tickets

    def _drop(self, tickets: Sequence[Ticket]) -> None:
        """Nobody waits for these; those that are done are not known any more."""
        left = tuple(ticket.job.id for ticket in tickets if self._tickets.pop(ticket.job.id, None))
        if left:
            self._say(Dropped(left))

    def _say(self, message: Asked | Dropped) -> None:
        if self._line is not None:
            self._line.say(message)

    def _begin(self, facts: Facts) -> None:
        """A process has loaded the model: it gets all that waits."""
        self.ready, self._failures = True, 0
        if not self._loaded.done():
            self.facts = facts
            self._loaded.set_result(None)
        for _, tickets in self._requests():
            self._say(Asked(tuple(ticket.job for ticket in tickets)))

    def _requests(self) -> list[tuple[Request, list[Ticket]]]:
        """What is not done yet, request by request."""
        found: dict[Request, list[Ticket]] = {}
        for ticket in self._tickets.values():
            found.setdefault(ticket.request, []).append(ticket)
        return list(found.items())

    def _not_loaded(self, error: RegardError) -> None:
        if not self._loaded.done():
            self._loaded.set_exception(error)
        if not self._was_loaded:
            return
        logger.error("%s could not be loaded again: %s", self.facts.name, error)
        refused = RefusedError(503, f"{self.facts.name} cannot be loaded at the moment.", after=30, code="not_loaded")
        for ticket in list(self._tickets.values()):
            ticket.tell(Failed(ticket.job.id, refused))

    def _note(self, event: Event) -> None:
        if isinstance(event, Begun):
            self._note_begun(event)
            return
        ticket = self._tickets.get(event.id)
        if ticket is None:
            return  # nobody waits for it any more
        if isinstance(event, Done):
            self._metrics.tokens.add(self.facts.name, "read", amount=float(event.read))
            self._metrics.tokens.add(self.facts.name, "made", amount=float(event.made))
        if not isinstance(event, Piece):
            del self._tickets[event.id]
        ticket.tell(event)

    def _note_begun(self, event: Begun) -> None:
        self._metrics.batches.see(float(event.size), self.facts.name)
        for ticket in filter(None, map(self._tickets.get, event.ids)):
            ticket.begun = ticket.request.begun = True
            self._metrics.waited.see(time.monotonic() - ticket.since, self.facts.name)

    def _after_loss(self) -> int:
        """Who is refused, and how many are tried again."""
        again = 0
        for ticket in list(self._tickets.values()):
            if not ticket.begun:
                continue
            if ticket.tried or ticket.told or self._closing:
                del self._tickets[ticket.job.id]
                ticket.tell(Failed(ticket.job.id, lost(self.facts.name)))
                continue
            ticket.job = replace(ticket.job, alone=True)
            ticket.begun, ticket.tried, again = False, True, again + 1
        return again

    async def _restart(self) -> None:
        """As often as it takes: a machine that has no memory for a process may have some later."""
        begun = False
        while not begun:
            await asyncio.sleep(PAUSES[min(self._failures, len(PAUSES) - 1)])
            self._failures += 1
            try:
                self._line, begun = self._started(), True
            except OSError as error:
                logger.error("the process of %s cannot be started: %s", self.facts.name, error)

    def _started(self) -> Line:
        return Line(Order(self._place, self._settings.max_batch_tokens, self._settings.engine), self)
