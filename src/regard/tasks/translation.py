"""Translation: pairs of sentences → batches → losses."""

from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from pydantic import Field
from torch import Tensor, nn

from regard.attention import padding_mask
from regard.config import Tree
from regard.data.batches import WHOLE, BatchConfig, Order, PairBatch, Share
from regard.data.readers import ParallelText, read_pairs
from regard.errors import DataError
from regard.layers.cross_entropy import summed_cross_entropy
from regard.sections import Section
from regard.tasks.pairs import Pair, PairFiles, Tokenizers
from regard.tasks.probes import probe_pairs
from regard.tasks.recipes import gentle_rate
from regard.tasks.training_pairs import load
from regard.text import TokenizerConfig
from regard.text.detection import profile
from regard.watching import Watch, unwatched

PROFILED = 5000
"""Pairs by whose letters languages are known."""


class LossConfig(Section):
    """What is minimised."""

    label_smoothing: float = Field(
        0.1, ge=0, lt=1, description="share of the probability that goes to all other answers"
    )


class HabitsConfig(Section):
    """How the model searches where nothing else is asked for, and what it never does. One that others have trained
    brings its own."""

    beam: int = Field(5, gt=0, description="hypotheses that are kept")
    penalty: float = Field(1.0, ge=0, le=10, description="0 compares hypotheses by probability, 1 per token")
    limit: int | None = Field(None, gt=0, description="most tokens of a translation; none: twice the source's, and 20")
    banned: tuple[int, ...] = Field((), description="tokens that are never written")
    forced_end: bool = Field(False, description="a translation that comes to its limit ends there as if complete")
    renormalise: bool = Field(False, description="what is left where something is banned adds up to 1 again")


class TranslationConfig(Section):
    """The sections that this task adds to a run."""

    data: PairFiles = PairFiles()
    tokenizer: TokenizerConfig = TokenizerConfig()
    batch: BatchConfig = BatchConfig()
    loss: LossConfig = LossConfig()
    habits: HabitsConfig = HabitsConfig()


@runtime_checkable
class Translates(Protocol):
    """What the task asks of a model: see models/transformer.py."""

    output: nn.Linear
    """From a state to scores over the vocabulary."""

    def __call__(self, source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
        """For every prefix of the target the state from which its next word is predicted."""
        ...


class TranslationTask:
    """What a training run needs to know of translation."""

    config_class = TranslationConfig
    verb = "translate"
    recipe: ClassVar[Tree] = {}
    """What it trains well with."""

    @staticmethod
    def continued(model: Section) -> Tree:
        """What it trains well with from a model that is trained already."""
        return {"learning_rate": min(5e-4, 4 * gentle_rate(model))}

    def __init__(
        self,
        config: TranslationConfig,
        *,
        model: Section,
        seed: int,
        tokenizers: Tokenizers | None = None,
        watch: Watch = unwatched,
    ) -> None:
        """Reads all data before anything is trained; trains the tokenizers, or takes those given."""
        self.config = config
        if not config.data.train:
            raise DataError("No training data was given.", do="add --train pairs.tsv, or --train SOURCE --train TARGET")
        held = {"val": config.data.val, "test": config.data.test}
        self.texts = {split: _read(paths, config.data) for split, paths in held.items() if paths}
        limited: Any = model
        budget = config.batch.budget
        self.most = min(limited.limit, budget)
        self.train_pairs = load(config.data, config.tokenizer, most=self.most, saved=tokenizers, watch=watch)
        self.tokenizers = self.train_pairs.tokenizers
        self._order = Order(self.train_pairs.lengths(), budget, seed, weights=self.train_pairs.weights)

    def batch(self, step: int, share: Share = WHOLE) -> PairBatch | None:
        """The batch of an update, a function of (seed, step) alone, or this share of it; None if it has no row."""
        rows = self._order[step][share.part :: share.of]
        return self.train_pairs.batch(rows) if len(rows) else None

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

    def unigram_entropy(self, batches: int = 50) -> float:
        """The loss per token of one who knows only how frequent each target token is, in the first batches."""
        counts = np.zeros(len(self.tokenizers.target))
        for step in range(batches):
            target = self.train_pairs.batch(self._order[step]).target[:, 1:]
            counts += np.bincount(target.flatten(), minlength=len(counts))
        counts[self.tokenizers.target.pad] = 0
        shares = counts[counts > 0] / counts.sum()
        return float(-(shares * np.log(shares)).sum())

    def probes(self) -> list[Pair]:
        """Validation pairs on which attention is watched while it is learned; none if there is no validation set."""
        return probe_pairs(self.texts["val"], self.tokenizers, most=self.most) if "val" in self.texts else []

    def describe(self) -> str:
        """The data in a line."""
        sizes = dict.fromkeys((len(self.tokenizers.source), len(self.tokenizers.target)))
        return (
            f"{len(self.train_pairs):,} pairs, vocabulary {' + '.join(f'{size:,}' for size in sizes)}, "
            f"{self._order.updates_per_epoch:,} updates an epoch"
        )

    def card(self) -> dict[str, Any]:
        """What the model card says of the data."""
        langs = self.config.data.langs
        told = {"langs": list(langs), "data": self.fingerprints()}
        return {**told, "language_profile": self._profiles()} if all(langs) else told

    def _profiles(self) -> dict[str, dict[str, int]]:
        """By which letters each language is known (see text/detection.py), from pairs evenly spread over the data."""
        rows = np.linspace(0, len(self.train_pairs) - 1, min(PROFILED, len(self.train_pairs))).astype(np.int64)
        batch = self.train_pairs.batch(rows)
        sides = ((self.tokenizers.source, batch.source), (self.tokenizers.target, batch.target))
        return {
            language: profile(tokenizer.decode(ids) for ids in texts.tolist())
            for language, (tokenizer, texts) in zip(self.config.data.langs, sides, strict=True)
        }

    def fingerprints(self) -> dict[str, str]:
        """What the data was: a run is not resumed on other data."""
        return {"train": self.train_pairs.fingerprint} | {name: text.fingerprint for name, text in self.texts.items()}

    def skipped(self) -> list[str]:
        """A line for each row that was left out by choice."""
        held = [str(row) for text in self.texts.values() for row in text.skipped]
        return [*self.train_pairs.skipped, *held]


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
