"""Noun phrases, times and places, and the plain clauses that longer sentences are made of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from regard.data.corpora import lexicon as lex
from regard.data.corpora.grammar import EMPTY, Draw, Fact, Phrase, frame, join, unit
from regard.data.corpora.lexicon import Adjective, Name, Noun, Place, Verb

Actor = Noun | Name
HE, SHE = unit("he", "他"), unit("she", "她")


@dataclass(frozen=True)
class Who:
    """A subject: how it is said, the word it goes by in facts, and the pronoun that takes it up again."""

    phrase: Phrase
    key: str
    pronoun: Phrase
    third: bool = True


def such(adjectives: Sequence[Adjective]) -> Phrase:
    """Adjectives before a noun. Chinese puts the one with 的 first: a big red bag, 一个红色的大包."""
    parts = {f"a{i}": unit(adjective.en, adjective.before) for i, adjective in enumerate(adjectives)}
    chinese = sorted(parts, key=lambda name: "的" not in parts[name].zh)
    return frame(" ".join(f"{{{n}}}" for n in parts), " ".join(f"{{{n}}}" for n in chinese), **parts)


def the(noun: Noun, *adjectives: Adjective) -> Phrase:
    chinese = "{adj} {n}" if noun.bare else f"那/t {noun.measure} {{adj}} {{n}}"
    return frame("the/t {adj} {n}", chinese, adj=such(adjectives), n=unit(noun.en, noun.zh))


def a(noun: Noun, *adjectives: Adjective) -> Phrase:
    first = adjectives[0].en if adjectives else noun.en
    article = "an" if first[0] in "aeiou" else "a"
    chinese = f"一/t {noun.measure} {{adj}} {{n}}"
    return frame(f"{article}/t {{adj}} {{n}}", chinese, adj=such(adjectives), n=unit(noun.en, noun.zh))


def count(number: Phrase, noun: Noun, *adjectives: Adjective) -> Phrase:
    words = unit(noun.many, noun.zh)
    return frame("{k} {adj} {n}", f"{{k}} {noun.measure} {{adj}} {{n}}", k=number, adj=such(adjectives), n=words)


def that(noun: Noun) -> Phrase:
    """What *it* becomes: the noun again, pointed at."""
    return Phrase(("it",), ("那", noun.measure, noun.zh), ((0, 0), (0, 2)))


def actor(who: Actor) -> Phrase:
    return unit(who.en, who.zh) if isinstance(who, Name) else the(who)


def place(where: Place) -> Phrase:
    side = f" {where.side}" if where.side else ""
    return frame(f"{where.preposition}/i {{n}}", f"在/i {{n}}{side}", n=the(where.noun))


def somewhere(draw: Draw) -> Phrase:
    return place(draw.one(lex.PLACES))


def once(draw: Draw) -> Phrase:
    return unit(*draw.one(lex.PAST_TIMES))


def maybe(draw: Draw, share: float, phrase: Phrase) -> Phrase:
    return phrase if draw.chance(share) else EMPTY


def person(draw: Draw) -> Who:
    """A name or somebody of a trade."""
    if draw.chance(0.55):
        name = draw.one(lex.NAMES)
        return Who(actor(name), name.en, HE if name.he else SHE)
    noun = draw.one(lex.PEOPLE)
    fixed = {"man": HE, "boy": HE, "woman": SHE, "girl": SHE}.get(noun.en)
    pronoun = draw.one((HE, SHE))
    return Who(the(noun), noun.en, fixed or pronoun)


def subject(draw: Draw) -> Who:
    """Anyone, I and they included."""
    if draw.chance(0.8):
        return person(draw)
    en, zh = draw.one(lex.PRONOUNS)
    return Who(unit(en, zh), en, unit(en, zh), third=en in {"he", "she"})


def looks(draw: Draw, noun: Noun) -> list[Adjective]:
    """Adjectives that suit the noun, often none, and none that would stutter (小小提琴, 老老虎)."""
    chosen = draw.random.choices(
        (*LOOKS_OF.get(noun, OF_THINGS), ()), (2,) * len(LOOKS_OF.get(noun, OF_THINGS)) + (8,)
    )[0]
    return [one for one in (draw.one(group) for group in chosen) if one.before != noun.zh[0]]


OF_THINGS = ((lex.LOOKS,), (lex.SIZES,), (lex.COLOURS,), (lex.LOOKS, lex.SIZES), (lex.SIZES, lex.COLOURS))
LOOKS_OF: dict[Noun, tuple[tuple[Sequence[Adjective], ...], ...]] = {
    **dict.fromkeys(lex.GROCERIES, ((lex.SIZES[:2],),) * 2),
    **dict.fromkeys(lex.ANIMALS, ((lex.ANIMAL_LOOKS,),) * 4),
    **dict.fromkeys(lex.PEOPLE, ((lex.PERSON_LOOKS,),) * 8),
}


def article_for(draw: Draw, noun: Noun) -> Phrase:
    """*the*, *a* or a number, with or without adjectives."""
    adjectives = looks(draw, noun)
    form = draw.random.random()
    if form < 0.3:
        return the(noun, *adjectives)
    if form < 0.7:
        return a(noun, *adjectives)
    return count(unit(*draw.one(lex.NUMBERS)), noun, *adjectives)


def fact(verb: str, one: str, other: str) -> Fact:
    """Who does what to whom, in either direction: a pair that is held out is held out both ways."""
    return ("deed", verb, *sorted((one, other)))


def past(verb: Verb) -> Phrase:
    return _tensed(verb.past, verb.zh_past)


def bare(verb: Verb) -> Phrase:
    return unit(verb.base, verb.zh)


def _tensed(en: str, zh: str) -> Phrase:
    """The first Chinese word is the verb; 了 and what follows have no English word of their own."""
    chinese = tuple(zh.split())
    return Phrase((en,), chinese, ((0, 0),))


def deed(draw: Draw) -> tuple[Verb, Actor, Actor]:
    """A verb, its doer and its patient, who could change places."""

    def attempt() -> tuple[tuple[Verb, Actor, Actor], Sequence[Fact]]:
        beasts: Sequence[Actor] = lex.ANIMALS
        humans: Sequence[Actor] = (*lex.PEOPLE, *lex.NAMES)
        pool = draw.one((beasts, humans))
        verb = draw.one((*lex.ANY_DEEDS, *(lex.ANIMAL_DEEDS if pool is beasts else lex.PEOPLE_DEEDS)))
        doer, patient = draw.some(pool, 2)
        if verb in lex.ANY_DEEDS and draw.chance(0.25):
            doer, patient = draw.some([draw.one(beasts), draw.one(humans)], 2)
        return (verb, doer, patient), [fact(verb.base, doer.en, patient.en)]

    return draw.settle(attempt)


def getting(draw: Draw, who: Who, goods: Sequence[Noun] = lex.THINGS) -> tuple[Verb, Noun]:
    def attempt() -> tuple[tuple[Verb, Noun], Sequence[Fact]]:
        verb, noun = draw.one(lex.GETTING), draw.one(goods)
        return (verb, noun), [fact(verb.base, who.key, noun.en)]

    return draw.settle(attempt)


def meal(draw: Draw, who: Who) -> tuple[Verb, Phrase]:
    def attempt() -> tuple[tuple[Verb, Phrase], Sequence[Fact]]:
        menu, verbs = draw.one(((lex.FOODS, lex.EATING), (lex.FOODS, lex.EATING), (lex.DRINKS, lex.DRINKING)))
        verb, (en, zh) = draw.one(verbs), draw.one(menu)
        return (verb, unit(en, zh)), [fact(verb.base, who.key, en)]

    return draw.settle(attempt)


def setting(draw: Draw, verb: str, *, where: float, when: float) -> tuple[Phrase, Phrase]:
    """A place and a time for a deed, each there or not; (deed, place, time) is one of the facts."""

    def attempt() -> tuple[tuple[Phrase, Phrase], Sequence[Fact]]:
        here, then = maybe(draw, where, somewhere(draw)), maybe(draw, when, once(draw))
        return (here, then), [setting_fact(verb, here, then)] if here.en and then.en else []

    here, then = draw.settle(attempt)
    facts = (setting_fact(verb, here, then),) if here.en and then.en else ()
    return here, replace(then, facts=facts)


def setting_fact(verb: str, where: Phrase, when: Phrase) -> Fact:
    return ("setting", verb, where.en[-1], " ".join(when.en))


def listing(phrases: Sequence[Phrase], last: str = "和") -> Phrase:
    """a, b and c: 甲、乙和丙."""
    return join(phrases, ",/m", "、/m", last_en="and/m", last_zh=f"{last}/m")
