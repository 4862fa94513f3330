"""Plain clauses in the past: what longer sentences are made of."""

from collections.abc import Sequence
from dataclasses import dataclass

from regard.data.corpora import lexicon as lex
from regard.data.corpora.grammar import EMPTY, Draw, Fact, Phrase, frame, unit
from regard.data.corpora.lexicon import Verb
from regard.data.corpora.phrases import (
    actor,
    article_for,
    deed,
    fact,
    getting,
    maybe,
    meal,
    once,
    past,
    person,
    setting,
    subject,
    the,
)


def done(verb: Phrase, doer: Phrase, patient: Phrase, facts: Sequence[Fact], *, where: Phrase, when: Phrase) -> Phrase:
    """Subject, verb, object; place and time end the English clause and stand before the Chinese verb."""
    english, chinese = "{s} {v} {o} {where} {when}", "{s} {when} {where} {v} {o}"
    return frame(english, chinese, facts, s=doer, v=verb, o=patient, where=where, when=when)


@dataclass(frozen=True)
class Manner:
    """How a clause is said: may it have a time, and does its verb show that it is over (了)?"""

    timed: bool = True
    over: bool = True

    def verb(self, verb: Verb) -> Phrase:
        return past(verb) if self.over else unit(verb.past, verb.zh)

    def when(self, share: float) -> float:
        return share if self.timed else 0.0


FREE = Manner()
# after …之后, before …之前, when …的时候: no time of its own, and before and when no 了
AFTERWARDS, MEANWHILE = Manner(timed=False), Manner(timed=False, over=False)


def deed_clause(draw: Draw, how: Manner = FREE) -> Phrase:
    verb, doer, patient = deed(draw)
    facts = [fact(verb.base, doer.en, patient.en)]
    where, when = setting(draw, verb.base, where=0.3, when=how.when(0.25))
    return done(how.verb(verb), actor(doer), actor(patient), facts, where=where, when=when)


def getting_clause(draw: Draw, how: Manner = FREE) -> Phrase:
    who = subject(draw)
    verb, noun = getting(draw, who, draw.one((lex.THINGS, lex.GROCERIES)))
    what = article_for(draw, noun)
    where, when = setting(draw, verb.base, where=0.4, when=how.when(0.3))
    return done(how.verb(verb), who.phrase, what, [fact(verb.base, who.key, noun.en)], where=where, when=when)


def meal_clause(draw: Draw, how: Manner = FREE) -> Phrase:
    who = subject(draw)
    verb, food = meal(draw, who)
    where, when = setting(draw, verb.base, where=0.4, when=how.when(0.3))
    return done(how.verb(verb), who.phrase, food, [fact(verb.base, who.key, food.en[0])], where=where, when=when)


def doing_clause(draw: Draw, how: Manner = FREE) -> Phrase:
    who, verb = subject(draw), draw.one(lex.DOING)
    where, when = setting(draw, verb.base, where=0.5, when=how.when(0.3))
    return done(how.verb(verb), who.phrase, EMPTY, (), where=where, when=when)


def going_clause(draw: Draw, how: Manner = FREE) -> Phrase:
    who, friend = draw.some(lex.NAMES, 2)
    goal, when = the(draw.one(lex.ENTERABLE)), maybe(draw, how.when(0.4), once(draw))
    english, chinese = (
        "{s} went/g to {p} with/w {f} {t}",
        f"{{s}} {{t}} 和/w {{f}} 一起 去/g {'了' if how.over else ''} {{p}}",
    )
    return frame(english, chinese, s=actor(who), f=actor(friend), p=goal, t=when)


CLAUSES = (deed_clause, deed_clause, getting_clause, getting_clause, meal_clause, doing_clause, going_clause)


def clause(draw: Draw, how: Manner = FREE) -> Phrase:
    """Any plain clause in the past."""
    return draw.one(CLAUSES)(draw, how)


def mood_clause(draw: Draw) -> Phrase:
    who, when = person(draw), maybe(draw, 0.6, once(draw))
    mood = unit(*draw.one((*lex.MOODS, *((look.en, look.zh) for look in lex.PERSON_LOOKS))))
    return frame("{s} was very/v {m} {t}", "{s} {t} 很/v {m}", s=who.phrase, m=mood, t=when)
