"""How a phrase is said in both languages at once, and how chance is drawn.

A `Phrase` holds English words, Chinese words and the links between them. `frame` puts phrases into a template for each
language, so that what moves is seen at a glance:

    frame("{who} read/r {what} {where}", "{who} {where} 读/r 了 {what}", who=..., what=..., where=...)

Words with the same label after the slash are linked; a slot that only the Chinese has repeats words (that is how *it*
becomes 那 座 博物馆).
"""

import random
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

T = TypeVar("T")
Fact = tuple[str, ...]
NO_SPACE_BEFORE = frozenset({".", ",", "?", "!"})


@dataclass(frozen=True)
class Pair:
    """One sentence pair; `facts` are the word combinations in it that may be held out of training."""

    source: str
    target: str
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]
    family: str
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class Phrase:
    en: tuple[str, ...] = ()
    zh: tuple[str, ...] = ()
    links: tuple[tuple[int, int], ...] = ()
    facts: tuple[Fact, ...] = ()

    @property
    def text(self) -> str:
        """The Chinese as it is written."""
        return "".join(self.zh)


EMPTY = Phrase()


@cache
def unit(en: str, zh: str) -> Phrase:
    """A fixed expression: all English words are linked with all Chinese ones, unless labels say which (see `frame`)."""
    if "/" in en:
        return frame(en, zh)
    english, chinese = tuple(en.split()), tuple(zh.split())
    links = tuple((i, j) for i in range(len(english)) for j in range(len(chinese)))
    return Phrase(english, chinese, links)


@cache
def parse(template: str) -> tuple[tuple[str, str, bool], ...]:
    """Template → (word or slot name, label, is it a slot)."""
    items = []
    for token in template.split():
        word, _, label = token.partition("/")
        is_slot = word.startswith("{")
        items.append((word.strip("{}") if is_slot else word, label, is_slot))
    return tuple(items)


def frame(en: str, zh: str, facts: Sequence[Fact] = (), /, **slots: Phrase) -> Phrase:
    """Fill both templates, carrying the links along."""
    english: list[str] = []
    starts: dict[str, int] = {}
    labelled: dict[str, list[int]] = {}
    for name, label, is_slot in parse(en):
        words = slots[name].en if is_slot else (name,)
        if is_slot:
            starts[name] = len(english)
        if label:
            labelled.setdefault(label, []).extend(range(len(english), len(english) + len(words)))
        english += words
    chinese: list[str] = []
    links: set[tuple[int, int]] = set()
    for name, label, is_slot in parse(zh):
        words = slots[name].zh if is_slot else (name,)
        here = len(chinese)
        if label:
            links.update((i, here + j) for i in labelled[label] for j in range(len(words)))
        elif is_slot and name in starts:
            links.update((starts[name] + i, here + j) for i, j in slots[name].links)
        chinese += words
    carried = [fact for slot in slots.values() for fact in slot.facts]
    return Phrase(tuple(english), tuple(chinese), tuple(sorted(links)), (*carried, *facts))


def join(phrases: Sequence[Phrase], en: str, zh: str, *, last_en: str = "", last_zh: str = "") -> Phrase:
    """Phrases in a row with a separator between them (labelled as in `frame`), and another before the last."""
    result = phrases[0]
    for number, phrase in enumerate(phrases[1:], start=2):
        at_end = number == len(phrases)
        between_en, between_zh = (last_en or en, last_zh or zh) if at_end else (en, zh)
        result = frame(f"{{a}} {between_en} {{b}}", f"{{a}} {between_zh} {{b}}", a=result, b=phrase)
    return result


def detokenise(words: Sequence[str]) -> str:
    return "".join(word if i == 0 or word in NO_SPACE_BEFORE else " " + word for i, word in enumerate(words))


def finish(phrase: Phrase, family: str) -> Pair:
    """A whole sentence: capital letter and, unless it asks, a full stop."""
    if phrase.en[-1] != "?":
        phrase = frame("{x} ./.", "{x} 。/.", x=phrase)
    first = phrase.en[0]
    english = (first[0].upper() + first[1:], *phrase.en[1:])
    return Pair(detokenise(english), phrase.text, english, phrase.zh, phrase.links, family, phrase.facts)


def held_out(fact: Fact) -> bool:
    """Whether a combination of words is kept from training: an eighth of them, the same on every machine."""
    return zlib.crc32("|".join(fact).encode()) % 8 == 0


class Draw:
    """Chance with a conscience: in training no held-out fact is drawn, in the challenge sets nothing else is."""

    def __init__(self, seed: int, *, held: bool = False) -> None:
        self.random = random.Random(seed)
        self.held = held

    def one(self, items: Sequence[T]) -> T:
        return items[int(self.random.random() * len(items))]

    def some(self, items: Sequence[T], count: int) -> list[T]:
        return self.random.sample(items, count)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def settle(self, attempt: Callable[[], tuple[T, Sequence[Fact]]]) -> T:
        """Try until every fact of the attempt is on the right side of the line."""
        while True:
            value, facts = attempt()
            if all(held_out(fact) == self.held for fact in facts):
                return value

    def seed(self) -> int:
        return self.random.getrandbits(48)
