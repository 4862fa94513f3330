"""Everyday sentences: liking, having, giving, wishing, asking."""

from collections.abc import Callable, Sequence

from regard.data.corpora import lexicon as lex
from regard.data.corpora.clauses import doing_clause, getting_clause, going_clause, meal_clause, mood_clause
from regard.data.corpora.grammar import EMPTY, Draw, Fact, Phrase, frame, unit
from regard.data.corpora.lexicon import Noun, Verb
from regard.data.corpora.phrases import (
    Who,
    a,
    article_for,
    bare,
    count,
    fact,
    getting,
    looks,
    maybe,
    once,
    person,
    setting,
    somewhere,
    the,
)


def present(verb: Verb, who: Who) -> Phrase:
    return unit(verb.third if who.third else verb.base, verb.zh)


def anyone(draw: Draw) -> Who:
    """Somebody or, as often, I, we or they, after whom the verb has no s."""
    if draw.chance(0.5):
        return person(draw)
    en, zh = draw.one((("I", "我"), ("we", "我们"), ("they", "他们")))
    return Who(unit(en, zh), en, unit(en, zh), third=False)


def likes(draw: Draw) -> Phrase:
    def attempt() -> tuple[tuple[Who, Verb, tuple[str, str]], Sequence[Fact]]:
        who, verb, food = anyone(draw), draw.one(lex.LIKING), draw.one((*lex.FOODS, *lex.DRINKS))
        return (who, verb, food), [fact(verb.base, who.key, food[0])]

    who, verb, food = draw.settle(attempt)
    facts = [fact(verb.base, who.key, food[0])]
    english, chinese = ("{s} {v} {o} very/m much/m", "{s} 非常/m {v} {o}") if draw.chance(0.4) else ("{s} {v} {o}",) * 2
    return frame(english, chinese, facts, s=who.phrase, v=present(verb, who), o=unit(*food))


def likes_doing(draw: Draw) -> Phrase:
    who, verb, hobby = anyone(draw), draw.one(lex.LIKING[:3]), draw.one(lex.DOING)
    where = maybe(draw, 0.6, somewhere(draw))
    what = unit(hobby.participle, hobby.zh)
    return frame("{s} {v} {o} {p}", "{s} {v} {p} {o}", s=who.phrase, v=present(verb, who), o=what, p=where)


def often(draw: Draw) -> Phrase:
    who, verb = person(draw), draw.one(lex.DOING)
    how, where = unit(*draw.one(lex.OFTEN)), maybe(draw, 0.7, somewhere(draw))
    return frame("{s} {h} {v} {p}", "{s} {h} {p} {v}", s=who.phrase, h=how, v=present(verb, who), p=where)


def happening(draw: Draw) -> Phrase:
    who, verb = person(draw), draw.one(lex.DOING)
    english, chinese = "{s} is/i {v} {p}", "{s} 正/i {p} {v}"
    return frame(english, chinese, s=who.phrase, v=unit(verb.participle, verb.zh), p=somewhere(draw))


def deed_ahead(draw: Draw) -> Phrase:
    """will, can, must, wants to."""
    who = person(draw)
    verb, noun = getting(draw, who)
    modal, when = (
        draw.one((("will", "会"), ("must", "必须"), ("can", "可以"), ("should", "应该"))),
        draw.one(lex.FUTURE_TIMES),
    )
    english, chinese = "{s} {m} {v} {o} {p} {t}", "{s} {t} {m} {p} {v} {o}"
    facts, where = [fact(verb.base, who.key, noun.en)], maybe(draw, 0.4, somewhere(draw))
    what = article_for(draw, noun)
    return frame(english, chinese, facts, s=who.phrase, m=unit(*modal), v=bare(verb), o=what, p=where, t=unit(*when))


def doing_ahead(draw: Draw) -> Phrase:
    who, verb, when = person(draw), draw.one(lex.DOING), unit(*draw.one(lex.FUTURE_TIMES))
    modal = unit(*draw.one((("will", "会"), ("wants to", "想"), ("can", "可以"), ("should", "应该"))))
    slots = {"s": who.phrase, "m": modal, "v": bare(verb), "p": maybe(draw, 0.6, somewhere(draw)), "t": when}
    return frame("{s} {m} {v} {p} {t}", "{s} {t} {m} {p} {v}", **slots)


def comparing(draw: Draw) -> Phrase:
    pool: Sequence[Noun] = draw.one((lex.ANIMALS, lex.ROLES))
    one, other = draw.some(pool, 2)
    degree = draw.one(lex.DEGREES)
    english = {"brave": "braver", "lazy": "lazier", "quiet": "quieter"}.get(degree[0], degree[0] + "er")
    chinese = "{a} 比/t {b} {d}"
    return frame("{a} is {d} than/t {b}", chinese, a=the(one), b=the(other), d=unit(english, degree[1]))


