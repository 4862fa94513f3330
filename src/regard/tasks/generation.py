"""Texts that a language model continues: how they are asked for, and what comes of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from regard.decoding import Distribution
from regard.decoding.steps import Ending
from regard.errors import ConfigError


@dataclass(frozen=True)
class Options:
    """How texts are continued."""

    max_new_tokens: int = 100
    temperature: float = 1.0
    """0: always the likeliest token."""
    top_k: int | None = None
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    stop: str | Sequence[str] = ()
    """A text ends before the first of these."""
    seed: int | None = 0
    """What is drawn depends on the seed, the prompt and the number of the text; not on other prompts, but for what
    rounding decides. None: on chance."""
    num: int = 1
    """Texts for each prompt."""
    beam: int | None = None
    """So many hypotheses are kept, and the `num` best are given; nothing is drawn."""
    truncate: bool = False
    """Of a prompt that is too long, only the end is read."""
    alternatives: int = 0
    """So many of the likeliest tokens are kept for each place, with what was chosen there."""

    def __post_init__(self) -> None:
        self.distribution()  # checks itself
        for flag, value, possible, wanted in (
            ("--max-new-tokens", self.max_new_tokens, self.max_new_tokens >= 1, "1 or more"),
            ("--num", self.num, self.num >= 1, "1 or more"),
            ("--beam", self.beam, self.beam is None or self.beam >= self.num, "as many as --num, or more"),
            ("--stop", '""', "" not in self.stops, "some text"),
            ("--alternatives", self.alternatives, self.alternatives >= 0, "0 or more"),
        ):
            if not possible:
                raise ConfigError(f"{flag} {value} cannot be used.", found=str(value), wanted=wanted)
        if self.beam is not None and (beside := self._drawing()):
            told = f"{' and '.join(beside)} cannot be used with --beam: they are for texts that are drawn."
            raise ConfigError(told, do="leave out one or the other")
        if self.beam is None and self.greedy and self.num > 1:
            told = f"There are no {self.num} texts at temperature 0: the likeliest token is always the same."
            raise ConfigError(told, do="raise --temperature, or search with --beam")

    def distribution(self) -> Distribution:
        """What tokens are drawn from."""
        return Distribution(self.temperature, self.top_k, self.top_p, self.min_p, self.repetition_penalty)

    @property
    def stops(self) -> tuple[str, ...]:
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop)

    @property
    def greedy(self) -> bool:
        return self.temperature == 0

    def _drawing(self) -> list[str]:
        """The options that a search has no place for."""
        given = {
            "--temperature": self.temperature not in (0, 1),
            "--top-k": self.top_k is not None,
            "--top-p": self.top_p != 1,
            "--min-p": self.min_p != 0,
            "--stop": bool(self.stops),
            "--explain": bool(self.alternatives),
        }
        return [flag for flag, used in given.items() if used]


@dataclass(frozen=True)
class Alternative:
    """A token that could have been chosen, and its probability."""

    text: str
    probability: float


@dataclass(frozen=True)
class Chosen:
    """A token that was chosen. Its probability and rank (1: the likeliest) are the model's own, whatever was done to
    its distribution before it was drawn."""

    text: str
    token: int
    probability: float
    rank: int
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True)
class Generation:
    """One continuation of one prompt."""

    prompt: str
    text: str
    """Without the prompt, and without the stop string that ended it."""
    tokens: tuple[int, ...]
    """All that were chosen, but the end mark; those of a stop string too."""
    log_prob: float
    """Of all that were chosen, the end mark included, under the model as it is. (A search with a repetition penalty:
    with the penalty.)"""
    ending: Ending
    """Why it ended: the model's end mark ("end"), a stop string ("stop"), max_new_tokens ("limit")."""
    forgotten: int
    """So many tokens, of the prompt first, were out of the model's sight when the last one was chosen."""
    choices: tuple[Chosen, ...] = ()
    """Where alternatives were asked for: each token that was chosen, the end mark included."""
