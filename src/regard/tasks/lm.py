"""Language modelling: running text → blocks → the loss of each next token (Radford 2019, section 2)."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor, nn

from regard.config import Tree
from regard.data.batches import WHOLE, BatchConfig, Share
from regard.data.blocks import BlockOrder
from regard.data.raw import TextReader
from regard.errors import DataError
from regard.layers.cross_entropy import summed_cross_entropy
from regard.sections import Section
from regard.tasks.recipes import gentle_rate
from regard.tasks.running_text import ExactConfig, HeldOut, load
from regard.tasks.texts import OneTokenizer, TextFiles
from regard.watching import Watch, unwatched


class LMConfig(Section):
    """The sections that this task adds to a run."""

    data: TextFiles = TextFiles()
    tokenizer: ExactConfig = ExactConfig()
    batch: BatchConfig = BatchConfig()


@runtime_checkable
class PredictsNext(Protocol):
    """What the task asks of a model: see models/gpt2.py."""

    output: nn.Linear
    """From a state to scores over the vocabulary."""

    def __call__(self, tokens: Tensor) -> Tensor:
        """For every place the state from which its next token is predicted."""
        ...


@dataclass(frozen=True)
class BlockBatch:
    """Blocks of running text. The model reads tokens[:, :-1] and predicts tokens[:, 1:]."""

    tokens: Int[Tensor, "B T"]

    def to(self, device: torch.device | str) -> "BlockBatch":
        return BlockBatch(self.tokens.to(device, non_blocking=True))


class LMTask:
    """What a training run needs to know of language modelling."""

    config_class = LMConfig
    verb = "generate"
    recipe: ClassVar[Tree] = {"epochs": 10.0, "schedule": "cosine", "betas": (0.9, 0.99), "weight_decay": 0.1}
    """What it trains well with."""

    @staticmethod
    def continued(model: Section) -> Tree:
        """What it trains well with from a model that is trained already. It goes on with what it does, with another
        text: it takes more than a model that must learn something else."""
        return {**LMTask.recipe, "epochs": 3.0, "learning_rate": min(1e-3, 4 * gentle_rate(model))}

    def __init__(
        self,
        config: LMConfig,
        *,
        model: Section,
        seed: int,
        tokenizers: OneTokenizer | None = None,
        watch: Watch = unwatched,
    ) -> None:
        """Reads all text before anything is trained; trains the tokenizer, or takes the one given."""
        self.config = config
        if not config.data.train:
            raise DataError("No training data was given.", do="add --train text.txt, or --train FOLDER")
        held = {"val": config.data.val, "test": config.data.test}
        readers = {split: TextReader(paths) for split, paths in held.items() if paths}
        texts = {split: list(watch(each, total=0, what=f"reading the {split} text")) for split, each in readers.items()}
        self.text = load(TextReader(config.data.train), config.tokenizer, saved=tokenizers, watch=watch)
        self.tokenizers = self.text.tokenizers
        self.texts = {
            split: HeldOut.of(pieces, self.tokenizers.tokenizer, readers[split].fingerprint)
            for split, pieces in texts.items()
        }
        self._skipped = [*self.text.skipped, *(line for reader in readers.values() for line in reader.skipped)]
        limited: Any = model
        length = min(limited.limit, len(self.text.ring))
        self._order = BlockOrder(len(self.text.ring), length, config.batch.budget, seed)

    def batch(self, step: int, share: Share = WHOLE) -> BlockBatch | None:
        """The batch of an update, a function of (seed, step) alone, or this share of it; None if it has no block."""
        begins = self._order[step][share.part :: share.of]
        if not len(begins):
            return None
        return BlockBatch(torch.from_numpy(self.text.ring.stretches(begins, self._order.length + 1)))

    def epoch(self, step: int) -> int:
        return self._order.epoch(step)

    def losses(self, model: nn.Module, batch: BlockBatch) -> dict[str, Tensor]:
        """Cross-entropy of every token that follows, summed."""
        predicts: Any = model
        hidden = predicts(batch.tokens[:, :-1])
        return {"loss": summed_cross_entropy(hidden.flatten(0, 1), predicts.output, batch.tokens[:, 1:].flatten())}

    def counts(self, batch: BlockBatch) -> dict[str, int]:
        """How many tokens are predicted."""
        return {"loss": self.size(batch)}

    def size(self, batch: BlockBatch) -> int:
        """Tokens that are predicted: what speed is measured in."""
        return batch.tokens[:, 1:].numel()

    def unigram_entropy(self, batches: int = 50) -> float:
        """The loss per token of one who knows only how frequent each token is, in the first batches."""
        counts = np.zeros(len(self.tokenizers.tokenizer))
        for step in range(batches):
            wanted = self.text.ring.stretches(self._order[step] + 1, self._order.length)
            counts += np.bincount(wanted.ravel(), minlength=len(counts))
        shares = counts[counts > 0] / counts.sum()
        return float(-(shares * np.log(shares)).sum())

    def describe(self) -> str:
        """The data in a line."""
        unknown = f" ({self.text.unknown:,} of them unknown to the tokenizer)" if self.text.unknown else ""
        return (
            f"{len(self.text.ring):,} tokens{unknown}, vocabulary {len(self.tokenizers.tokenizer):,}, "
            f"{self._order.updates_per_epoch:,} updates an epoch"
        )

    def card(self) -> dict[str, Any]:
        """What the model card says of the data."""
        return {"language": self.config.data.language, "data": self.fingerprints()}

    def fingerprints(self) -> dict[str, str]:
        """What the data was: a run is not resumed on other data."""
        return {"train": self.text.fingerprint} | {split: text.fingerprint for split, text in self.texts.items()}

    def skipped(self) -> list[str]:
        """A line for each file that is not text."""
        return self._skipped
