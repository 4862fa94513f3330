"""When, where and how many: phrases that move in Chinese, and measure words."""

from collections.abc import Callable, Sequence

from regard.data.corpora import lexicon as lex
from regard.data.corpora.clauses import done
from regard.data.corpora.grammar import EMPTY, Draw, Fact, Phrase, frame, unit
from regard.data.corpora.lexicon import Noun, Verb
from regard.data.corpora.phrases import (
    Who,
    a,
    article_for,
    count,
    fact,
    getting,
    listing,
    looks,
    maybe,
    meal,
    once,
    past,
    setting,
    somewhere,
    subject,
    the,
)


def visiting(draw: Draw) -> Phrase:
    who, sight, when = subject(draw), draw.one(lex.SIGHTS), once(draw)
    return frame("{s} visited/v {o} {t}", "{s} {t} 参观/v 了 {o}", s=who.phrase, o=the(sight), t=when)


def travelling(draw: Draw) -> Phrase:
    who, city, vehicle = subject(draw), unit(*draw.one(lex.CITIES)), unit(*draw.one(lex.VEHICLES))
    when = maybe(draw, 0.6, once(draw))
    english, chinese = "{s} went/g to {c} by/b {v} {t}", "{s} {t} 坐/b {v} 去/g 了 {c}"
    return frame(english, chinese, s=who.phrase, c=city, v=vehicle, t=when)


def lasting(draw: Draw) -> Phrase:
    """How long: 工作了两个小时 stands after the verb, where English has it too."""
    who = subject(draw)
    doing = unit(*draw.one((("rested", "休息"), ("waited", "等"), ("lived", "住"), ("stayed", "待"))))
    where, how_long = somewhere(draw), unit(*draw.one(lex.DURATIONS))
    return frame("{s} {v} {p} for {d}", "{s} {p} {v} 了 {d}", s=who.phrase, v=doing, p=where, d=how_long)


def there_is(draw: Draw) -> Phrase:
    noun, where = draw.one(draw.one((lex.ANIMALS, lex.THINGS, lex.PEOPLE))), draw.one(lex.PLACES)
    english, chinese = f"there/h is/h {{o}} {where.preposition} {{p}}", f"{{p}} {where.side} 有/h {{o}}"
    return frame(english, chinese, o=a(noun, *looks(draw, noun)), p=the(where.noun))


def there_are(draw: Draw) -> Phrase:
    noun, where = draw.one(lex.ANIMALS), draw.one(lex.PLACES)
    what = count(unit(*draw.one(lex.NUMBERS)), noun, *looks(draw, noun))
    english, chinese = f"there/h are/h {{o}} {where.preposition} {{p}}", f"{{p}} {where.side} 有/h {{o}}"
    return frame(english, chinese, o=what, p=the(where.noun))


def costs(draw: Draw) -> Phrase:
    noun, number = draw.one((*lex.THINGS, *lex.GROCERIES)), unit(*draw.one(lex.NUMBERS))
    money = unit(*draw.one((("dollars", "美元"), ("yuan", "元"))))
    return frame("{o} costs/c {n} {m}", "{o} 要/c {n} {m}", o=the(noun, *looks(draw, noun)), n=number, m=money)


def shopping(draw: Draw) -> Phrase:
    """A list, each thing with its own measure word."""

    def attempt() -> tuple[tuple[Verb, list[Noun]], Sequence[Fact]]:
        verb = draw.one(lex.GETTING)
        goods = draw.some((*lex.THINGS, *lex.GROCERIES), draw.one((2, 2, 3, 3, 4, 5, 6, 8)))
        return (verb, goods), [fact(verb.base, who.key, noun.en) for noun in goods]

    who = subject(draw)
    verb, goods = draw.settle(attempt)
    facts = [fact(verb.base, who.key, noun.en) for noun in goods]
    things = listing([article_for(draw, noun) for noun in goods])
    where, when = setting(draw, verb.base, where=0.3, when=0.3)
    return done(past(verb), who.phrase, things, facts, where=where, when=when)


def together(draw: Draw) -> Phrase:
    people = [unit(name.en, name.zh) for name in draw.some(lex.NAMES, draw.one((2, 3, 4)))]
    verb = draw.one(lex.DOING)
    where, when = setting(draw, verb.base, where=0.7, when=0.5)
    english, chinese = "{s} {v} together/t {p} {t}", "{s} {t} {p} 一起/t {v}"
    return frame(english, chinese, s=listing(people), v=past(verb), p=where, t=when)


def situated(draw: Draw, who: Who, verb: Verb, what: Phrase, where: Phrase, when: Phrase) -> Phrase:
    """Time and place in any English order; in Chinese, time, then place, then the verb."""
    english, chinese = draw.one(
        (
            ("{s} {v} {o} {p} {t}", "{s} {t} {p} {v} {o}"),
            ("{s} {v} {o} {t} {p}", "{s} {t} {p} {v} {o}"),
            ("{t} {s} {v} {o} {p}", "{t} {s} {p} {v} {o}"),
        )
    )
    return frame(english, chinese, s=who.phrase, v=past(verb), o=what, p=where, t=when)


def situated_meal(draw: Draw) -> Phrase:
    who = subject(draw)
    verb, food = meal(draw, who)
    where, when = setting(draw, verb.base, where=1.0, when=1.0)
    phrase = situated(draw, who, verb, food, where, when)
    return frame("{x}", "{x}", [fact(verb.base, who.key, food.en[0])], x=phrase)


def situated_doing(draw: Draw) -> Phrase:
    who, verb = subject(draw), draw.one(lex.DOING)
    where, when = setting(draw, verb.base, where=1.0, when=1.0)
    return situated(draw, who, verb, EMPTY, where, when)


def counted(draw: Draw, who: Who, verb: Verb, noun: Noun) -> tuple[Phrase, Phrase]:
    """Somebody got so many of something: the whole, and the counted noun in it."""
    adjective = [draw.one(lex.SIZES[:2])] if draw.chance(0.5) else []
    number = unit(*draw.one(lex.NUMBERS))
    what = a(noun, *adjective) if draw.chance(0.4) else count(number, noun, *adjective)
    where, when = setting(draw, verb.base, where=0.4, when=0.4)
    return done(past(verb), who.phrase, what, [fact(verb.base, who.key, noun.en)], where=where, when=when), what


def counting(draw: Draw) -> Phrase:
    who = subject(draw)
    return counted(draw, who, *getting(draw, who, (*lex.THINGS, *lex.GROCERIES)))[0]


SETTINGS: dict[str, Callable[[Draw], Phrase]] = {
    "visiting": visiting,
    "travelling": travelling,
    "lasting": lasting,
    "there-is": there_is,
    "there-are": there_are,
    "costs": costs,
    "shopping": shopping,
    "together": together,
    "situated-meal": situated_meal,
    "situated-doing": situated_doing,
    "counting": counting,
}
