"""Sentence vectors: two texts that mean the same shall point the same way (Reimers 2019, "Sentence-BERT").

From pairs with scores: the cosine of the two vectors is to be the score (on a scale from 0 to `similarity.highest`).
From pairs that belong together, such as questions and their answers: of all second texts in the batch, the right one
shall be nearest (in-batch negatives). Each process then has its own share of the batch to choose from.
"""

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn

from regard.config import Tree
from regard.data.batches import WHOLE, BatchConfig, Order, Share, pad
from regard.data.labelled import PAIRED, SCORED, Labelled, read_labelled
from regard.data.tables import Table
from regard.errors import DataError, LimitError
from regard.sections import Section
from regard.tasks.embedding import POOLINGS, EmbeddingConfig
from regard.tasks.recipes import gentle_rate
from regard.tasks.texts import OneTokenizer, TextFiles, WordPieceConfig
from regard.text import train_tokenizer
from regard.watching import Watch, unwatched


class ScoredFiles(TextFiles):
    """Where the pairs are: tables with two texts and a score, or with two texts that belong together."""

    too_long: Literal["stop", "cut"] = Field("stop", description="texts longer than model.limit tokens")


class SimilarityConfig(Section):
    """What is learned from pairs."""

    highest: float = Field(5.0, gt=0, description="the score of two texts that mean the same; 0: nothing in common")
    scale: float = Field(20.0, gt=0, description="pairs without scores: what cosines are multiplied by")


class SimilarityTaskConfig(Section):
    """The sections that this task adds to a run."""

    data: ScoredFiles = ScoredFiles()
    tokenizer: WordPieceConfig = WordPieceConfig()
    batch: BatchConfig = BatchConfig(tokens=1024)
    embedding: EmbeddingConfig = EmbeddingConfig(normalize=True)
    similarity: SimilarityConfig = SimilarityConfig()


@dataclass(frozen=True)
class PairOfTexts:
    """Two texts in each row, and how alike they are, from 0 to 1; empty if they just belong together."""

    first: Int[Tensor, "B S"]
    first_lengths: Int[Tensor, "B"]
    second: Int[Tensor, "B T"]
    second_lengths: Int[Tensor, "B"]
    scores: Float[Tensor, "N"]

    def to(self, device: torch.device | str) -> "PairOfTexts":
        moved = {field.name: getattr(self, field.name).to(device, non_blocking=True) for field in fields(self)}
        return PairOfTexts(**moved)


@dataclass(frozen=True)
class ScoredPairs:
    """Pairs of texts; `scores` from 0 to 1, None where they have none."""

    firsts: list[str]
    seconds: list[str]
    scores: np.ndarray | None
    places: tuple[str, ...]
    fingerprint: str

    @classmethod
    def read(cls, paths: tuple[str, ...], highest: float, *tables: Table) -> "ScoredPairs":
        read = read_labelled(paths, *tables)
        firsts = [texts[0] for texts in read.texts]
        if read.sides == 1:
            return cls(firsts, list(read.labels), None, read.places, read.fingerprint)
        return cls(firsts, [texts[1] for texts in read.texts], _scores(read, highest), read.places, read.fingerprint)

    @classmethod
    def held_out(cls, split: str, paths: tuple[str, ...], highest: float) -> "ScoredPairs":
        """Pairs to score a model with: what has no scores, or nothing to be ranked by, is refused."""
        found = cls.read(paths, highest, SCORED, PAIRED, SCORED)  # a row that is neither shall have scores
        named, leave = " and ".join(paths), f"or leave --{split} out"
        if found.scores is None:
            raise DataError(
                f"{named}: --{split} needs scores, which only training may go without.",
                found=f"two texts, no score, in {found.places[0]}",
                wanted="text⇥text⇥score",
                do=f"add a score from 0 to {highest:g} to each pair, {leave}",
            )
        if np.ptp(found.scores) == 0:
            raise DataError(
                f"{named}: all scores are equal, so no pair is more alike than another.",
                found=f"{found.scores[0] * highest:g} in each of {len(found)} pairs",
                wanted="at least two different scores",
                do=f"add pairs that are more or less alike, {leave}",
            )
        return found

    def __len__(self) -> int:
        return len(self.firsts)


