"""Classes of texts, or of pairs of texts: which of some labels each of them has."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Int
from pydantic import Field
from torch import Tensor, nn

from regard.config import Tree
from regard.data.batches import WHOLE, BatchConfig, Order, Share, pad
from regard.data.labelled import ONE, TWO, Labelled, read_labelled
from regard.errors import ConfigError, DataError, LimitError
from regard.sections import Section
from regard.tasks.labels import LabelledTokenizer, classes
from regard.tasks.recipes import gentle_rate
from regard.tasks.texts import TextFiles, WordPieceConfig
from regard.text import Tokenizer, train_tokenizer
from regard.watching import Watch, unwatched

TABLES = {1: (ONE,), 2: (TWO,)}
"""By the number of texts in an example."""


class LabelledFiles(TextFiles):
    """Where the examples are: tables with a text and a label, or two texts and a label."""

    too_long: Literal["stop", "cut"] = Field("stop", description="texts longer than model.limit tokens")


class ClassesConfig(Section):
    """How classes are learned."""

    label_smoothing: float = Field(
        0.0, ge=0, lt=1, description="share of the probability that goes to all other answers"
    )


class ClassificationConfig(Section):
    """The sections that this task adds to a run."""

    data: LabelledFiles = LabelledFiles()
    tokenizer: WordPieceConfig = WordPieceConfig()
    batch: BatchConfig = BatchConfig(tokens=1024)
    classes: ClassesConfig = ClassesConfig()


@dataclass(frozen=True)
class LabelledBatch:
    """Texts between marks, which text each token belongs to, and the number of the class of each row."""

    tokens: Int[Tensor, "B S"]
    lengths: Int[Tensor, "B"]
    segments: Int[Tensor, "B S"]
    labels: Int[Tensor, "B"]

    def to(self, device: torch.device | str) -> "LabelledBatch":
        moved = {field.name: getattr(self, field.name).to(device, non_blocking=True) for field in fields(self)}
        return LabelledBatch(**moved)


class Examples:
    """Texts as ids: [CLS] text [SEP], or [CLS] text [SEP] second [SEP]."""

    def __init__(self, texts: Sequence[Sequence[str]], tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        sides = [tokenizer.encode_all(side) for side in zip(*texts, strict=True)]
        self.parts = list(zip(*sides, strict=True))

    def __len__(self) -> int:
        return len(self.parts)

    def ids(self, row: int) -> list[int]:
        """The tokens of a row with their marks."""
        return [self.tokenizer.start] + [id for part in self.parts[row] for id in (*part, self.tokenizer.end)]

    @property
    def lengths(self) -> np.ndarray:
        """Tokens, the marks among them."""
        return np.array([1 + sum(len(part) + 1 for part in parts) for parts in self.parts])

    def cut(self, most: int) -> None:
        """Shortens what is too long; of a pair first the longer, as transformers does."""
        for row in np.flatnonzero(self.lengths > most).tolist():
            parts = self.parts[row]
            room = most - 1 - len(parts)
            if len(parts) == 1:
                kept = [room]
            else:
                least = min(*map(len, parts), room // 2)
                kept = [room - least, least] if len(parts[0]) > len(parts[1]) else [least, room - least]
            self.parts[row] = tuple(part[:count] for part, count in zip(parts, kept, strict=True))

    def batch(self, rows: Sequence[int] | np.ndarray) -> tuple[Tensor, Tensor, Tensor]:
        """Tokens, lengths and segments of some rows."""
        tokens, lengths = pad([self.ids(int(row)) for row in rows], self.tokenizer.pad)
        places = torch.arange(tokens.shape[1])
        seconds = torch.tensor([len(self.parts[row][0]) + 2 for row in rows])
        segments = (places >= seconds[:, None]) & (places < lengths[:, None])
        return tokens, lengths, segments.long()


class ClassificationTask:
    """What a training run needs to know of it."""

    config_class = ClassificationConfig
    verb = "classify"
    recipe: ClassVar[Tree] = {"epochs": 10.0}
    """What it trains well with."""

    @staticmethod
    def continued(model: Section) -> Tree:
        """What it trains well with from a model that is trained already."""
        return {"epochs": 4.0, "learning_rate": gentle_rate(model)}

    def __init__(
        self,
        config: ClassificationConfig,
        *,
        model: Section,
        seed: int,
        tokenizers: LabelledTokenizer | None = None,
        watch: Watch = unwatched,
    ) -> None:
        self.config, self.seed = config, seed
        if not config.data.train:
            raise DataError("No training data was given.", do="add --train examples.tsv: a text and a label a line")
        files = {"train": config.data.train, "val": config.data.val, "test": config.data.test}
        self.texts: dict[str, Labelled] = {}
        for split, paths in files.items():
            if paths:
                tables = TABLES[self.texts["train"].sides] if self.texts else (TWO, ONE)
                self.texts[split] = read_labelled(paths, *tables)
        self.tokenizers = _tokenizers(self.texts["train"], config, tokenizers)
        self.examples = {split: Examples(text.texts, self.tokenizers.tokenizer) for split, text in self.texts.items()}
        self.labels = {split: torch.tensor(self.tokenizers.numbers(text)) for split, text in self.texts.items()}
        limited: Any = model
        for split, examples in self.examples.items():
            self._fit(split, examples, limited.limit)
        self._order = Order(self.examples["train"].lengths[:, None], config.batch.budget, seed)

    def _fit(self, split: str, examples: Examples, limit: int) -> None:
        lengths = examples.lengths
        if lengths.max() <= limit:
            return
        if self.config.data.too_long == "cut":
            examples.cut(limit)
            return
        worst = int(lengths.argmax())
        raise LimitError(
            f"{int((lengths > limit).sum())} of the {split} texts are longer than the model can take.",
            found=f"{lengths[worst]} tokens in {self.texts[split].places[worst]}",
            wanted=f"at most {limit}, marks included",
            do="cut them with data.too_long=cut, or raise model.limit if the model is not pretrained",
        )

    def batch(self, step: int, share: Share = WHOLE) -> LabelledBatch | None:
        """The batch of an update, a function of (seed, step) alone, or this share of it; None if it has no row."""
        rows = self._order[step][share.part :: share.of]
        return self.of("train", rows) if len(rows) else None

    def of(self, split: str, rows: np.ndarray) -> LabelledBatch:
        """Some examples of a split."""
        return LabelledBatch(*self.examples[split].batch(rows), self.labels[split][torch.from_numpy(rows).long()])

    def epoch(self, step: int) -> int:
        return self._order.epoch(step)

    def losses(self, model: nn.Module, batch: LabelledBatch) -> dict[str, Tensor]:
        """Cross-entropy, summed."""
        scores = model(batch.tokens, batch.lengths, batch.segments)
        smoothing = self.config.classes.label_smoothing
        loss = F.cross_entropy(scores.float(), batch.labels, reduction="sum", label_smoothing=smoothing)
        return {"classes": loss}

    def counts(self, batch: LabelledBatch) -> dict[str, int]:
        return {"classes": len(batch.labels)}

    def size(self, batch: LabelledBatch) -> int:
        """Tokens that are read: what speed is measured in."""
        return int(batch.lengths.sum())

    def unigram_entropy(self) -> float:
        """The loss of one who knows only how frequent each class is."""
        shares = torch.bincount(self.labels["train"]).double() / len(self.labels["train"])
        return float(-(shares * shares.clamp_min(1e-12).log()).sum())

    def describe(self) -> str:
        """The data in a line."""
        return (
            f"{len(self.texts['train']):,} examples of {len(self.tokenizers.labels)} classes, "
            f"vocabulary {len(self.tokenizers.tokenizer):,}, {self._order.updates_per_epoch:,} updates an epoch"
        )

    def card(self) -> dict[str, Any]:
        """What the model card says of the data."""
        labels = list(self.tokenizers.labels)
        return {"language": self.config.data.language, "labels": labels, "data": self.fingerprints()}

    def fingerprints(self) -> dict[str, str]:
        """What the data was: a run is not resumed on other data."""
        return {split: text.fingerprint for split, text in self.texts.items()}

    def skipped(self) -> list[str]:
        return []


def _tokenizers(text: Labelled, config: ClassificationConfig, given: LabelledTokenizer | None) -> LabelledTokenizer:
    """Those of the model to begin with, if there is one; its classes stay where they are enough."""
    found = classes(text, config.data.train)
    if given is None:
        tokenizer = train_tokenizer([side for texts in text.texts for side in texts], config.tokenizer)
        return LabelledTokenizer(tokenizer, found, text.sides)
    if given.labels and given.sides != text.sides:
        raise ConfigError(
            "The model to begin with was trained on another number of texts an example.",
            found=f"{text.sides} in {', '.join(config.data.train)}",
            wanted=str(given.sides),
        )
    labels = given.labels if set(found) <= set(given.labels) else found
    return LabelledTokenizer(given.tokenizer, labels, text.sides)
