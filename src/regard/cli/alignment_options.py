"""What `regard align` and `regard evaluate` have in common: how words are linked."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from regard.evaluation.alignment import Gold
    from regard.tasks.alignment import Among, Choice, Reverse
    from regard.tasks.links import Links
    from regard.tasks.translator import Translator
    from regard.tasks.word_texts import WordPair

PANEL = "Word alignments"
Layer = Annotated[
    int | None, typer.Option(help="Only this layer, counted from 0.", rich_help_panel=PANEL, show_default=False)
]
Head = Annotated[
    str | None,
    typer.Option(help='Only this head, counted from 0, or "mean" of all.', rich_help_panel=PANEL, show_default=False),
]
Shift = Annotated[
    Literal["predicts", "reads"] | None,
    typer.Option(
        help="Take a word from the step that predicts it, or from the next one, which reads it.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
Symmetrise = Annotated[
    Literal["none", "intersection", "union", "grow-diag"],
    typer.Option(help="What is made of both readings; none: each target word's best source.", rich_help_panel=PANEL),
]
ReverseModel = Annotated[
    str | None,
    typer.Option(help="Model of the other direction: the second reading.", rich_help_panel=PANEL, show_default=False),
]
Val = Annotated[
    list[str] | None,
    typer.Option(help="Pairs to choose the head on, as --data.", rich_help_panel=PANEL, show_default=False),
]
ValGold = Annotated[
    str | None,
    typer.Option(help="Gold for --val: choose by error rate.", rich_help_panel=PANEL, show_default=False),
]
Base = Annotated[
    Literal[0, 1] | None,
    typer.Option(help="What gold calls the first word; 0 if gold has a 0.", rich_help_panel=PANEL, show_default=False),
]
OPTIONAL = ("layer", "head", "shift", "reverse", "val", "val_alignments", "base")
SAMPLE = 200
"""How many pairs of the data itself a head is chosen on if there is nothing else."""


@dataclass(frozen=True)
class Options:
    """How words are linked, as it was asked for on the command line."""

    layer: int | None
    head: str | None
    shift: Literal["predicts", "reads"] | None
    symmetrise: str
    reverse: str | None
    val: list[str] | None
    val_alignments: str | None
    base: Literal[0, 1] | None
    truncate: bool

    def check(self) -> None:
        """Refuses what cannot be meant, before anything is loaded."""
        from regard.errors import ConfigError

        if self.val_alignments and not self.val:
            raise ConfigError("--val-alignments needs the pairs that it belongs to.", do="add --val")
        if self.head not in (None, "mean") and not str(self.head).isdecimal():
            raise ConfigError("--head is neither a number nor mean.", found=repr(self.head), wanted="0, 1, … or mean")

    def check_gold(self, alignments: str | None, data: list[str] | None) -> None:
        """Refuses options that would have no effect without gold."""
        from regard.errors import ConfigError

        if alignments and not data:
            raise ConfigError("--alignments needs the pairs that it belongs to.", do="add --data")
        given = [f"--{name.replace('_', '-')}" for name in OPTIONAL if getattr(self, name) is not None]
        if given and not alignments:
            raise ConfigError(f"{', '.join(given)}: of use only with gold alignments.", do="add --alignments GOLD")

    def align(self, translator: "Translator", pairs: "Sequence[WordPair]") -> "tuple[list[Links], Choice]":
        """The links of the pairs and the head that gave them."""
        from regard.cli.progress import counted
        from regard.tasks.alignment import Among, align

        head: Any = self.head if self.head in (None, "mean") else int(str(self.head))
        full = [pair for pair in pairs if not pair.empty]
        known, gold = self._validation(translator) if self.val else (full[:SAMPLE], None)
        choice = self._choose(translator, known, gold, Among(self.layer, head, self.shift))
        second = self._second(translator, known, gold) if self.reverse else None
        if second is not None:
            pairs = _swapped(self._fit(second.translator, _swapped(pairs)))
        fitting = self._fit(translator, pairs)
        links = align(translator, fitting, choice, symmetrise=self.symmetrise, reverse=second, watch=counted)
        return links, choice

    def _validation(self, translator: "Translator") -> "tuple[list[WordPair], list[Gold] | None]":
        from regard.evaluation.alignment import read_gold
        from regard.tasks.word_texts import read_word_pairs

        val = read_word_pairs(self.val or (), langs=langs_of(translator))
        return val, read_gold(self.val_alignments, val, base=self.base) if self.val_alignments else None

    def _second(
        self, translator: "Translator", pairs: "Sequence[WordPair]", gold: "Sequence[Gold] | None"
    ) -> "Reverse":
        """The model of the other direction, with a head chosen on the same pairs."""
        from regard.errors import ConfigError
        from regard.tasks.alignment import EVERY, Reverse

        other = translator_of(str(self.reverse))
        ours, theirs = langs_of(translator), langs_of(other)
        if ours and theirs and ours != theirs[::-1]:
            raise ConfigError(
                f"{self.reverse} does not translate in the other direction.",
                found=" → ".join(theirs),
                wanted=f"{ours[1]} → {ours[0]}",
            )
        turned = None if gold is None else [one.swapped() for one in gold]
        return Reverse(other, self._choose(other, _swapped(pairs), turned, EVERY))

    def _choose(
        self, translator: "Translator", pairs: "Sequence[WordPair]", gold: "Sequence[Gold] | None", among: "Among"
    ) -> "Choice":
        from regard.cli.progress import counted
        from regard.evaluation.best_head import best_head

        fitting = self._fit(translator, pairs)
        choice = best_head(translator, fitting, gold, among=among, symmetrise=self.symmetrise, watch=counted)
        sys.stderr.write(f"{translator.name}: {choice}{_why(choice, sum(not pair.empty for pair in pairs))}\n")
        return choice

    def _fit(self, translator: "Translator", pairs: "Sequence[WordPair]") -> "Sequence[WordPair]":
        from regard.tasks.word_weights import cut

        return cut(translator, pairs) if self.truncate else pairs


def translator_of(model: str) -> "Translator":
    """The model, if it is one that translates."""
    from regard.bundle import load
    from regard.errors import ConfigError

    translator: Translator = load(model)
    if not hasattr(translator, "translate"):
        do = "give a model that was trained to: --task translation"
        raise ConfigError(f"{model} does not translate, so it links no words.", do=do)
    return translator


def langs_of(translator: "Translator") -> tuple[str, str] | None:
    return translator.langs if all(translator.langs) else None


def _why(choice: "Choice", pairs: int) -> str:
    if not pairs:
        return ""
    agreed = f"its readings agree in {choice.agreement:.1%}, constantly in {choice.constancy:.1%}"
    figure = agreed if choice.aer is None else f"error rate {choice.aer:.1%}"
    return f" (on {pairs} pair{'s' * (pairs != 1)}: {figure})"


def _swapped(pairs: "Sequence[WordPair]") -> "list[WordPair]":
    return [pair.swapped() for pair in pairs]