class SimilarityTask:
    """What a training run needs to know of it."""

    config_class = SimilarityTaskConfig
    verb = "embed"
    recipe: ClassVar[Tree] = {"epochs": 10.0}
    """What it trains well with."""

    @staticmethod
    def continued(model: Section) -> Tree:
        """What it trains well with from a model that is trained already."""
        return {"epochs": 4.0, "learning_rate": gentle_rate(model)}

    def __init__(
        self,
        config: SimilarityTaskConfig,
        *,
        model: Section,
        seed: int,
        tokenizers: OneTokenizer | None = None,
        watch: Watch = unwatched,
    ) -> None:
        self.config, self.seed = config, seed
        if not config.data.train:
            raise DataError("No training data was given.", do="add --train pairs.tsv: two texts and a score a line")
        highest = config.similarity.highest
        self.texts = {"train": ScoredPairs.read(config.data.train, highest, SCORED, PAIRED)}
        for split, paths in (("val", config.data.val), ("test", config.data.test)):
            if paths:
                self.texts[split] = ScoredPairs.held_out(split, paths, highest)
        train = self.texts["train"]
        both = [*train.firsts, *train.seconds]
        self.tokenizers = tokenizers or OneTokenizer(train_tokenizer(both, config.tokenizer))
        limited: Any = model
        ids = self.tokenizers.tokenizer.encode_all(both)
        self._check(ids, limited.limit)
        room, (start, end) = limited.limit - 2, (self.tokenizers.tokenizer.start, self.tokenizers.tokenizer.end)
        marked = [np.array([start, *row[:room], end]) for row in ids]
        self._firsts, self._seconds = marked[: len(train)], marked[len(train) :]
        lengths = np.array([(len(a), len(b)) for a, b in zip(self._firsts, self._seconds, strict=True)])
        self._order = Order(lengths, config.batch.budget, seed)
        self._pool = POOLINGS[config.embedding.pooling](0)

    def _check(self, ids: list[list[int]], limit: int) -> None:
        worst = max(range(len(ids)), key=lambda row: len(ids[row]))
        if len(ids[worst]) + 2 > limit and self.config.data.too_long == "stop":
            raise LimitError(
                "Some training texts are longer than the model can take.",
                found=f"{len(ids[worst]) + 2} tokens in {self.texts['train'].places[worst % len(self.texts['train'])]}",
                wanted=f"at most {limit}, marks included",
                do="cut them with data.too_long=cut",
            )

    def batch(self, step: int, share: Share = WHOLE) -> PairOfTexts | None:
        """The batch of an update, a function of (seed, step) alone, or this share of it; None if it has no row."""
        rows = self._order[step][share.part :: share.of]
        if not len(rows):
            return None
        filler, scores = self.tokenizers.tokenizer.pad, self.texts["train"].scores
        return PairOfTexts(
            *pad([self._firsts[row] for row in rows], filler),
            *pad([self._seconds[row] for row in rows], filler),
            torch.empty(0) if scores is None else torch.from_numpy(scores[rows]).float(),
        )

    def epoch(self, step: int) -> int:
        return self._order.epoch(step)

    def losses(self, model: nn.Module, batch: PairOfTexts) -> dict[str, Tensor]:
        """Squared error of the cosines, or cross-entropy of the right partner, summed."""
        first = self._pool(model(batch.first, batch.first_lengths), batch.first_lengths).float()
        second = self._pool(model(batch.second, batch.second_lengths), batch.second_lengths).float()
        if len(batch.scores):
            return {"pairs": F.mse_loss(F.cosine_similarity(first, second), batch.scores, reduction="sum")}
        near = self.config.similarity.scale * F.normalize(first, dim=-1) @ F.normalize(second, dim=-1).T
        return {"pairs": F.cross_entropy(near, torch.arange(len(near), device=near.device), reduction="sum")}

    def counts(self, batch: PairOfTexts) -> dict[str, int]:
        return {"pairs": len(batch.first)}

    def size(self, batch: PairOfTexts) -> int:
        """Tokens that are read: what speed is measured in."""
        return int(batch.first_lengths.sum() + batch.second_lengths.sum())

    def unigram_entropy(self) -> float:
        """The loss of one who says the same of every pair."""
        scores = self.texts["train"].scores
        rows = [len(self._order[step]) for step in range(min(50, self._order.updates_per_epoch))]
        return float(np.mean(np.log(rows))) if scores is None else float(scores.var())

    def describe(self) -> str:
        """The data in a line."""
        kind = "pairs that belong together" if self.texts["train"].scores is None else "pairs with scores"
        return (
            f"{len(self.texts['train']):,} {kind}, vocabulary {len(self.tokenizers.tokenizer):,}, "
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


def _scores(read: Labelled, highest: float) -> np.ndarray:
    found = []
    for text, place in zip(read.labels, read.places, strict=True):
        try:
            score = float(text)
        except ValueError:
            score = -1.0
        if not 0 <= score <= highest:
            raise DataError(
                "A score cannot be used.",
                found=f"{text!r} in {place}",
                wanted=f"a number from 0 to {highest:g} (similarity.highest)",
            )
        found.append(score / highest)
    return np.array(found)
