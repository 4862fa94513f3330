"""A trained classifier: it says which class a text has, how sure it is, and shows where it looks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.attention import NothingRecordedError, capture
from regard.config import Tree
from regard.data.batches import group_by_length
from regard.errors import ConfigError, DataError, LimitError
from regard.insight import Token, TokenRow, Trace
from regard.tasks.classification import Examples
from regard.tasks.labels import LabelledTokenizer
from regard.tasks.texts import Place, numbered
from regard.tasks.traces import marked_row

BATCH_TOKENS = 8192
Text = str | Sequence[str]
"""One text, or a pair of texts."""
TAKEN = {(1,): "single texts", (2,): "pairs of texts", (2, 1): "single texts or pairs of texts, all alike"}
"""By the numbers of texts that an example may have."""
GIVE = {
    (1,): "give one text each; a tab in a line of a file parts two texts",
    (2,): "give two texts each; in a file, with one tab between them",
    (2, 1): "give all as single texts or all as pairs; in a file, a tab is between the texts of a pair",
}
CUT = "cut it with --truncate (truncate=True), or split it"
SHORTEN = "give less of it"


@dataclass(frozen=True)
class Classified:
    """The likeliest class of a text, and how likely each class is."""

    label: str
    probabilities: dict[str, float]

    @property
    def probability(self) -> float:
        return self.probabilities[self.label]


class Classifier:
    """What `regard.load` gives for a classifier.

    takes: how many texts an example may have. One of ours takes what it was trained on; one of others does not say what
    that was, and takes single texts or pairs, whichever it is given."""

    def __init__(
        self,
        model: nn.Module,
        tokenizers: LabelledTokenizer,
        *,
        takes: Sequence[int] = (),
        language: str = "",
        name: str = "",
    ) -> None:
        self.model, self.tokenizers, self.language, self.name = model.eval(), tokenizers, language, name
        self.labels, self.sides = tokenizers.labels, tokenizers.sides
        self.takes = tuple(takes) or (self.sides,)

    @classmethod
    def assemble(cls, model: nn.Module, tokenizers: LabelledTokenizer, config: Tree, name: str) -> "Classifier":
        """From the parts of a bundle."""
        language = config["data"].get("language", "")
        return cls(model, tokenizers, takes=config.get("sides", ()), language=language, name=name)

    @property
    def limit(self) -> int:
        """Longest text in tokens, marks included."""
        config: Any = self.model.config
        return int(config.limit)

    def classify(self, texts: Sequence[Text], *, truncate: bool = False, place: Place = numbered) -> list[Classified]:
        """The class of each text (or pair of texts). truncate: cut what is longer than the model can take. place: what
        to call text N, if something is wrong with it."""
        if isinstance(texts, str):
            raise DataError("classify takes a list of texts.", found="a single text", do="write [text]")
        examples = self._read(texts, place)
        if not truncate:
            self._refuse_long(examples, place, CUT)
        examples.cut(self.limit)
        shares = self.probabilities(examples).numpy()
        return [
            Classified(self.labels[int(row.argmax())], dict(zip(self.labels, row.tolist(), strict=True)))
            for row in shares
        ]

    def probabilities(self, examples: Examples) -> Tensor:
        """(N C), in the order of the examples."""
        return self.scores(examples).softmax(-1)

    @torch.inference_mode()
    def scores(self, examples: Examples) -> Tensor:
        """(N C), before the softmax; examples of like length are computed together."""
        found = torch.empty(len(examples), len(self.labels))
        if not len(examples):
            return found
        for rows in group_by_length(examples.lengths[:, None], BATCH_TOKENS, np.arange(len(examples))):
            batch = (part.to(self._device()) for part in examples.batch(rows))
            found[torch.from_numpy(rows)] = self.model(*batch).float().cpu()
        return found

    @torch.inference_mode()
    def attention(self, text: str, second: str | None = None) -> Trace:
        """Where every head of every layer looks, and which words the pooling counts, in one text or in a pair."""
        sides = [text] if second is None else [text, second]
        examples = self._read([sides], numbered)
        self._refuse_long(examples, lambda _: "The text" if second is None else "The pair of texts", SHORTEN)
        row = marked_row(sides, self.tokenizers.tokenizer, self.language)
        said = self.classify([sides])[0]
        try:
            with capture(self.model) as recording:
                self.model(*(part.to(self._device()) for part in examples.batch([0])))
        except NothingRecordedError:
            raise ConfigError(
                f"{self.name or 'This classifier'} does not attend: it pools without weights.",
                do="train one with model.pooling=attention, or a transformer or bert",
            ) from None
        weights = {name: recording.joined(name)[0].float().cpu().numpy() for name in recording.names}
        end = len(said.label)
        rows = {"text": row, "class": TokenRow(said.label, (Token(said.label, 0, end),), self.language)}
        asks = {name: "class" if weights[name].shape[1] == 1 else "text" for name in weights}
        meta = {"model": self.name, "class": said.label, "probability": round(said.probability, 4)}
        return Trace(rows, weights, {name: (asks[name], "text") for name in weights}, meta)

    def _read(self, texts: Sequence[Text], place: Place) -> Examples:
        rows = [(text,) if isinstance(text, str) else tuple(text) for text in texts]
        for number, row in enumerate(rows):
            if len(row) not in self.takes or len(row) != len(rows[0]):
                raise DataError(
                    f"This classifier takes {TAKEN[self.takes]}.",
                    found=f"{place(number)} has {len(row)}: {' | '.join(row)[:80]!r}",
                    do=GIVE[self.takes],
                )
        return Examples(rows, self.tokenizers.tokenizer)

    def _refuse_long(self, examples: Examples, place: Place, do: str) -> None:
        over = np.flatnonzero(examples.lengths > self.limit)
        if len(over):
            raise LimitError(
                f"{place(int(over[0]))} is longer than the model can take.",
                found=f"{examples.lengths[over[0]]} tokens",
                wanted=f"at most {self.limit}, marks included",
                do=do,
            )

    def _device(self) -> torch.device:
        return next(self.model.parameters()).device
