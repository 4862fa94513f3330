"""Vectors of words from running text: skip-gram with negative sampling (Mikolov 2013)."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.config import Tree
from regard.data import store
from regard.data.batches import WHOLE, BatchConfig, Order, Share
from regard.data.documents import DocumentReader
from regard.data.store import Column
from regard.errors import DataError
from regard.sections import Section
from regard.seeds import derive
from regard.tasks.skip_grams import SkipGrams, WordBatch
from regard.tasks.texts import OneTokenizer, TextFiles
from regard.text import TokenizerConfig
from regard.text.tokenizer import SPECIALS
from regard.text.words import word_tokenizer
from regard.watching import Watch, unwatched

STRETCH = 1000
"""Longer texts are cut after so many words, as word2vec's own program does: a batch holds whole ones."""


class WordsConfig(Section):
    """What is near what."""

    window: int = Field(5, gt=0, description="most words on either side that count as near; for each word 1 to so many")
    negatives: int = Field(5, gt=0, description="what words of noise count together, for each pair")
    subsample: float = Field(1e-3, ge=0, description="words more frequent than that are left out at times; 0: none")
    across: Literal["document", "sentence"] = Field("document", description="what a window does not reach beyond")


class VocabularyConfig(TokenizerConfig):
    """Which words are known: whole ones, in small letters."""

    kind: Literal["bpe", "byte-bpe", "unigram", "wordpiece", "word", "character"] = Field(
        "word", description="how text is cut into tokens"
    )
    size: int = Field(200_000, gt=len(SPECIALS), description="most words, marks included; the text may give fewer")
    lowercase: bool = Field(True, description="capitals are not told apart")
    min_count: int = Field(5, gt=0, description="how often a word must occur to be known; others are as if not there")

    @model_validator(mode="after")
    def _words_are_whole(self) -> "VocabularyConfig":
        if self.kind != "word":
            raise ValueError(f"vectors of words need whole words, not {self.kind}")
        return self


class WordBatchConfig(BatchConfig):
    """How much goes into one update: a larger batch than elsewhere, as every update moves the whole vocabulary."""

    tokens: Annotated[int, Field(gt=0)] | Literal["auto"] = Field(
        16_384, description="words of running text, before frequent ones are left out; auto: as many as fit into memory"
    )


class WordsTaskConfig(Section):
    """The sections that this task adds to a run."""

    data: TextFiles = TextFiles()
    tokenizer: VocabularyConfig = VocabularyConfig()
    batch: WordBatchConfig = WordBatchConfig()
    words: WordsConfig = WordsConfig()


class WordText:
    """The known words of some files, in stretches of which none reaches beyond a document or sentence."""

    def __init__(self, reader: DocumentReader, documents: Sequence[Sequence[str]], task: "WordsTask") -> None:
        tokenizer, across = task.tokenizers.tokenizer, task.config.words.across
        texts = _sentences(documents) if across == "sentence" else (" ".join(document) for document in documents)
        (column,) = store.in_memory(((text,) for text in texts), [tokenizer]).columns
        self.column, self.fingerprint = _stretches(column, tokenizer.unknown), reader.fingerprint
        self.all_words = len(column.ids)
        if not len(self.column.ends):
            raise DataError(
                f"No two known words stand together in {' and '.join(reader.paths)}.",
                found=f"{len(tokenizer) - len(SPECIALS):,} words in the vocabulary",
                do="give more text, or lower tokenizer.min_count",
            )

    def __len__(self) -> int:
        return len(self.column.ends)

    def rows(self, numbers: np.ndarray) -> list[np.ndarray]:
        """The ids of some stretches."""
        return [self.column[number] for number in numbers.tolist()]


