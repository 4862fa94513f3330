"""Word alignments from a translator's attention to the source.

A step of the decoder can be taken for the word that it *predicts*, as Bahdanau (2015) draws it, or for the one that it
*reads*, one row later: by then the decoder knows the word that is to be aligned (Chen et al. 2020, "Accurate Word
Alignment Induction from Neural Machine Translation"). Which is better depends on the head.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from regard.errors import ConfigError
from regard.tasks.links import SYMMETRISATIONS, Links, by_source, by_target, claims, turned
from regard.tasks.translator import Translator
from regard.tasks.word_texts import WordPair
from regard.tasks.word_weights import SHIFTS, Head, Shift, WordWeights, word_weights
from regard.watching import Watch, unwatched


@dataclass(frozen=True)
class Choice:
    """Which head is read, and at which step. The figures say how good it was where it was chosen (see `best_head`)."""

    name: str
    head: Head
    shift: Shift
    aer: float | None = None
    agreement: float | None = None
    constancy: float | None = None

    def __str__(self) -> str:
        head = "mean of its heads" if self.head == "mean" else f"head {self.head}"
        return f"{self.name}, {head}, at the step that {self.shift} the word"

    def readings(self, weights: WordWeights) -> tuple[Links, Links]:
        """The source word that each target word claims most; the target word that claims each source word most."""
        claimed = claims(weights.of(self.name, self.head, self.shift))
        return by_target(claimed), by_source(claimed)


@dataclass(frozen=True)
class Among:
    """Which heads and steps are in question; all of them, and the mean of each layer's heads, if nothing is said.
    Layers and heads count from 0."""

    layer: int | None = None
    head: Head | None = None
    shift: Shift | None = None

    @property
    def settled(self) -> bool:
        """Whether nothing is left to choose."""
        return None not in (self.layer, self.head, self.shift)

    def choices(self, heads: Mapping[str, int]) -> list[Choice]:
        """Each of them, layer by layer. heads: how many each attention has, by its name."""
        names = list(heads)
        if self.layer is not None and not 0 <= self.layer < len(names):
            raise ConfigError(
                f"There is no layer {self.layer} to align with.",
                found=f"attention to the source in {', '.join(names)}",
                wanted=_range(len(names)),
            )
        kept = names if self.layer is None else [names[self.layer]]
        shifts = list(SHIFTS) if self.shift is None else [self.shift]
        return [Choice(name, h, shift) for name in kept for h in self._heads(name, heads[name]) for shift in shifts]

    def _heads(self, name: str, count: int) -> Sequence[Head]:
        if self.head is None:
            return [*range(count), *["mean"] * (count > 1)]
        if self.head != "mean" and not 0 <= self.head < count:
            raise ConfigError(f"{name} has no head {self.head}.", wanted=f"{_range(count)}, or mean")
        return [self.head]


EVERY = Among()


@dataclass(frozen=True)
class Reverse:
    """A translator of the other direction, and the head of it that gives the second reading."""

    translator: Translator
    choice: Choice


def align(
    translator: Translator,
    pairs: Sequence[WordPair],
    choice: Choice,
    *,
    symmetrise: str = "grow-diag",
    reverse: Reverse | None = None,
    watch: Watch = unwatched,
) -> list[Links]:
    """The links of each pair, none where a side is empty.

    The first reading takes for each target word the source word that it claims most (see `links.claims`). The second
    takes for each source word the target word that claims it most; with `reverse` it is that model's first reading.
    """
    combine = SYMMETRISATIONS[symmetrise]
    first: list[Links] = [frozenset()] * len(pairs)
    second = list(first)
    for number, weights in watch(word_weights(translator, pairs), total=len(pairs), what="aligning"):
        first[number], second[number] = choice.readings(weights)
    if reverse is not None:
        swapped = [pair.swapped() for pair in pairs]
        theirs = align(reverse.translator, swapped, reverse.choice, symmetrise="none", watch=watch)
        second = [turned(links) for links in theirs]
    return [combine(*both) for both in zip(first, second, strict=True)]


def _range(count: int) -> str:
    return f"0 to {count - 1}" if count > 1 else "0"
