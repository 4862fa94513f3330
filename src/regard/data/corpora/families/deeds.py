"""Who did what to whom: constructions in which doer and patient could change places."""

from collections.abc import Callable

from regard.data.corpora import lexicon as lex
from regard.data.corpora.clauses import done
from regard.data.corpora.grammar import Draw, Phrase, frame, unit
from regard.data.corpora.lexicon import Verb
from regard.data.corpora.phrases import Actor, actor, bare, deed, fact, once, past, person, setting, that

Construction = Callable[[Draw, Verb, Actor, Actor], Phrase]


def active(draw: Draw, verb: Verb, doer: Actor, patient: Actor) -> Phrase:
    where, when = setting(draw, verb.base, where=0.0, when=0.0)
    return done(past(verb), actor(doer), actor(patient), [fact(verb.base, doer.en, patient.en)], where=where, when=when)


def active_set(draw: Draw, verb: Verb, doer: Actor, patient: Actor) -> Phrase:
    where, when = setting(draw, verb.base, where=0.7, when=0.7)
    return done(past(verb), actor(doer), actor(patient), [fact(verb.base, doer.en, patient.en)], where=where, when=when)


def active_time_first(draw: Draw, verb: Verb, doer: Actor, patient: Actor) -> Phrase:
    facts = [fact(verb.base, doer.en, patient.en)]
    return frame(
        "{t} {s} {v} {o}", "{t} {s} {v} {o}", facts, t=once(draw), s=actor(doer), v=past(verb), o=actor(patient)
    )


def passive(draw: Draw, verb: Verb, doer: Actor, patient: Actor) -> Phrase:
    where, when = setting(draw, verb.base, where=0.3, when=0.3)
    facts = [fact(verb.base, doer.en, patient.en)]
    english, chinese = (
        f"{{o}} was {verb.participle}/v by/b {{s}} {{p}} {{t}}",
        f"{{o}} {{t}} {{p}} 被/b {{s}} {verb.zh}/v 了",
    )
    return frame(english, chinese, facts, s=actor(doer), o=actor(patient), p=where, t=when)


def negated(draw: Draw, verb: Verb, doer: Actor, patient: Actor) -> Phrase:
    where, when = setting(draw, verb.base, where=0.2, when=0.3)
    facts = [fact(verb.base, doer.en, patient.en)]
    english, chinese = "{s} did/n not/n {v} {o} {p} {t}", "{s} {t} {p} 没有/n {v} {o}"
    return frame(english, chinese, facts, s=actor(doer), v=bare(verb), o=actor(patient), p=where, t=when)


def asked(draw: Draw, verb: Verb, doer: Actor, patient: Actor) -> Phrase:
    where, when = setting(draw, verb.base, where=0.3, when=0.3)
    facts = [fact(verb.base, doer.en, patient.en)]
    english, chinese = "did/d {s} {v} {o} {p} {t} ?/?", "{s} {t} {p} {v} {o} 了 吗/d ？/?"
    return frame(english, chinese, facts, s=actor(doer), v=bare(verb), o=actor(patient), p=where, t=when)


def reported(draw: Draw, verb: Verb, doer: Actor, patient: Actor) -> Phrase:
    speaker = person(draw).phrase
    said = unit(
        *draw.one((("said", "说"), ("knew", "知道"), ("dreamed", "梦见"), ("heard", "听说"), ("thought", "以为")))
    )
    inner = active(draw, verb, doer, patient)
    return frame("{who} {said} that {c}", "{who} {said} {c}", who=speaker, said=said, c=inner)


CONSTRUCTIONS: dict[str, Construction] = {
    "deed": active,
    "deed-set": active_set,
    "deed-time-first": active_time_first,
    "deed-passive": passive,
    "deed-negated": negated,
    "deed-asked": asked,
    "deed-reported": reported,
}


def any_deed(construction: Construction) -> Callable[[Draw], Phrase]:
    return lambda draw: construction(draw, *deed(draw))


def eaten(draw: Draw) -> Phrase:
    """The lion chased the zebra and ate it: *it* is the patient, whoever that is."""

    def attempt() -> tuple[tuple[Verb, lex.Noun, lex.Noun], list[tuple[str, ...]]]:
        verb = draw.one([verb for verb in lex.ANY_DEEDS if verb.base != "hear"])
        doer, patient = draw.some(lex.ANIMALS, 2)
        return (verb, doer, patient), [fact(verb.base, doer.en, patient.en)]

    verb, doer, patient = draw.settle(attempt)
    chased = active(draw, verb, doer, patient)
    english, chinese = "{c} and ate/e {it}", "{c} ， 把 {it} 吃掉/e 了"
    return frame(english, chinese, c=chased, it=that(patient))


def asked_who(draw: Draw) -> Phrase:
    verb, _, patient = deed(draw)
    where, when = setting(draw, verb.base, where=0.4, when=0.4)
    english, chinese = "who/w {v} {o} {p} {t} ?/?", "{t} 谁/w {p} {v} {o} ？/?"
    return frame(english, chinese, v=past(verb), o=actor(patient), p=where, t=when)


DEEDS: dict[str, Callable[[Draw], Phrase]] = {
    **{name: any_deed(construction) for name, construction in CONSTRUCTIONS.items()},
    "deed-eaten": eaten,
    "deed-who": asked_who,
}
