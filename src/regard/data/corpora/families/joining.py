"""Clauses joined: relative clauses that move in front of the noun with 的, because and although, and long chains."""

from collections.abc import Callable, Sequence

from regard.data.corpora import lexicon as lex
from regard.data.corpora.clauses import AFTERWARDS, FREE, MEANWHILE, Manner, clause
from regard.data.corpora.grammar import Draw, Fact, Phrase, frame, join, unit
from regard.data.corpora.lexicon import Noun, Verb
from regard.data.corpora.phrases import (
    Actor,
    Who,
    actor,
    article_for,
    deed,
    fact,
    getting,
    maybe,
    once,
    past,
    person,
    the,
)


def relative_deed(draw: Draw) -> tuple[Verb, Noun, Actor]:
    """A verb, the noun that will bear the clause, and the other party."""
    while True:
        verb, one, other = deed(draw)
        if isinstance(one, Noun):
            return verb, one, other


def subject_relative(verb: Verb, head: Noun, other: Actor) -> Phrase:
    """the dog that chased the cat: 追赶了猫的狗."""
    facts, that = [fact(verb.base, head.en, other.en)], "who" if head in lex.PEOPLE else "that"
    english, chinese = f"the {{h}} {that}/d {{v}} {{o}}", "{v} {o} 的/d {h}"
    return frame(english, chinese, facts, h=unit(head.en, head.zh), v=past(verb), o=actor(other))


def object_relative(verb: Verb, head: Noun, other: Actor) -> Phrase:
    """the dog that the cat chased: 猫追赶的狗."""
    facts, that = [fact(verb.base, head.en, other.en)], "who" if head in lex.PEOPLE else "that"
    english, chinese = f"the {{h}} {that}/d {{o}} {{v}}", "{o} {v} 的/d {h}"
    return frame(english, chinese, facts, h=unit(head.en, head.zh), v=unit(verb.past, verb.zh), o=actor(other))


RELATIVES = (subject_relative, object_relative)
Wrapping = Callable[[Draw, Phrase, str], Phrase]


def feels(draw: Draw, who: Phrase, head: str) -> Phrase:
    return frame("{s} was very/v {m}", "{s} 很/v {m}", s=who, m=unit(*draw.one(lex.MOODS[:7])))


def runs_into(draw: Draw, who: Phrase, head: str) -> Phrase:
    goal, when = the(draw.one(lex.ENTERABLE)), maybe(draw, 0.4, once(draw))
    return frame("{s} ran/r into/r {p} {t}", "{s} {t} 跑进/r 了 {p}", s=who, p=goal, t=when)


def is_met(draw: Draw, who: Phrase, head: str) -> Phrase:
    """The relative clause at the end of the English sentence, inside the Chinese one."""

    def attempt() -> tuple[tuple[Who, tuple[str, str]], Sequence[Fact]]:
        someone, verb = person(draw), draw.one((("liked", "喜欢"), ("pitied", "同情"), ("was looking for", "正在 找")))
        return (someone, verb), [fact(verb[0], someone.key, head)]

    someone, verb = draw.settle(attempt)
    slots = {"s": someone.phrase, "v": unit(*verb), "o": who, "t": maybe(draw, 0.4, once(draw))}
    return frame("{t} {s} {v} {o}", "{t} {s} {v} {o}", [fact(verb[0], someone.key, head)], **slots)


WRAPPINGS: tuple[Wrapping, ...] = (feels, runs_into, is_met)


def any_relative(kind: Callable[[Verb, Noun, Actor], Phrase]) -> Callable[[Draw], Phrase]:
    def family(draw: Draw) -> Phrase:
        verb, head, other = relative_deed(draw)
        return draw.one(WRAPPINGS)(draw, kind(verb, head, other), head.en)

    return family


def buyer(draw: Draw) -> Phrase:
    """the man who bought the book: 买了那本书的男人."""
    head = draw.one(lex.PEOPLE)
    verb, noun = getting(draw, Who(the(head), head.en, the(head)))
    facts = [fact(verb.base, head.en, noun.en)]
    slots = {"h": unit(head.en, head.zh), "v": past(verb), "o": article_for(draw, noun)}
    return draw.one(WRAPPINGS)(draw, frame("the {h} who/d {v} {o}", "{v} {o} 的/d {h}", facts, **slots), head.en)


