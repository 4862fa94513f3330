"""Pretraining BERT: masked words and next sentence, from running text (Devlin 2018, section 3.1)."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Int
from pydantic import Field
from torch import Tensor, nn

from regard.config import Tree
from regard.data import store
from regard.data.batches import WHOLE, BatchConfig, Order, Share, pad
from regard.data.documents import DocumentReader
from regard.errors import ConfigError, DataError
from regard.layers.cross_entropy import summed_cross_entropy
from regard.sections import Section
from regard.seeds import derive
from regard.tasks.masking import Masker
from regard.tasks.passages import Passages
from regard.tasks.texts import OneTokenizer, TextFiles, WordPieceConfig
from regard.text import train_tokenizer
from regard.watching import Watch, unwatched


class MaskingConfig(Section):
    """What is to be guessed."""

    rate: float = Field(0.15, gt=0, lt=1, description="share of the tokens that are chosen")
    whole_words: bool = Field(False, description="a word of several pieces is hidden as a whole")
    next_sentence: bool = Field(True, description="also guess whether the second sentence follows the first")
    length: int = Field(128, gt=8, description="most tokens of an example")
    short: int = Field(
        32, gt=8, description="most tokens of an example in the first updates, from which it learns sooner"
    )
    short_updates: int = Field(2000, ge=0, description="how many updates that are")


class MaskedLMConfig(Section):
    """The sections that this task adds to a run."""

    data: TextFiles = TextFiles()
    tokenizer: WordPieceConfig = WordPieceConfig()
    batch: BatchConfig = BatchConfig()
    masking: MaskingConfig = MaskingConfig()


@dataclass(frozen=True)
class MaskedBatch:
    """Texts with hidden words. `places` are those of the hidden ones among all B·S, `wanted` what stood there;
    `elsewhere` is 1 where the second sentence does not follow the first."""

    tokens: Int[Tensor, "B S"]
    lengths: Int[Tensor, "B"]
    segments: Int[Tensor, "B S"]
    places: Int[Tensor, "N"]
    wanted: Int[Tensor, "N"]
    elsewhere: Int[Tensor, "B"]

    def to(self, device: torch.device | str) -> "MaskedBatch":
        moved = {field.name: getattr(self, field.name).to(device, non_blocking=True) for field in fields(self)}
        return MaskedBatch(**moved)


class MaskedText:
    """Passages of some files, from which batches are made."""

    def __init__(self, reader: DocumentReader, documents: Sequence[Sequence[str]], task: "MaskedLMTask") -> None:
        tokenizer, masking = task.tokenizers.tokenizer, task.config.masking
        sentences = store.in_memory(((text,) for document in documents for text in document), [tokenizer])
        sizes = [len(document) for document in documents]
        self.tokenizer, self.fingerprint, self._sizes = tokenizer, reader.fingerprint, sizes
        self.passages = Passages.of(sentences, sizes, length=masking.length, pairs=masking.next_sentence)
        self.masker = Masker.of(tokenizer, rate=masking.rate, whole_words=masking.whole_words)
        if not len(self.passages):
            raise DataError(
                f"No passage of two sentences was found in {' and '.join(reader.paths)}.",
                do="put several sentences into a document, or set masking.next_sentence=false",
            )

    def shorter(self, length: int) -> "MaskedText":
        """The same text in passages of no more than so many tokens."""
        other, cut = copy(self), self.passages
        length = min(length, cut.length)
        other.passages = Passages.of(cut.sentences, self._sizes, length=length, pairs=cut.pairs)
        return other

    def batch(self, rows: np.ndarray, seed: int, epoch: int) -> MaskedBatch:
        """The examples of some passages, as this epoch draws them."""
        tokens, segments, places, wanted, elsewhere = [], [], [], [], []
        for row in rows.tolist():
            random = np.random.default_rng(derive(seed, "masking", epoch, row))
            example = self.passages.example(row, self.tokenizer.start, self.tokenizer.end, random)
            may = (example.ids != self.tokenizer.start) & (example.ids != self.tokenizer.end)
            hidden, chosen = self.masker(example.ids, may, random)
            tokens.append(hidden)
            segments.append(example.segments)
            places.append(chosen)
            wanted.append(example.ids[chosen])
            elsewhere.append(int(example.elsewhere))
        padded, lengths = pad(tokens, self.tokenizer.pad)
        flat = np.concatenate([place + number * padded.shape[1] for number, place in enumerate(places)])
        return MaskedBatch(
            padded,
            lengths,
            pad(segments, 0)[0],
            torch.from_numpy(flat),
            torch.from_numpy(np.concatenate(wanted)),
            torch.tensor(elsewhere),
        )


@dataclass(frozen=True)
class Stretch:
    """The updates from `first` on, in which it is epoch `epoch` at first, and the text that their batches are of."""

    first: int
    epoch: int
    text: MaskedText
    order: Order

    def epoch_of(self, step: int) -> int:
        return self.epoch + self.order.epoch(step - self.first)


class MaskedLMTask:
    """What a training run needs to know of it."""

    config_class = MaskedLMConfig
    verb = "fill"
    recipe: ClassVar[Tree] = {}
    """What it trains well with."""
    continued_settings: ClassVar[Tree] = {"masking": {"short_updates": 0}}
    """Settings of its own that are others when it goes on from a model."""

    @staticmethod
    def continued(model: Section) -> Tree:
        """What it trains well with from a model that is trained already."""
        return {"learning_rate": 5e-4}

    def __init__(
        self,
        config: MaskedLMConfig,
        *,
        model: Section,
        seed: int,
        tokenizers: OneTokenizer | None = None,
        watch: Watch = unwatched,
    ) -> None:
        self.config, self.seed = config, seed
        if not config.data.train:
            raise DataError("No training data was given.", do="add --train corpus.txt")
        limited: Any = model
        if config.masking.length > limited.limit:
            raise ConfigError(
                f"masking.length={config.masking.length} is more than the model can take.",
                wanted=f"at most model.limit={limited.limit}",
            )
        files = {"train": config.data.train, "val": config.data.val, "test": config.data.test}
        readers = {split: DocumentReader(paths) for split, paths in files.items() if paths}
        documents = {
            split: list(watch(reader, total=0, what=f"reading the {split} text")) for split, reader in readers.items()
        }
        self.tokenizers = tokenizers or OneTokenizer(
            train_tokenizer([text for document in documents["train"] for text in document], config.tokenizer)
        )
        if self.tokenizers.tokenizer.mask is None:
            raise ConfigError(
                f"A tokenizer of kind {config.tokenizer.kind} has no mark for hidden words.", do="use wordpiece"
            )
        self.texts = {split: MaskedText(readers[split], documents[split], self) for split in readers}
        self._short, self._long = self._stretches(config.masking, config.batch.budget)

    def _stretches(self, masking: MaskingConfig, budget: int) -> tuple[Stretch, Stretch]:
        """Short examples first: a word that is hidden among thirty is more easily traced to its neighbours than one
        among a hundred, and until it has found them, a model does not get beyond guessing from all words at once."""
        long, count = self.texts["train"], masking.short_updates
        short = long.shorter(masking.short) if count else long
        orders = [Order(text.passages.sizes[:, None], budget, self.seed) for text in (short, long)]
        passed = orders[0].epoch(count - 1) + 1 if count else 0
        return Stretch(0, 0, short, orders[0]), Stretch(count, passed, long, orders[1])

    def batch(self, step: int, share: Share = WHOLE) -> MaskedBatch | None:
        """The batch of an update, a function of (seed, step) alone, or this share of it; None if it has no row."""
        stretch = self._stretch(step)
        rows = stretch.order[step - stretch.first][share.part :: share.of]
        return stretch.text.batch(rows, self.seed, stretch.epoch_of(step)) if len(rows) else None

    def epoch(self, step: int) -> int:
        return self._stretch(step).epoch_of(step)

    def _stretch(self, step: int) -> Stretch:
        return self._short if step < self._long.first else self._long

    def losses(self, model: nn.Module, batch: MaskedBatch) -> dict[str, Tensor]:
        """Cross-entropy of the hidden words and of what follows what, summed."""
        pretrained: Any = model
        hidden = pretrained.bert(batch.tokens, batch.lengths, batch.segments)
        guesses = pretrained.guesses(hidden.flatten(0, 1)[batch.places])
        masked = summed_cross_entropy(guesses, pretrained.output, batch.wanted)
        if not self.config.masking.next_sentence:
            return {"masked": masked}
        follows = F.cross_entropy(pretrained.next_sentence(hidden), batch.elsewhere, reduction="sum")
        return {"masked": masked, "next": follows}

    def counts(self, batch: MaskedBatch) -> dict[str, int]:
        counts = {"masked": len(batch.wanted), "next": len(batch.elsewhere)}
        return counts if self.config.masking.next_sentence else {"masked": counts["masked"]}

    def size(self, batch: MaskedBatch) -> int:
        """Tokens that are read: what speed is measured in."""
        return int(batch.lengths.sum())

    def unigram_entropy(self, batches: int = 50) -> float:
        """The loss per hidden word of one who knows only how frequent each token is, in the first batches."""
        counts = np.zeros(len(self.tokenizers.tokenizer))
        for step in range(batches):
            batch = self.batch(step)
            if batch is not None:
                counts += np.bincount(batch.wanted.numpy(), minlength=len(counts))
        shares = counts[counts > 0] / counts.sum()
        return float(-(shares * np.log(shares)).sum())

    def describe(self) -> str:
        """The data in a line."""
        return (
            f"{len(self.texts['train'].passages):,} passages, vocabulary {len(self.tokenizers.tokenizer):,}, "
            f"{self._long.order.updates_per_epoch:,} updates an epoch"
        )

    def card(self) -> dict[str, Any]:
        """What the model card says of the data."""
        return {"language": self.config.data.language, "data": self.fingerprints()}

    def fingerprints(self) -> dict[str, str]:
        """What the data was: a run is not resumed on other data."""
        return {split: text.fingerprint for split, text in self.texts.items()}

    def skipped(self) -> list[str]:
        return []
