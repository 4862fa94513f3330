"""Words with two meanings: the clue stands before or after, near or far; and *bear*, noun or verb."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from regard.data.corpora import lexicon as lex
from regard.data.corpora.clauses import done
from regard.data.corpora.grammar import EMPTY, Draw, Fact, Phrase, frame, unit
from regard.data.corpora.lexicon import Noun, Verb
from regard.data.corpora.phrases import (
    Who,
    a,
    fact,
    listing,
    maybe,
    once,
    past,
    person,
    setting,
    somewhere,
    subject,
    the,
)
from regard.data.corpora.senses import AMBIGUOUS, Ambiguous, Clue

# English, Chinese. {w} is the ambiguous word; the clue comes as {to} (base) or {ing} (gerund);
# {x} and {y} make the distance between them vary.
BEFORE = (
    ("after/a {ing} {x} ,/, {s} {v} {w} {y}", "{x} {ing} 之后/a ，/, {s} {y} {v} {w}"),
    ("before/a {ing} {x} ,/, {s} {v} {w} {y}", "{x} {ing} 之前/a ，/, {s} {y} {v} {w}"),
    ("when/a {s} was {ing} {x} ,/, {he} {v} {w}", "{s} {x} {ing} 的 时候/a ，/, {he} {v} {w}"),
    ("{s} wanted/m to {to} {x} ,/, so/o {he} {v} {w} {y}", "{s} 想/m {x} {to} ，/, 所以/o {he} {y} {v} {w}"),
    ("{s} had/m to {to} {x} ,/, and later/l {he} {v} {w}", "{s} 不得不/m {x} {to} ，/, 后来/l {he} {v} {w}"),
    ("{s} decided/m to {to} {x} and then/t {v} {w}", "{s} 决定/m {x} {to} ， 然后/t {v} {w}"),
)
AFTER = (
    ("{s} {v} {w} {y} after/a {ing} {x}", "{x} {ing} 之后/a ， {s} {y} {v} {w}"),
    ("{s} {v} {w} {y} before/b {ing} {x}", "{x} {ing} 之前/b ， {s} {y} {v} {w}"),
    ("{s} {v} {w} when/a {he} was {ing} {x}", "{s} {x} {ing} 的 时候/a ， {he} {v} {w}"),
    ("{s} {v} {w} {y} because/b {he} wanted/m to {to} {x}", "{s} {y} {v} {w} ， 因为/b {he} 想/m {x} {to}"),
    ("{s} {v} {w} {y} and then/t decided/d to {to} {x}", "{s} {y} {v} {w} ， 然后/t 决定/d {x} {to}"),
    (
        "{s} {v} {w} {y} ,/, although/b {he} had/m to {to} {x}",
        "虽然/b {he} 不得不/m {x} {to} ，/, 但是 {s} {y} {v} {w}",
    ),
)


@dataclass(frozen=True)
class Riddle:
    """A sentence with an ambiguous word, but for which of the two clues it gives."""

    word: Ambiguous
    deed: tuple[str, str]
    who: Who
    clues: tuple[Clue, Clue]

    @property
    def facts(self) -> list[Fact]:
        clues = " / ".join(clue.base for clue in self.clues)
        return [fact(self.deed[0], self.who.key, self.word.word), ("clue", self.word.word, self.deed[0], clues)]


def riddle(draw: Draw, words: Sequence[Ambiguous] = AMBIGUOUS) -> Riddle:
    def attempt() -> tuple[Riddle, Sequence[Fact]]:
        word, clues = draw.one([(word, clues) for word in words for clues in word.clues])
        asked = Riddle(word, draw.one(word.deeds), person(draw), clues)
        return asked, asked.facts

    return draw.settle(attempt)


def company(draw: Draw, who: Who) -> Phrase:
    """with Anna and Tom: words between the clue and what it decides."""
    names = draw.some([name for name in lex.NAMES if name.en != who.key], draw.one((1, 1, 2, 2, 3)))
    return frame("with/w {f}", "和/w {f} 一起", f=listing([unit(name.en, name.zh) for name in names], last="、"))


def answer(draw: Draw, templates: Sequence[tuple[str, str]], asked: Riddle, which: int) -> Phrase:
    """The riddle with the clue to its first or its second meaning."""
    (zh, measure), clue = asked.word.meanings[which], asked.clues[which]
    noun = Noun(asked.word.word, zh, measure, bare=not measure)
    slots = {
        "w": a(noun) if draw.chance(0.3) and measure else the(noun),
        "x": maybe(draw, 0.5, company(draw, asked.who)),
        "y": maybe(draw, 0.4, once(draw)),
        "s": asked.who.phrase,
        "he": asked.who.pronoun,
        "v": _done(*asked.deed),
        "to": unit(clue.base, clue.zh),
        "ing": unit(clue.gerund, clue.zh),
    }
    english, chinese = draw.one(templates)
    return frame(english, chinese, asked.facts, **slots)


def _done(en: str, zh: str) -> Phrase:
    """了 has no English word of its own."""
    return frame("{v}", "{v} 了", v=unit(en, zh.removesuffix(" 了")))


def any_answer(templates: Sequence[tuple[str, str]]) -> Callable[[Draw], Phrase]:
    return lambda draw: answer(draw, templates, riddle(draw), draw.one((0, 1)))


BEAR = Noun("bear", "熊", "头")
# what one may be unable or obliged to do to a bear: base, Chinese for could not, Chinese for had to
WITH_A_BEAR = (
    ("find", "找不到", "找到"),
    ("catch", "抓不住", "抓住"),
    ("chase", "追不上", "追赶"),
    ("follow", "跟不上", "跟踪"),
)
BEAR_DEEDS = (*lex.ANY_DEEDS, *lex.ANIMAL_DEEDS)


def burden(draw: Draw) -> tuple[Who, tuple[str, str], tuple[str, str, str]]:
    """Who, what is hard to bear, and what is hard to do to a bear."""

    def attempt() -> tuple[tuple[Who, tuple[str, str], tuple[str, str, str]], Sequence[Fact]]:
        who, trouble, verb = person(draw), draw.one(lex.UNBEARABLE), draw.one(WITH_A_BEAR)
        return (who, trouble, verb), [fact("bear", who.key, trouble[0]), fact(verb[0], who.key, "bear")]

    return draw.settle(attempt)


def bear_or_bear(draw: Draw, who: Who, trouble: tuple[str, str], verb: tuple[str, str, str], *, noun: bool) -> Phrase:
    """could not bear the noise; could not find the bear."""
    unable = draw.chance(0.6)
    could = draw.one(("could not", "cannot"))
    where, when = setting(draw, "bear", where=0.4, when=0.4)
    if could == "cannot" and unable:
        when = EMPTY
    negated = " ".join(f"{word}/v" for word in could.split())
    if noun:
        facts, last = [fact(verb[0], who.key, "bear")], the(BEAR)
        deed = (
            (f"{negated} {verb[0]}/v", f"{verb[1]}/v") if unable else (f"had/h to {verb[0]}/v", f"不得不/h {verb[2]}/v")
        )
    else:
        facts, last = [fact("bear", who.key, trouble[0])], frame("the {n}", "{n}", n=unit(*trouble))
        deed = (f"{negated} bear/v", "受不了/v") if unable else ("had/h to bear/v", "不得不/h 忍受/v")
    english, chinese = f"{{s}} {deed[0]} {{o}} {{p}} {{t}}", f"{{s}} {{t}} {{p}} {deed[1]} {{o}}"
    return frame(english, chinese, facts, s=who.phrase, o=last, p=where, t=when)


def bear_seen(draw: Draw) -> Phrase:
    """A bear among animals and people, doing or suffering."""

    def attempt() -> tuple[tuple[Verb, Noun], Sequence[Fact]]:
        verb, other = draw.one(BEAR_DEEDS), draw.one((*lex.ANIMALS, *lex.ROLES))
        return (verb, other), [fact(verb.base, "bear", other.en)]

    verb, other = draw.settle(attempt)
    pair = [the(other), draw.one((the(BEAR), a(BEAR)))]
    doer, patient = pair if draw.chance(0.5) or pair[1].en[0] == "a" else pair[::-1]
    where, when = setting(draw, verb.base, where=0.4, when=0.4)
    return done(past(verb), doer, patient, [fact(verb.base, "bear", other.en)], where=where, when=when)


def bear_bears(draw: Draw) -> Phrase:
    trouble = frame("the {n}", "{n}", n=unit(*draw.one(lex.UNBEARABLE)))
    return frame(
        "the {b} could/v not/v bear/v {o} {p}",
        "{b} {p} 受不了/v {o}",
        b=unit("bear", "熊"),
        o=trouble,
        p=somewhere(draw),
    )


def bear_borne(draw: Draw) -> Phrase:
    """The verb without help from *not*: who can bear what."""
    who, trouble, _ = burden(draw)
    what = frame("the {n}", "{n}", n=unit(*trouble))
    return frame(
        "{s} can/c bear/v {o}", "{s} 能/c 忍受/v {o}", [fact("bear", who.key, trouble[0])], s=who.phrase, o=what
    )


def bear_lived(draw: Draw) -> Phrase:
    """I saw a bear; there is no object that could tell, only the article."""
    who, when = subject(draw), once(draw)
    verb = draw.one(
        (("met", "遇到 了"), ("fed", "喂 了"), ("drew", "画 了"), ("photographed", "拍 了"), ("saw", "看见 了"))
    )
    seen = past(Verb("", verb[0], "", "", verb[1]))
    return frame("{s} {v} {o} {t}", "{s} {t} {v} {o}", s=who.phrase, v=seen, o=draw.one((a(BEAR), the(BEAR))), t=when)


MEANINGS: dict[str, Callable[[Draw], Phrase]] = {
    "clue-before": any_answer(BEFORE),
    "clue-after": any_answer(AFTER),
    "bear-noun": lambda draw: bear_or_bear(draw, *burden(draw), noun=True),
    "bear-verb": lambda draw: bear_or_bear(draw, *burden(draw), noun=False),
    "bear-seen": bear_seen,
    "bear-bears": bear_bears,
    "bear-borne": bear_borne,
    "bear-met": bear_lived,
}
