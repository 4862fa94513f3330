"""Where a language model looks: in a text that it reads, and while it writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32

from regard.attention import Recording, capture
from regard.errors import LimitError
from regard.insight import Token, TokenRow, Trace
from regard.tasks.spelling import Place, spelt, surface
from regard.tasks.writing import Continuations
from regard.text import Tokenizer


@dataclass(frozen=True)
class Looking:
    """Makes traces of a model. language, name: as pictures tell them."""

    model: Any
    tokenizer: Tokenizer
    language: str
    name: str

    @torch.inference_mode()
    def reading(self, text: str) -> Trace:
        """Each token of a text asks, and reads from itself and those before it."""
        ids = self.tokenizer.encode(text) or [self.tokenizer.start]
        self._check(len(ids))
        with capture(self.model) as recording:
            self.model(torch.tensor([ids], device=next(self.model.parameters()).device))
        weights = {name: recording.joined(name)[0].float().cpu().numpy() for name in recording.names}
        rows = {"text": TokenRow(text, tuple(self._tokens(text)), self.language)}
        return Trace(rows, weights, dict.fromkeys(weights, ("text", "text")), {"model": self.name})

    def writing(self, continuation: Continuations) -> Trace:
        """Each token that is chosen ("prediction") asks at the moment of its choice, through the last token before it,
        and reads from the prompt and what was chosen so far ("text")."""
        (prompt,) = continuation.prompts
        self._check(len(prompt.ids) + continuation.writer.options.max_new_tokens - 1)
        with capture(self.model) as recording:
            count = sum(1 for _ in continuation.steps())
        (found,) = continuation.results()
        text, places = spelt(self.tokenizer, found.tokens, before=prompt.ids)
        shift = len(prompt.text)
        made = [*_placed(text, places, found.tokens), *self._end(len(text))][:count]
        after = [Token(t.surface, t.start + shift, t.end + shift, t.special, t.ids) for t in made[:-1]]
        before = self._tokens(prompt.text)[-len(prompt.ids) :]
        rows = {
            "text": TokenRow(prompt.text + text, (*before, *after), self.language),
            "prediction": TokenRow(text, tuple(made), self.language),
        }
        weights = {name: _steps(recording, name, count) for name in recording.names}
        return Trace(rows, weights, dict.fromkeys(weights, ("prediction", "text")), {"model": self.name})

    def _tokens(self, text: str) -> list[Token]:
        """Those of a text; of an empty one, the mark that it begins with."""
        pieces = self.tokenizer.pieces(text)
        if not pieces:
            return [Token(surface(self.tokenizer, self.tokenizer.start), 0, 0, special=True)]
        return _placed(text, [(piece.start, piece.end) for piece in pieces], [piece.id for piece in pieces])

    def _end(self, place: int) -> list[Token]:
        return [Token(surface(self.tokenizer, self.tokenizer.end), place, place, special=True)]

    def _check(self, length: int) -> None:
        limit = int(self.model.config.limit)
        if length > limit:
            raise LimitError(
                "The text is longer than the model can look at.",
                found=f"{length} tokens, those to be chosen included",
                wanted=f"at most {limit}: here the window does not slide",
                do="give less of it, or let fewer tokens be chosen",
            )


def _placed(text: str, places: Sequence[Place], ids: Sequence[int]) -> list[Token]:
    return [Token(text[start:end], start, end, ids=(id,)) for (start, end), id in zip(places, ids, strict=True)]


def _steps(recording: Recording, name: str, count: int) -> Float32[np.ndarray, "H T S"]:
    """The rows of the last calls, one a step, as one matrix: nobody looks at what comes later."""
    calls = [call[0, :, -1].float().cpu().numpy() for call in recording.all(name)[-count:]]
    found = np.zeros((len(calls[0]), count, calls[-1].shape[-1]), dtype=np.float32)
    for step, row in enumerate(calls):
        found[:, step, : row.shape[-1]] = row
    return found