def bought_thing(draw: Draw) -> Phrase:
    """the book that Joe bought: 乔买的书."""
    who = person(draw)
    verb, noun = getting(draw, who)
    facts = [fact(verb.base, who.key, noun.en)]
    slots = {
        "h": unit(noun.en, noun.zh),
        "v": unit(verb.past, verb.zh),
        "s": who.phrase,
        "t": maybe(draw, 0.4, once(draw)),
    }
    thing = frame("the {h} that/d {s} {v} {t}", "{s} {t} {v} 的/d {h}", facts, **slots)
    quality = draw.one((*lex.LOOKS, *lex.SIZES))
    return frame("{x} is very/v {q}", "{x} 很/v {q}", x=thing, q=unit(quality.en, quality.zh))


def shop_where(draw: Draw) -> Phrase:
    """the shop where Joe bought the book: 乔买那本书的商店."""
    who, place = person(draw), draw.one(lex.SIGHTS)
    verb, noun = getting(draw, who)
    facts = [fact(verb.base, who.key, noun.en)]
    slots = {"h": unit(place.en, place.zh), "v": unit(verb.past, verb.zh), "s": who.phrase, "o": the(noun)}
    spot = frame("the {h} where/d {s} {v} {o}", "{s} {v} {o} 的/d {h}", facts, **slots)
    return frame("{x} is very/v {q}", "{x} 很/v {q}", x=spot, q=unit(*draw.one(lex.SIGHT_ONLY)))


# two clauses, English, Chinese, how {a} is said
TWO: dict[str, tuple[str, str, Manner]] = {
    "because": ("{b} because/h {a}", "{b} ， 因为/h {a}", FREE),
    "although": ("although/h {a} ,/, {b}", "虽然/h {a} ，/, 但是 {b}", FREE),
    "but": ("{a} ,/, but/h {b}", "{a} ，/, 但是/h {b}", FREE),
    "so": ("{a} ,/, so/h {b}", "{a} ，/, 所以/h {b}", FREE),
    "after": ("{b} after/h {a}", "{a} 之后/h ， {b}", AFTERWARDS),
    "before": ("{b} before/h {a}", "{a} 之前/h ， {b}", MEANWHILE),
    "when": ("when/h {a} ,/, {b}", "{a} 的 时候/h ，/, {b}", MEANWHILE),
    "as": ("{b} as/h {a}", "当/h {a} 时/h ， {b}", MEANWHILE),
}


def two(english: str, chinese: str, how: Manner) -> Callable[[Draw], Phrase]:
    return lambda draw: frame(english, chinese, a=clause(draw, how), b=clause(draw))


def chain(draw: Draw) -> Phrase:
    """One thing after another."""
    parts = [clause(draw) for _ in range(draw.one((3, 3, 4, 5, 6, 7)))]
    return join(parts, ",/m", "，/m", last_en=",/m and/c", last_zh="，/m 而且/c")


def tale(draw: Draw) -> Phrase:
    """Clauses of all kinds: the long tail of the corpus."""
    first = draw.one((*DEEPER, *(two(*row) for row in TWO.values())))(draw)
    links = (
        (",/m and/c", "，/m 而且/c"),
        (",/m but/c", "，/m 但是/c"),
        (",/m so/c", "，/m 所以/c"),
        ("because/c", "， 因为/c"),
        (",/m and/c then/c", "，/m 然后/c"),
    )
    for _ in range(draw.one((1, 2, 3, 4, 5))):
        en, zh = draw.one(links)
        following = draw.one((clause, clause, *DEEPER))(draw)
        first = frame(f"{{a}} {en} {{b}}", f"{{a}} {zh} {{b}}", a=first, b=following)
    return first


def said(draw: Draw) -> Phrase:
    speaker, when = person(draw), maybe(draw, 0.3, once(draw))
    verb = unit(*draw.one((("said", "说"), ("knew", "知道"), ("thought", "以为"), ("heard", "听说"))))
    return frame("{t} {s} {v} that {c}", "{t} {s} {v} {c}", s=speaker.phrase, v=verb, c=clause(draw), t=when)


DEEPER = (any_relative(subject_relative), any_relative(object_relative), buyer, bought_thing, shop_where)

JOINING: dict[str, Callable[[Draw], Phrase]] = {
    "relative-subject": any_relative(subject_relative),
    "relative-object": any_relative(object_relative),
    "relative-buyer": buyer,
    "relative-bought": bought_thing,
    "relative-where": shop_where,
    **{name: two(*row) for name, row in TWO.items()},
    "said": said,
    "chain": chain,
    "tale": tale,
}