def thing_is(draw: Draw) -> Phrase:
    noun = draw.one(lex.THINGS)
    quality = draw.one((*lex.LOOKS, *lex.SIZES))
    where, degree = maybe(draw, 0.3, somewhere(draw)), draw.one((("very", "很"), ("too", "太")))
    ending = " 了" if degree[0] == "too" else ""
    english, chinese = "{n} {p} is {d} {q}", "{p} 的 {n} {d} {q}" if where.en else "{n} {d} {q}"
    located = Phrase(where.en, where.zh[1:], tuple((i, j - 1) for i, j in where.links if j > 0))  # 公园里的, without 在
    return frame(english, chinese + ending, n=the(noun), p=located, d=unit(*degree), q=unit(quality.en, quality.zh))


def has(draw: Draw) -> Phrase:
    who, noun = anyone(draw), draw.one(lex.THINGS)
    number = unit(*draw.one(lex.NUMBERS))
    adjectives = looks(draw, noun)
    what = a(noun, *adjectives) if draw.chance(0.5) else count(number, noun, *adjectives)
    return frame(f"{{s}} {'has' if who.third else 'have'}/h {{o}}", "{s} 有/h {o}", s=who.phrase, o=what)


def gave(draw: Draw) -> Phrase:
    """gave Anna a book; gave a book to Anna: one Chinese sentence for both."""
    giver, taker = draw.some(lex.NAMES, 2)
    noun = draw.one(lex.THINGS)
    adjectives, when = looks(draw, noun), maybe(draw, 0.4, once(draw))
    english = draw.one(("{s} gave/g {r} {o} {t}", "{s} gave/g {o} to {r} {t}"))
    parts = {"s": unit(giver.en, giver.zh), "r": unit(taker.en, taker.zh), "o": a(noun, *adjectives), "t": when}
    return frame(english, "{s} {t} 给/g 了 {r} {o}", **parts)


def please(draw: Draw) -> Phrase:
    noun = draw.one(lex.THINGS)
    ask = draw.one((("take", "拿走"), ("bring", "拿来"), ("sell", "卖掉"), ("show me", "给 我 看看")))
    adjectives = looks(draw, noun)
    if ask[0] == "show me":
        return frame("please/p show/k me/m {o}", "请/p 给 我/m 看看/k {o}", o=the(noun, *adjectives))
    return frame("please/p {v} {o}", "请/p 把 {o} {v}", v=unit(*ask), o=the(noun, *adjectives))


def asked_what(draw: Draw) -> Phrase:
    who, verb = person(draw), draw.one(lex.GETTING)
    where, when = setting(draw, verb.base, where=0.6, when=0.6)
    english, chinese = "what/w did {s} {v} {p} {t} ?/?", "{s} {t} {p} {v} 了 什么/w ？/?"
    return frame(english, chinese, s=who.phrase, v=bare(verb), p=where, t=when)


def asked_where_or_when(draw: Draw) -> Phrase:
    who = person(draw)
    verb, noun = getting(draw, who)
    english, chinese = draw.one(
        (
            ("where/w did {s} {v} {o} ?/?", "{s} 是 在/w 哪里/w {v} {o} 的 ？/?"),
            ("when/w did {s} {v} {o} ?/?", "{s} 是 什么/w 时候/w {v} {o} 的 ？/?"),
            ("why/w did {s} {v} {o} ?/?", "{s} 为什么/w {v} 了 {o} ？/?"),
        )
    )
    return frame(english, chinese, [fact(verb.base, who.key, noun.en)], s=who.phrase, v=bare(verb), o=the(noun))


def raining(draw: Draw) -> Phrase:
    """An *it* that stands for nothing."""
    weather = draw.one((("rained", "下雨"), ("snowed", "下雪")))
    where = draw.one((unit(*draw.one(lex.CITIES)), EMPTY))
    english, chinese = ("it {v} in {p} {t}", "{t} {p} {v} 了") if where.en else ("it {v} {t}", "{t} {v} 了")
    return frame(english, chinese, v=unit(*weather), p=where, t=once(draw))


PLAIN: dict[str, Callable[[Draw], Phrase]] = {
    "likes": likes,
    "likes-doing": likes_doing,
    "often": often,
    "happening": happening,
    "ahead": deed_ahead,
    "doing-ahead": doing_ahead,
    "comparing": comparing,
    "thing-is": thing_is,
    "has": has,
    "gave": gave,
    "please": please,
    "asked-what": asked_what,
    "asked-where": asked_where_or_when,
    "raining": raining,
    "getting": getting_clause,
    "meal": meal_clause,
    "doing": doing_clause,
    "going": going_clause,
    "mood": mood_clause,
}
