"""A model at a text: where it looks, and on request all that passes its attentions meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from regard.attention import Attends, Recording, capture
from regard.errors import ConfigError
from regard.insight import Trace

ONLY = "Only a language model adds tokens to a text."


def trace(model: Any, text: str, second: str | None = None, *, generate: int = 0) -> Trace:
    """Where any loaded model looks. second: a translation, or a second text; generate: while a language model adds so
    many tokens, always the likeliest."""
    if hasattr(model, "generate"):
        _alone(second)
        found = model.attention(text, generate=generate, temperature=0.0) if generate else model.attention(text)
    elif generate:
        raise ConfigError(ONLY, do="leave out generate")
    else:
        found = model.attention(text) if second is None else model.attention(text, second)
    looked: Trace = found
    return looked


@dataclass(frozen=True)
class Script:
    """What is to be read. `ids`: of a language model, the tokens, those that it added among them; `first`: how many of
    them are read before its first step; `last`: what it added in the end, and does not read any more."""

    text: str
    second: str | None = None
    ids: tuple[int, ...] = ()
    first: int = 0
    last: str = ""


def script(model: Any, text: str, second: str | None = None, *, generate: int = 0) -> Script:
    """With a translator's own translation, if none is given, and with what a language model adds. What it takes to find
    them is not part of what is looked at."""
    if hasattr(model, "generate"):
        _alone(second)
        if not generate:
            return Script(text, ids=tuple(model.tokenizer.encode(text) or [model.tokenizer.start]))
        rows = trace(model, text, generate=generate).rows
        ids = tuple(id for token in rows["text"].tokens for id in token.ids or (model.tokenizer.start,))
        added = rows["prediction"].labels
        return Script(text, ids=ids, first=len(ids) - len(added), last=added[-1])
    if generate:
        raise ConfigError(ONLY, do="leave out generate")
    return Script(text, own_words(model, text, second))


def own_words(model: Any, text: str, second: str | None) -> str | None:
    """The second text; of a translator that is given none, its own translation."""
    translates = second is None and hasattr(model, "translate")
    return str(model.translate(text)) if translates else second


def _alone(second: str | None) -> None:
    if second is not None:
        raise ConfigError("A language model looks at one text.", found="a second one", do="leave it out")


@dataclass(frozen=True)
class Scene:
    """What was seen, and what was heard of it."""

    model: Any
    trace: Trace
    recording: Recording

    def row(self, name: str, row: int) -> "Row":
        """One row of one attention, as the trace counts them."""
        attention = attention_of(self.model, name)
        left = len(self.trace.rows_of(name)[0]) - row
        calls = self.recording.all(name)
        for call in range(len(calls) - 1, -1, -1):  # from the end: what came before was not part of the trace
            held = calls[call].shape[2]
            if left <= held:
                return Row(attention, self.recording, call, held - left)
            left -= held
        raise ConfigError(f"{name} has no row {row}.", wanted=f"0 to {len(self.trace.rows_of(name)[0]) - 1}")


@dataclass(frozen=True)
class Row:
    """Where one row of an attention is to be found: in which call, and where there."""

    attention: Attends
    recording: Recording
    call: int
    place: int

    def of(self, what: str) -> Tensor:
        """Queries, scores, mask, focus, weights: (H, …) of this row; of a mask and a focus all heads have the same."""
        return self.recording.all(self.attention.name, what)[self.call][0, :, self.place]

    def has(self, what: str) -> bool:
        return (what, self.attention.name) in self.recording.calls

    def whole(self, what: str) -> Tensor:
        """Keys, values: (H, S, …)."""
        return self.recording.all(self.attention.name, what)[self.call][0]


def attention_of(model: Any, name: str) -> Attends:
    """The part of a loaded model that attends under this name."""
    parts = {part.name: part for part in model.model.modules() if isinstance(part, Attends)}
    if name not in parts:
        raise ConfigError(f"There is no attention called {name!r}.", wanted=f"one of {', '.join(parts) or 'none'}")
    return parts[name]


def scene(
    model: Any, text: str, second: str | None = None, *, name: str | None = None, generate: int = 0, keep: Sequence[str]
) -> Scene:
    """A trace, and what passed on the way. keep: as in `capture`, the weights always; name: only of this attention."""
    heard = model.model if name is None else attention_of(model, name)
    second = own_words(model, text, second)  # before: what its search does is not part of the scene
    with capture(heard, keep=("weights", *keep)) as recording:
        found = trace(model, text, second, generate=generate)
    return Scene(model, found, recording)
