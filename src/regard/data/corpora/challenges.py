"""Challenge sets: pairs of sentences that differ in one thing, made only of combinations kept from training."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from regard.data.corpora import lexicon as lex
from regard.data.corpora.families.deeds import CONSTRUCTIONS
from regard.data.corpora.families.joining import WRAPPINGS, object_relative, relative_deed, subject_relative
from regard.data.corpora.families.meanings import AFTER, BEFORE, answer, bear_or_bear, burden, riddle
from regard.data.corpora.families.pointing import choice, pointed
from regard.data.corpora.families.settings import counted, situated
from regard.data.corpora.grammar import Draw, Fact, Pair, Phrase, finish, frame, held_out
from regard.data.corpora.phrases import deed, fact, meal, once, setting_fact, somewhere, subject, that
from regard.data.corpora.senses import AMBIGUOUS, BANK, Ambiguous


@dataclass(frozen=True)
class Contrast:
    """Two sentences that differ in one thing, with the piece of each translation that shows whether it was seen."""

    phenomenon: str
    first: Pair
    second: Pair
    first_key: str
    second_key: str
    word: str


Sides = tuple[Phrase, Phrase, str, str, str]  # both sentences, both keys, the English word at stake


def twice(draw: Draw, make: Callable[[Draw, int], Phrase]) -> tuple[Phrase, Phrase]:
    """The same draws for both sides, so that only what is asked for differs."""
    seed = draw.seed()
    return make(Draw(seed, held=True), 0), make(Draw(seed, held=True), 1)


def meaning(words: Sequence[Ambiguous], templates: Sequence[tuple[str, str]]) -> Callable[[Draw], Sides]:
    def make(draw: Draw) -> Sides:
        asked = riddle(draw, words)
        first, second = twice(draw, lambda side, which: answer(side, templates, asked, which))
        (one, _), (other, _) = asked.word.meanings
        return first, second, one, other, asked.word.word

    return make


def bear(draw: Draw) -> Sides:
    who, trouble, verb = burden(draw)
    first, second = twice(draw, lambda side, which: bear_or_bear(side, who, trouble, verb, noun=which == 1))
    return first, second, "受不了" if "受不了" in first.zh else "忍受", "熊", "bear"


def who_chased_whom(draw: Draw) -> Sides:
    verb, one, other = deed(draw)
    construction = draw.one(tuple(CONSTRUCTIONS.values()))
    first, second = twice(draw, lambda side, which: construction(side, verb, *((one, other), (other, one))[which]))
    return first, second, *differing(first.zh, second.zh), verb.past


def differing(one: Sequence[str], other: Sequence[str]) -> tuple[str, str]:
    """What is left of two sentences without their common beginning and end."""
    start = next(i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    end = next(i for i, (a, b) in enumerate(zip(reversed(one), reversed(other), strict=False)) if a != b)
    return "".join(one[start : len(one) - end]), "".join(other[start : len(other) - end])


def it(draw: Draw) -> Sides:
    chosen = choice(draw, draw.one(("crossing", "packing")))
    first, second = twice(draw, lambda side, which: pointed(side, chosen, which))
    return first, second, that(chosen.nouns[0]).text, that(chosen.nouns[1]).text, "it"


def de_clause(draw: Draw) -> Sides:
    verb, head, other = relative_deed(draw)
    wrap = draw.one(WRAPPINGS)
    clauses = (subject_relative(verb, head, other), object_relative(verb, head, other))
    first, second = twice(draw, lambda side, which: wrap(side, clauses[which], head.en))
    return first, second, clauses[0].text, clauses[1].text, head.en


def time_place_order(draw: Draw) -> Sides:
    """Another time or another place; the key reaches from the time to the verb."""
    who = subject(draw)
    verb, food = meal(draw, who)

    def attempt() -> tuple[list[tuple[Phrase, Phrase]], Sequence[Fact]]:
        where, when = somewhere(draw), once(draw)
        second = (somewhere(draw), when) if draw.chance(0.5) else (where, once(draw))
        settings = [(where, when), second]
        return settings, [setting_fact(verb.base, *setting) for setting in settings]

    settings = draw.settle(attempt)

    def make(side: Draw, which: int) -> Phrase:
        facts = [fact(verb.base, who.key, food.en[0]), setting_fact(verb.base, *settings[which])]
        return frame("{x}", "{x}", facts, x=situated(side, who, verb, food, *settings[which]))

    first, second = twice(draw, make)
    reach = [
        _from_time_to_verb(side, setting[1], verb.zh) for side, setting in zip((first, second), settings, strict=True)
    ]
    return first, second, reach[0], reach[1], verb.past


def _from_time_to_verb(sentence: Phrase, when: Phrase, verb: str) -> str:
    text = sentence.text
    return text[text.index(when.text) : text.index(verb, text.index(when.text) + len(when.text)) + len(verb)]


def measure_word(draw: Draw) -> Sides:
    who = subject(draw)
    goods = (*lex.THINGS, *lex.GROCERIES)

    def attempt() -> tuple[tuple[lex.Verb, list[lex.Noun]], Sequence[Fact]]:
        verb, (one, other) = draw.one(lex.GETTING), draw.some(goods, 2)
        return (verb, [one, other]), [fact(verb.base, who.key, one.en), fact(verb.base, who.key, other.en)]

    verb, nouns = draw.settle(attempt)
    seed = draw.seed()
    (first, one), (second, other) = (counted(Draw(seed, held=True), who, verb, noun) for noun in nouns)
    same_measure = nouns[0].measure == nouns[1].measure
    # pairs of one measure word would not ask the question: an empty key makes `sound` turn them down
    return first, second, "" if same_measure else one.text, other.text, nouns[0].en


PHENOMENA: dict[str, Callable[[Draw], Sides]] = {
    "bank": meaning((BANK,), (*BEFORE, *AFTER)),
    "bear": bear,
    "who-chased-whom": who_chased_whom,
    "it": it,
    "clue-before": meaning(AMBIGUOUS, BEFORE),
    "clue-after": meaning(AMBIGUOUS, AFTER),
    "de-clause": de_clause,
    "time-place-order": time_place_order,
    "measure-word": measure_word,
}


def sound(contrast: Contrast) -> bool:
    """Each key is in its own translation and not in the other's; the facts that decide are held out."""
    keys = contrast.first_key and contrast.second_key
    own = contrast.first_key in contrast.first.target and contrast.second_key in contrast.second.target
    apart = contrast.first_key not in contrast.second.target and contrast.second_key not in contrast.first.target
    facts = (*contrast.first.facts, *contrast.second.facts)
    return bool(keys) and own and apart and all(held_out(fact) for fact in facts)


def draw_contrasts(phenomenon: str, seed: int, count: int) -> tuple[Contrast, ...]:
    """`count` different pairs for one phenomenon."""
    draw = Draw(seed, held=True)
    found: dict[frozenset[str], Contrast] = {}
    while len(found) < count:
        first, second, first_key, second_key, word = PHENOMENA[phenomenon](draw)
        sides = finish(first, phenomenon), finish(second, phenomenon)
        contrast = Contrast(phenomenon, *sides, first_key, second_key, word)
        if sound(contrast):
            found.setdefault(frozenset(side.source for side in sides), contrast)
    return tuple(found.values())
