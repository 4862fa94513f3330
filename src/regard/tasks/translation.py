"""Translation: pairs of sentences → batches → losses."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from pydantic import Field
from torch import Tensor, nn

from regard.attention import padding_mask
from regard.config import Tree
from regard.data.batches import WHOLE, BatchConfig, Order, PairBatch, Share, pad
from regard.data.readers import ParallelText, read_pairs
from regard.errors import DataError
from regard.layers.cross_entropy import summed_cross_entropy
from regard.sections import Section
from regard.text import Tokenizer, TokenizerConfig, train_tokenizer


class PairFiles(Section):
    """Where the pairs are. One file of pairs, or two that are aligned line by line."""

    train: tuple[str, ...] = ()
    val: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    langs: tuple[str, str] = ("", "")
    bad_rows: Literal["stop", "skip"] = "stop"
    too_long: Literal["stop", "skip"] = Field("stop", description="training pairs longer than model.limit tokens")

    def splits(self) -> dict[str, tuple[str, ...]]:
        """The files of each split that was given."""
        files = {"train": self.train, "val": self.val, "test": self.test}
        return {split: paths for split, paths in files.items() if paths}


class LossConfig(Section):
    """What is minimised."""

    label_smoothing: float = Field(0.1, ge=0, lt=1)


class TranslationConfig(Section):
    """The sections that this task adds to a run."""

    data: PairFiles = PairFiles()
    tokenizer: TokenizerConfig = TokenizerConfig()
    batch: BatchConfig = BatchConfig()
    loss: LossConfig = LossConfig()


@runtime_checkable
class Translates(Protocol):
    """What the task asks of a model: see models/transformer.py."""

    output: nn.Linear
    """From a state to scores over the vocabulary."""

    def __call__(self, source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
        """For every prefix of the target the state from which its next word is predicted."""
        ...


@dataclass(frozen=True)
class Tokenizers:
    """One for each side; the same object twice where the vocabulary is joint."""

    source: Tokenizer
    target: Tokenizer

    @classmethod
    def train(cls, text: ParallelText, config: TokenizerConfig) -> "Tokenizers":
        if config.joint:
            joint = train_tokenizer([*text.sources, *text.targets], config)
            return cls(joint, joint)
        return cls(train_tokenizer(text.sources, config), train_tokenizer(text.targets, config))

    def save(self, directory: Path) -> None:
        self.source.save(directory / "tokenizer.json")
        if self.target is not self.source:
            self.target.save(directory / "tokenizer.target.json")

    def model_sizes(self) -> dict[str, Any]:
        """What a model must know of the text."""
        return {
            "source_vocabulary": len(self.source),
            "target_vocabulary": len(self.target),
            "joint": self.target is self.source,
        }

    @classmethod
    def load(cls, directory: Path, config: Tree) -> "Tokenizers":
        source = Tokenizer.load(directory / "tokenizer.json")
        joint = config["tokenizer"]["joint"]
        return cls(source, source if joint else Tokenizer.load(directory / "tokenizer.target.json"))


@dataclass(frozen=True)
class EncodedPairs:
    """Pairs as ids: the source ends with the end mark, the target stands between start and end mark."""

    sources: Sequence[Sequence[int]]
    targets: Sequence[Sequence[int]]

    @classmethod
    def encode(cls, sources: Sequence[str], targets: Sequence[str], tokenizers: Tokenizers) -> "EncodedPairs":
        source, target = tokenizers.source, tokenizers.target
        return cls(
            [[*ids, source.end] for ids in source.encode_all(sources)],
            [[target.start, *ids, target.end] for ids in target.encode_all(targets)],
        )

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def lengths(self) -> np.ndarray:
        """Tokens that the encoder reads and that the decoder predicts, a row per pair."""
        return np.array([(len(s), len(t) - 1) for s, t in zip(self.sources, self.targets, strict=True)])

    def batch(self, rows: Sequence[int] | np.ndarray, tokenizers: Tokenizers) -> PairBatch:
        source, source_lengths = pad([self.sources[i] for i in rows], tokenizers.source.pad)
        target, target_lengths = pad([self.targets[i] for i in rows], tokenizers.target.pad)
        return PairBatch(source, source_lengths, target, target_lengths)


class TranslationTask:
    """What a training run needs to know of translation."""

    config_class = TranslationConfig
    verb = "translate"

    def __init__(self, config: TranslationConfig, *, model: Section, seed: int, saved: Path | None = None) -> None:
        """Reads all data before anything is trained; trains the tokenizers, or takes those saved in a directory."""
        self.config = config
        if not config.data.train:
            raise DataError("No training data was given.", do="add --train pairs.tsv, or --train SOURCE --train TARGET")
        self.texts = {split: _read(paths, config.data) for split, paths in config.data.splits().items()}
        text = self.texts["train"]
        self.tokenizers = (
            Tokenizers.load(saved, config.model_dump()) if saved else Tokenizers.train(text, config.tokenizer)
        )
        encoded = EncodedPairs.encode(text.sources, text.targets, self.tokenizers)
        limited: Any = model
        self.train_pairs, self.too_long = _within(encoded, limited.limit, config)
        self._order = Order(self.train_pairs.lengths, config.batch.tokens, seed)

    def batch(self, step: int, share: Share = WHOLE) -> PairBatch | None:
        """The batch of an update, a function of (seed, step) alone, or this share of it; None if it has no row."""
        rows = self._order[step][share.part :: share.of]
        return self.train_pairs.batch(rows, self.tokenizers) if len(rows) else None

    def epoch(self, step: int) -> int:
        return self._order.epoch(step)

    def losses(self, model: nn.Module, batch: PairBatch) -> dict[str, Tensor]:
        """Cross-entropy of the real target tokens, smoothed (Vaswani 2017, section 5.4), summed."""
        return {"loss": cross_entropy(model, batch, label_smoothing=self.config.loss.label_smoothing)[0]}

    def counts(self, batch: PairBatch) -> dict[str, int]:
        """How many tokens are predicted."""
        return {"loss": self.size(batch)}

    def size(self, batch: PairBatch) -> int:
        """Target tokens that count: what speed is measured in."""
        return int(batch.target_lengths.sum()) - len(batch.target_lengths)

    def describe(self) -> str:
        """The data in a line."""
        sizes = dict.fromkeys((len(self.tokenizers.source), len(self.tokenizers.target)))
        return (
            f"{len(self.train_pairs):,} pairs, vocabulary {' + '.join(f'{size:,}' for size in sizes)}, "
            f"{self._order.updates_per_epoch:,} updates an epoch"
        )

    def card(self) -> dict[str, Any]:
        """What the model card says of the data."""
        return {"langs": list(self.config.data.langs), "data": self.fingerprints()}

    def fingerprints(self) -> dict[str, str]:
        """What the data was: a run is not resumed on other data."""
        return {split: text.fingerprint for split, text in self.texts.items()}

    def skipped(self) -> list[str]:
        """A line for each row that was left out by choice."""
        rows = (row for text in self.texts.values() for row in text.skipped)
        return [f"{row.file}, line {row.line}: {row.why}: {row.text}" for row in rows] + self.too_long


def cross_entropy(model: nn.Module, batch: PairBatch, *, label_smoothing: float = 0.0) -> tuple[Tensor, int]:
    """(sum, count) over the real tokens; padding is dropped before the output layer, so it costs nothing there.
    The model: see `Translates`."""
    translates: Any = model
    hidden = translates(batch.source, batch.source_lengths, batch.target[:, :-1])
    real = padding_mask(batch.target_lengths - 1, hidden.shape[1])[:, 0, 0]
    words = batch.target[:, 1:][real]
    return summed_cross_entropy(hidden[real], translates.output, words, label_smoothing), len(words)


def _read(paths: tuple[str, ...], files: PairFiles) -> ParallelText:
    return read_pairs(paths, langs=files.langs if all(files.langs) else None, bad_rows=files.bad_rows)


def _within(pairs: EncodedPairs, limit: int, config: TranslationConfig) -> tuple[EncodedPairs, list[str]]:
    """The pairs that the model can take, and a line for each one that was left out."""
    most = min(limit, config.batch.tokens)
    longest = pairs.lengths.max(axis=1)
    over = np.flatnonzero(longest > most)
    if len(over) and config.data.too_long == "stop":
        raise DataError(
            f"{len(over)} training pairs are longer than {most} tokens.",
            found=f"pair {over[0] + 1} has {longest[over[0]]} tokens",
            wanted=f"at most {most}",
            do=f"raise {'model.limit' if limit == most else 'batch.tokens'}, or leave them out with data.too_long=skip",
        )
    kept = np.flatnonzero(longest <= most)
    if not len(kept):
        raise DataError(f"Every training pair is longer than {most} tokens.", do="raise model.limit and batch.tokens")
    lines = [f"training pair {i + 1}: {longest[i]} tokens, more than {most}" for i in over]
    return EncodedPairs([pairs.sources[int(i)] for i in kept], [pairs.targets[int(i)] for i in kept]), lines