class WordsTask:
    """What a training run needs to know of it."""

    config_class = WordsTaskConfig
    verb = "embed"
    recipe: ClassVar[Tree] = {"epochs": 5.0}
    """What it trains well with."""

    @staticmethod
    def continued(model: Section) -> Tree:
        """What it trains well with from a model that is trained already."""
        return {"epochs": 5.0}

    def __init__(
        self,
        config: WordsTaskConfig,
        *,
        model: Section,
        seed: int,
        tokenizers: OneTokenizer | None = None,
        watch: Watch = unwatched,
    ) -> None:
        self.config, self.seed = config, seed
        if not config.data.train:
            raise DataError("No training data was given.", do="add --train corpus.txt")
        files = {"train": config.data.train, "val": config.data.val, "test": config.data.test}
        readers = {split: DocumentReader(paths) for split, paths in files.items() if paths}
        documents = {
            split: list(watch(reader, total=0, what=f"reading the {split} text")) for split, reader in readers.items()
        }
        words = config.tokenizer
        self.tokenizers = tokenizers or OneTokenizer(
            word_tokenizer(
                _sentences(documents["train"]), size=words.size, min_count=words.min_count, lowercase=words.lowercase
            )
        )
        self.texts = {split: WordText(readers[split], documents[split], self) for split in readers}
        column = self.texts["train"].column
        self.skip_grams = SkipGrams.of(
            np.bincount(column.ids, minlength=len(self.tokenizers.tokenizer)),
            window=config.words.window,
            negatives=config.words.negatives,
            subsample=config.words.subsample,
        )
        self._order = Order(column.lengths()[:, None], config.batch.budget, seed)

    def batch(self, step: int, share: Share = WHOLE) -> WordBatch | None:
        """The batch of an update, a function of (seed, step) alone, or this share of its groups; None if it has none.
        All of it is drawn and then shared out, so that a share is the same groups however many there are."""
        random = np.random.default_rng(derive(self.seed, "words", step))
        return self.skip_grams.batch(self.texts["train"].rows(self._order[step]), random, share)

    def epoch(self, step: int) -> int:
        return self._order.epoch(step)

    def losses(self, model: nn.Module, batch: WordBatch) -> dict[str, Tensor]:
        """-log σ(u·v) of the pairs, -log σ(-u·v) of centres and noise, summed (Mikolov 2013, eq. 4)."""
        scores = model(batch.centres, torch.cat((batch.among, batch.noise), dim=1)).float()
        near, noise = scores.split((batch.among.shape[1], batch.noise.shape[1]), dim=-1)
        far = F.softplus(noise).sum(-1) * batch.weights
        return {"pairs": F.softplus(-near.flatten()[batch.places]).sum() + far.sum()}

    def counts(self, batch: WordBatch) -> dict[str, int]:
        return {"pairs": len(batch.places)}

    def size(self, batch: WordBatch) -> int:
        """Words that have others near them, of those that were not left out: what speed is measured in."""
        return int(batch.weights.count_nonzero())

    def unigram_entropy(self) -> float:
        """The loss a pair of one who knows only how frequent each word is."""
        return self.skip_grams.frequency_loss()

    def describe(self) -> str:
        """The data in a line."""
        text = self.texts["train"]
        return (
            f"{text.all_words:,} words, {len(text.column.ids):,} of them known; "
            f"vocabulary {len(self.tokenizers.tokenizer) - len(SPECIALS):,}, "
            f"{self._order.updates_per_epoch:,} updates an epoch"
        )

    def card(self) -> dict[str, Any]:
        """What the model card says of the data."""
        return {"language": self.config.data.language, "data": self.fingerprints()}

    def fingerprints(self) -> dict[str, str]:
        """What the data was: a run is not resumed on other data."""
        return {split: text.fingerprint for split, text in self.texts.items()}

    def skipped(self) -> list[str]:
        return []


def _sentences(documents: Sequence[Sequence[str]]) -> Iterator[str]:
    return (sentence for document in documents for sentence in document)


def _stretches(column: Column, unknown: int) -> Column:
    """Without unknown words, cut where they are too long, and without those of a single word."""
    known = column.ids != unknown
    ends = np.concatenate(([0], np.cumsum(known)))[column.ends]
    lengths = np.diff(ends, prepend=0)
    cut = [length for whole in lengths.tolist() for length in (*[STRETCH] * (whole // STRETCH), whole % STRETCH)]
    sizes = np.array(cut, dtype=np.int64)
    alone = np.repeat(sizes < 2, sizes)
    return Column(column.ids[known][~alone], np.cumsum(sizes[sizes > 1]))
