"""Looking to both sides or only back: BERT and GPT-2 on the same text.

Devlin et al. 2018, section 1: unidirectional models "restrict the power of the pre-trained representations"; a word is
better understood from both its sides. Radford et al. 2018 and 2019: whoever only looks back can go on with any text.

Here a BERT and a GPT-2 of the same size have read the same English sentences. A word of a new sentence is hidden: BERT
fills it in, GPT-2 says what it expects there. Then everything behind the word is cut off: BERT must say what comes
next, as GPT-2 did. At first only the filling in was judged; the going on was added before the full run, with the same
threshold.

Both have made equally many updates with equally many tokens, so that they have read the same text equally often (until
the full run BERT made twice as many). They have not learned from as many words: GPT-2 has to say every word, BERT the
15 % that are hidden. That is part of what is compared. And BERT has never read a text that ends without a mark, so that
the end of a cut text may puzzle it as such: how well it goes on before a full stop is told beside. Nor has it read
texts with more hidden than seen, so that hiding all words behind the gap would puzzle it, too; that was the control
until before the full run, and is told beside now.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.series import over_seeds
from regard.report import Plot
from regard.seeds import derive

STATISTIC = (
    "The smaller of two differences between shares of words that are guessed right. To fill in: BERT, which sees both "
    "sides, minus GPT-2, which sees what is before the word. To go on: GPT-2 minus BERT, where the text ends at the "
    "word."
)
THRESHOLD = 0.1
WORD = re.compile(r"[a-z]{4,}")
"""What may be hidden: "the" and "of" are guessed by anybody."""
MASK = "[MASK]"
EDGES = (3, 7, 15)


class Gap(NamedTuple):
    """A hidden word and what stands before and behind it."""

    left: str
    word: str
    right: str

    @property
    def before(self) -> int:
        """How many words stand before it."""
        return len(self.left.split())


def gaps(texts: Sequence[str], fits: Callable[[str], bool], seed: int) -> list[Gap]:
    """One word of each text that has one that fits, never its first or its last."""
    chance, found = random.Random(derive(seed, "gaps")), []
    for text in texts:
        inner = [word for word in WORD.finditer(text) if whole(text, word) and fits(word.group())]
        if inner:
            word = chance.choice(inner)
            found.append(Gap(text[: word.start()], word.group(), text[word.end() :]))
    return found


def whole(text: str, word: re.Match[str]) -> bool:
    """Whether a match is a word between two words."""
    before, behind = text[: word.start()], text[word.end() :]
    return before.endswith(" ") and behind.startswith(" ")


def both_sides(gap: Gap) -> str:
    return f"{gap.left}{MASK}{gap.right}"


def right_hidden(gap: Gap) -> str:
    """What is behind the word is hidden, too: only its length is left to see."""
    return f"{gap.left}{MASK}{re.sub(r'[A-Za-z]+', MASK, gap.right)}"


def cut_off(gap: Gap) -> str:
    return f"{gap.left}{MASK}"


def stopped(gap: Gap) -> str:
    """As texts end that BERT has read."""
    return f"{gap.left}{MASK}."


def misled(found: Sequence[Gap]) -> list[Gap]:
    """The same words, each with what stands behind that of the next text."""
    return [gap._replace(right=other.right) for gap, other in zip(found, [*found[1:], *found[:1]], strict=True)]


def readable(bert: Any, gap: Gap) -> bool:
    """Whether BERT has a place for every piece, the hidden word and the two marks: the beginning of one long text and
    the end of another may be longer together than any text is."""
    length = len(bert.tokenizer.encode(gap.left)) + len(bert.tokenizer.encode(gap.right)) + 3
    return bool(length <= bert.limit)


BOTH, HIDDEN, CUT, STOP, MISLED, GPT2 = (
    "BERT, both sides", "BERT, what follows is hidden", "BERT, the text ends there", "BERT, a full stop ends it",
    "BERT, another text follows", "GPT-2, left side",
)  # fmt: skip
VIEWS = {BOTH: both_sides, HIDDEN: right_hidden, CUT: cut_off, STOP: stopped}


def filled(bert: Any, gap: Gap, view: Callable[[Gap], str]) -> bool:
    """Whether BERT's first choice for the word is right."""
    first: str = bert.fill(view(gap), top=1)[0][0].text
    return first == gap.word


