"""Pairs of sentences: which files they are in, which tokenizers they need, what they are as ids."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, field_validator

from regard.config import Tree
from regard.data.batches import PairBatch, pad
from regard.data.readers import PairReader
from regard.sections import Section
from regard.text import Tokenizer, TokenizerConfig, train_tokenizer

Pair = tuple[str, str]


class Corpus(Section):
    """One of several corpora: a file of pairs, or two that are aligned line by line."""

    path: str | tuple[str, str]
    weight: float = Field(1.0, gt=0, le=1000, description="how often each of its pairs is seen in an epoch")

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path,) if isinstance(self.path, str) else self.path


class PairFiles(Section):
    """Where the pairs are. One file of pairs, or two that are aligned line by line; to train on, also several corpora
    with weights."""

    train: tuple[str, ...] | tuple[Corpus, ...] = Field((), description="files to learn from")
    val: tuple[str, ...] = Field((), description="files that choose the best model")
    test: tuple[str, ...] = Field((), description="files that are scored once at the end")
    langs: tuple[str, str] = Field(("", ""), description="codes of both languages")
    bad_rows: Literal["stop", "skip"] = Field("stop", description="what to do with a row that cannot be read")
    too_long: Literal["stop", "skip"] = Field("stop", description="training pairs longer than model.limit tokens")

    @field_validator("train", "val", "test")
    @classmethod
    def _one_or_two(cls, files: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(files) > 2 and isinstance(files[0], str):
            raise ValueError(f"{len(files)} files; one file of pairs, or SOURCE and TARGET (several: {{path, weight}})")
        return files

    @property
    def corpora(self) -> list[Corpus]:
        """What is trained on."""
        given = [each for each in self.train if isinstance(each, Corpus)]
        paths = [each for each in self.train if isinstance(each, str)]
        return given or [Corpus(path=paths[0] if len(paths) == 1 else (paths[0], paths[1]))]

    def reader(self, paths: Sequence[str]) -> PairReader:
        return PairReader(paths, langs=self.langs if all(self.langs) else None, bad_rows=self.bad_rows)


@dataclass(frozen=True)
class Tokenizers:
    """One for each side; the same object twice where the vocabulary is joint. (Marian spells the two languages in two
    ways, with the numbers of one vocabulary: `shared`.)"""

    source: Tokenizer
    target: Tokenizer
    shared: bool = False

    @classmethod
    def train(cls, pairs: Sequence[Pair], config: TokenizerConfig) -> "Tokenizers":
        sources, targets = zip(*pairs, strict=True)
        if config.joint:
            joint = train_tokenizer([*sources, *targets], config)
            return cls(joint, joint)
        return cls(train_tokenizer(sources, config), train_tokenizer(targets, config))

    def save(self, directory: Path) -> None:
        self.source.save(directory / "tokenizer.json")
        if self.target is not self.source:
            self.target.save(directory / "tokenizer.target.json")

    def model_sizes(self) -> dict[str, Any]:
        """What a model must know of the text."""
        return {
            "source_vocabulary": len(self.source),
            "target_vocabulary": len(self.target),
            "joint": self.target is self.source or self.shared,
        }

    @classmethod
    def load(cls, directory: Path, config: Tree) -> "Tokenizers":
        source, other = Tokenizer.load(directory / "tokenizer.json"), directory / "tokenizer.target.json"
        joint = bool(config["tokenizer"]["joint"])
        return cls(source, source if joint and not other.exists() else Tokenizer.load(other), shared=joint)


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
