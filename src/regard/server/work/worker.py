"""A model at work: it takes jobs from the server, and tells what comes of them. One thread listens, others compute."""

import logging
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock, Thread
from typing import Any, NoReturn

import torch

from regard import engines
from regard.attention import Attends
from regard.bundle import load, read_card
from regard.errors import ConfigError, RegardError
from regard.layers.packed import Packing
from regard.memory import keep_freed_memory
from regard.server.messages import Asked, Begun, Broken, Done, Dropped, Event, Facts, Failed, Job, Order, Ready
from regard.server.work.batching import Entry, Waiting
from regard.server.work.examples import examples
from regard.server.work.interest import AbandonedError, Interest
from regard.server.work.verbs import VERBS, Answer
from regard.server.work.writing import COMPLETE, Known, Writing, each_alone, row
from regard.tasks.encoder import Encoder
from regard.tasks.translator import Translator
from regard.text.detection import Profile, profile_of_pieces
from regard.text.spm_backend import is_sentencepiece, likely_pieces
from regard.training import probes

logger = logging.getLogger("regard.server")
LANES = 2
"""Threads that compute."""
BESIDE = 16
"""Short texts that may be continued where long ones have taken all room."""


def run(connection: Connection, order: Order) -> None:
    """All that the process does. It ends when the server says so, or is gone; signals, which reach all processes when
    somebody presses Ctrl-C or a service ends, are the server's business."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    logging.basicConfig(level=logging.WARNING, format="regard: %(message)s", stream=sys.stderr)
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(max(1, (os.cpu_count() or 1) // LANES))
    keep_freed_memory()
    with suppress(BrokenPipeError):  # the server went away meanwhile
        try:
            model = loaded(order)
            model.run = _run_of(order.place)
            connection.send(Ready(facts_of(model, order.place)))
        except RegardError as error:
            connection.send(Broken(error))
            return
        Worker(model, connection, order.budget).run()


def loaded(order: Order) -> Any:
    """The model, with its engine. (Texts that are continued have none: see writing.py.)"""
    engines.check(order.engine)
    model = load(order.place)
    if not hasattr(model, "tokenizers"):
        do = "ask it with regard predict, and see where it looks with regard look --input scenes.jsonl"
        raise ConfigError(f"{order.place} reads no text, and only models of texts are served.", do=do)
    if isinstance(model, (Translator, Encoder)):
        engines.use(model, order.engine, place=Path(order.place), say=logger.warning, askers=LANES)
    elif order.engine not in (engines.AUTO, engines.TORCH):
        logger.warning("%s: computed by torch; --engine %s is for translations and vectors", order.place, order.engine)
    return model


def _run_of(place: str) -> str | None:
    """Where one can see how the model came to be: the directory that the owner named, never a client."""
    return place if Path(place).is_dir() and probes.updates(place) else None


def facts_of(model: Any, place: str) -> Facts:
    """What a model is, without where it is."""
    card = read_card(Path(place)) if Path(place).is_dir() else {}
    writes = (COMPLETE,) if hasattr(model, "generate") else ()
    langs = getattr(model, "langs", None)
    return Facts(
        name=model.name,
        task=str(card.get("task", type(model).__name__.lower())),
        architecture=type(model.model).__name__,
        verbs=(*writes, *(name for name, verb in VERBS.items() if verb.can(model))),
        parameters=sum(parameter.numel() for parameter in model.model.parameters()),
        limit=getattr(model, "limit", None),
        langs=langs if langs is not None and all(langs) else None,
        targets=getattr(model, "targets", {}),
        labels=tuple(getattr(model, "labels", ())),
        engine=getattr(getattr(model, "engine", None), "name", engines.TORCH),
        scores={split: str(figures.get("headline", "")) for split, figures in card.get("scores", {}).items()},
        profiles=card.get("language_profile") or _spelt(model, langs),
        examples=examples(model, place),
        attends=any(isinstance(module, Attends) for module in model.model.modules()),
    )


def _spelt(model: Any, langs: tuple[str, str] | None) -> dict[str, Profile]:
    """The letters of a translator's languages, by how it spells them: models of others have no card."""
    if langs is None or not all(langs):
        return {}
    sides = zip(langs, (model.tokenizers.source, model.tokenizers.target), strict=True)
    known = [(language, side.backend) for language, side in sides if is_sentencepiece(side.backend)]
    return {language: profile_of_pieces(likely_pieces(backend)) for language, backend in known}


