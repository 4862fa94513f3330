"""*it*: the Chinese says the noun again, so it is right only if the noun was found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from regard.data.corpora import lexicon as lex
from regard.data.corpora.grammar import Draw, Fact, Phrase, frame, unit
from regard.data.corpora.lexicon import Noun
from regard.data.corpora.phrases import a, maybe, once, person, subject, that, the

Quality = tuple[str, str]


@dataclass(frozen=True)
class Choice:
    """Two nouns, and for each a quality that only it can have."""

    kind: str
    nouns: tuple[Noun, Noun]
    qualities: tuple[Quality, Quality]

    def fact(self, which: int) -> Fact:
        return ("it", *(noun.en for noun in self.nouns), self.qualities[which][0])


def choice(draw: Draw, kind: str) -> Choice:
    (firsts, seconds), (ones, others) = CHOICES[kind]

    def attempt() -> tuple[Choice, Sequence[Fact]]:
        chosen = Choice(kind, (draw.one(firsts), draw.one(seconds)), (draw.one(ones), draw.one(others)))
        return chosen, [chosen.fact(0), chosen.fact(1)]

    return draw.settle(attempt)


CHOICES: dict[str, tuple[tuple[Sequence[Noun], Sequence[Noun]], tuple[Sequence[Quality], Sequence[Quality]]]] = {
    "crossing": ((lex.ANIMALS, lex.CROSSABLE), (lex.CREATURE_ONLY, lex.WAY_ONLY)),
    "packing": ((lex.PACKABLE, lex.CONTAINERS), (lex.PACKED_ONLY, lex.CONTAINER_ONLY)),
}

BECAUSE = (
    ("{c} because/b {it} was too/d {q}", "{c} ， 因为/b {it} 太/d {q} 了"),
    ("{c} because/b {it} was very/d {q}", "{c} ， 因为/b {it} 很/d {q}"),
    ("{c} ,/, since/b {it} was very/d {q}", "{c} ，/, 因为/b {it} 很/d {q}"),
)


def pointed(draw: Draw, chosen: Choice, which: int) -> Phrase:
    """The sentence in which *it* is the first or the second noun."""
    action = (crossing if chosen.kind == "crossing" else packing)(draw, *chosen.nouns)
    it, quality = that(chosen.nouns[which]), unit(*chosen.qualities[which])
    return frame(*draw.one(BECAUSE), [chosen.fact(which)], c=action, it=it, q=quality)


def beside(draw: Draw) -> Phrase:
    """Somebody else, so that *it* has one more noun to pass over."""
    return maybe(draw, 0.3, frame("with/w {n}", "和/w {n} 一起", n=person(draw).phrase))


def crossing(draw: Draw, animal: Noun, way: Noun) -> Phrase:
    slots = {"s": the(animal), "o": the(way)}
    if draw.chance(0.2):
        return frame("{s} did/n not/n like/v {o}", "{s} 不/n 喜欢/v {o}", **slots)
    verb = unit(*draw.one((("cross", "穿过"), ("enter", "进入"), ("leave", "离开"))))
    english, chinese = "{s} did/n not/n {v} {o} {w} {t}", "{s} {t} 没有/n {w} {v} {o}"
    return frame(english, chinese, **slots, v=verb, w=beside(draw), t=maybe(draw, 0.3, once(draw)))


def packing(draw: Draw, thing: Noun, container: Noun) -> Phrase:
    who = draw.one(lex.NAMES)
    his, zh = ("his", "他") if who.he else ("her", "她")
    english = f"{{s}} did/n not/n put/u {his}/1 {{a}} into/i {his}/2 {{b}} {{w}} {{t}}"
    chinese = f"{{s}} {{t}} 没有/n {{w}} 把 {zh}/1 的/1 {{a}} 放进/u {zh}/2 的/2 {{b}} 里/i"
    things = {"a": unit(thing.en, thing.zh), "b": unit(container.en, container.zh)}
    return frame(english, chinese, s=unit(who.en, who.zh), **things, w=beside(draw), t=maybe(draw, 0.3, once(draw)))


def sight(draw: Draw) -> Phrase:
    """Visited the museum near the station because it was old: the place visited, not the one beside it."""

    def attempt() -> tuple[tuple[Noun, Noun, Quality], Sequence[Fact]]:
        one, other = draw.some(lex.SIGHTS, 2)
        quality = draw.one(lex.SIGHT_ONLY)
        return (one, other, quality), [("it", one.en, other.en, quality[0])]

    one, other, quality = draw.settle(attempt)
    near = draw.chance(0.7)
    goal = frame("{a} near/n {b}", "{b} 附近/n 的 {a}", a=the(one), b=the(other)) if near else the(one)
    who, when = subject(draw), maybe(draw, 0.5, once(draw))
    visit = frame("{s} visited/v {o} {t}", "{s} {t} 参观/v 了 {o}", s=who.phrase, o=goal, t=when)
    facts = [("it", one.en, other.en, quality[0])] if near else []
    return frame(*draw.one(BECAUSE[1:]), facts, c=visit, it=that(one), q=unit(*quality))


def shown(draw: Draw) -> Phrase:
    """What was shown comes back after the comma, past the people."""
    who, friend, noun = person(draw), person(draw), draw.one(lex.PACKABLE)
    english = "{f} showed/s {w} {o} {t} ,/, but/b {he} did/d not/d like/l {it}"
    chinese = "{f} {t} 给 {w} 看/s 了 {o} ，/, 但是/b {he} 不/d 喜欢/l {it}"
    slots = {"f": friend.phrase, "w": who.phrase, "o": a(noun), "t": maybe(draw, 0.5, once(draw)), "he": who.pronoun}
    return frame(english, chinese, **slots, it=that(noun))


def any_choice(kind: str) -> Callable[[Draw], Phrase]:
    return lambda draw: pointed(draw, choice(draw, kind), draw.one((0, 1)))


POINTING: dict[str, Callable[[Draw], Phrase]] = {
    "it-crossing": any_choice("crossing"),
    "it-packing": any_choice("packing"),
    "it-sight": sight,
    "it-shown": shown,
}