def expected(gpt2: Any, found: Sequence[Gap]) -> list[bool]:
    """Whether GPT-2 expected each word, from what stands before it."""
    judged = gpt2.surprisal([f"{gap.left}{gap.word}" for gap in found])
    return [text.tokens[-1].rank == 1 for text in judged]


def share(right: Sequence[bool]) -> float:
    return sum(right) / len(right)


def by_place(found: Sequence[Gap], right: Sequence[bool]) -> list[float | None]:
    """The share of right ones by how many words stand before the gap; None where there is no such gap."""
    shelves: list[list[bool]] = [[] for _ in range(len(EDGES) + 1)]
    for gap, one in zip(found, right, strict=True):
        shelves[sum(gap.before > edge for edge in EDGES)].append(one)
    return [share(shelf) if shelf else None for shelf in shelves]


def leads(shares: Mapping[str, float]) -> tuple[float, float]:
    """By how much BERT is better at filling in, and GPT-2 at going on."""
    return shares[BOTH] - shares[GPT2], shares[GPT2] - shares[CUT]


def measure(setting: Setting) -> Measured:
    bert, gpt2 = setting.shop.load("bert"), setting.shop.load("gpt2")

    def fits(word: str) -> bool:
        """Both have one piece for the whole word."""
        return len(bert.tokenizer.encode(word)) == len(gpt2.tokenizer.encode(f" {word}")) == 1

    found = gaps(setting.shop.text("test").sources[: setting.of(400, 1000)], fits, setting.seed)
    right = {name: [filled(bert, gap, view) for gap in found] for name, view in VIEWS.items()}
    right[MISLED] = [filled(bert, gap, both_sides) for gap in misled(found) if readable(bert, gap)]
    right[GPT2] = expected(gpt2, found)
    shares = {name: share(answers) for name, answers in right.items()}
    filling, going_on = leads(shares)
    return Measured(
        value=min(filling, going_on),
        control=shares[MISLED] - shares[GPT2],
        numbers={
            "hidden words": len(found),
            "to fill in, BERT is better by": filling,
            "to go on, GPT-2 is better by": going_on,
            "to go on before a full stop, GPT-2 is better by": shares[GPT2] - shares[STOP],
            **{f"right: {name}": one for name, one in shares.items()},
        },
        series={"shares": {name: [one] for name, one in shares.items()},
                "places": {name: by_place(found, right[name]) for name in (BOTH, GPT2)}},
    )  # fmt: skip


def draw(measured: Sequence[Measured]) -> list[Figure]:
    bars = [over_seeds(name, [one.series["shares"][name] for one in measured]) for name in (*VIEWS, MISLED, GPT2)]
    lines = [over_seeds(name, [one.series["places"][name] for one in measured]) for name in (BOTH, GPT2)]
    return [
        Plot("bars", ["words of new sentences"], bars, "", "share guessed right", "To fill in, and to go on."),
        Plot("lines", places(), lines, "words before the hidden one", "share guessed right", "Where the word stands."),
    ]


def places() -> list[str]:
    """How many words stand before: 1–3, 4–7 …"""
    firsts = (1, *(edge + 1 for edge in EDGES))
    return [f"{first}–{edge}" for first, edge in zip(firsts, EDGES, strict=False)] + [f"{firsts[-1]}+"]


CLAIM = Claim(
    name="directions",
    title="To fill in a word, both sides are better than the left one; to go on, the left one",
    question="Does BERT, which looks to both sides, know a hidden word better than GPT-2, which looks back, and can it "
    "go on with a text as well?",
    source="Devlin et al. 2018, section 1; Radford et al. 2019",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    control="to fill in, the same BERT where what stands behind the gap is another text's.",
    measure=measure,
    draw=draw,
    models=("bert", "gpt2"),
)