class Worker:
    """The jobs of a model, from when they are asked for until they are answered."""

    def __init__(self, model: Any, connection: Connection, budget: int) -> None:
        self._model, self._connection = model, connection
        self._waiting, self._interest, self._speaking = Waiting(budget), Interest(), Lock()
        self._interest.watch(model.model)

    def run(self) -> None:
        """Until the server is gone."""
        writes = hasattr(self._model, "generate")
        but = COMPLETE if writes else ""
        lanes = [
            self._compute(lambda: self._waiting.next(but)),
            self._compute(lambda: self._waiting.next_short(but)),
            *([self._write] if writes else []),
        ]
        for lane in lanes:
            Thread(target=_or_die, args=(lane,), daemon=True).start()
        try:
            while (message := self._connection.recv()) is not None:
                self._hear(message)
        except (EOFError, OSError):
            pass
        os._exit(0)  # the lanes need not be waited for

    def _hear(self, message: Asked | Dropped) -> None:
        if isinstance(message, Dropped):
            self._waiting.drop(message.ids)
            self._interest.lose(message.ids)
            return
        entries, known = list[Entry](), Known()
        for job in message.jobs:
            try:
                entries.append(self._entry(job, known))
            except Exception as error:
                if not isinstance(error, RegardError):
                    logger.exception("A job could not be taken.")
                self._say([Failed(job.id, error if isinstance(error, RegardError) else None)])
                return  # with one of its jobs, all of a request is refused
        self._waiting.add(entries)

    def _entry(self, job: Job, known: Known) -> Entry:
        if job.verb == COMPLETE:
            text = row(self._model, job, known)
            length, cost = len(text.prompt.ids) + text.options.max_new_tokens, text.cost
        else:
            how = dict(job.options)
            length = VERBS[job.verb].length(self._model, job.payload, how)
            cost = VERBS[job.verb].cost(self._model, length, how)
        return Entry(job, length, max(cost, self._waiting.budget) if job.alone else cost)

    def _compute(self, taken: Callable[[], list[Entry]]) -> Callable[[], None]:
        """A lane: batch after batch."""

        def lane() -> None:
            while True:
                batch = taken()
                ids = self._begin(batch, len(batch))
                self._say(self._answered(batch))
                self._interest.end(ids)

        return lane

    def _begin(self, batch: Sequence[Entry], size: int) -> tuple[int, ...]:
        ids = tuple(entry.job.id for entry in batch)
        self._interest.begin(ids)
        self._say([Begun(ids, size)])
        return ids

    def _answered(self, batch: Sequence[Entry]) -> list[Event]:
        """If something goes wrong, each is tried by itself: the others are not to suffer from one."""
        first = batch[0].job
        try:
            with self._interest.computing([entry.job.id for entry in batch]):
                payloads = [entry.job.payload for entry in batch]
                answers = VERBS[first.verb].run(self._model, payloads, dict(first.options))
        except AbandonedError:
            return []
        except Exception as error:
            if len(batch) > 1:
                return [event for entry in batch for event in self._answered([entry])]
            if isinstance(error, RegardError):
                return [Failed(first.id, error)]
            logger.exception("A job failed.")
            return [Failed(first.id)]
        return [_done(entry, answer) for entry, answer in zip(batch, answers, strict=True)]

    def _write(self) -> None:
        """The lane of a language model: a step after the other, and between them newcomers."""
        with Packing(self._model.model).used():
            self._write_on(Writing(self._model))

    def _write_on(self, writing: Writing) -> NoReturn:
        while True:
            if writing.open:
                self._admit(writing)
            ids = {text.job.id for text in writing.rows}
            writing.drop(self._interest.lost(ids))
            try:
                self._say(writing.step())
            except Exception:
                writing, told = each_alone(self._model, writing.rows)
                self._say(told)
            if ended := ids - {text.job.id for text in writing.rows}:
                self._interest.end(ended)

    def _admit(self, writing: Writing) -> None:
        """Those who wait and fit in; if nobody is there, it waits for somebody."""
        room = self._waiting.budget - sum(text.cost for text in writing.rows)
        alone = any(text.job.alone for text in writing.rows)
        beside = 0 if alone else BESIDE - sum(text.cost == 0 for text in writing.rows)
        entries = self._waiting.newcomers(COMPLETE, room, wait=not writing.rows, beside=beside)
        if entries:
            self._begin(entries, len(writing.rows) + len(entries))
            known = Known()
            writing.join([replace(row(self._model, entry.job, known), cost=entry.cost) for entry in entries])

    def _say(self, events: Iterable[Event]) -> None:
        told = list(events)
        if told:
            with self._speaking:
                self._connection.send(told)


def _done(entry: Entry, answer: Answer) -> Done:
    read = entry.length if answer.read is None else answer.read
    return Done(entry.job.id, answer.value, read=read, made=answer.made)


def _or_die(lane: Callable[[], None]) -> NoReturn:
    """A lane that ends takes the process with it: the server starts another one. Half a process would wait for ever."""
    try:
        lane()
    except BaseException:
        logger.exception("A lane was lost.")
    os._exit(1)
