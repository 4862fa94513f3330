"""Small translators whose attention can be read."""

from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.capture import Attends
from regard.models.transformer import Transformer, TransformerConfig
from regard.tasks.pairs import Tokenizers
from regard.tasks.translator import Translator
from regard.text import TokenizerConfig, train_tokenizer
from tests import oracles
from tests.text.corpus import CHINESE, ENGLISH

LIMIT = 40


def tokenizers(kind: Any = "bpe") -> Tokenizers:
    """English is read, Chinese is written; each has its own vocabulary."""
    config = TokenizerConfig(kind=kind, size=330)
    return Tokenizers(train_tokenizer(ENGLISH, config), train_tokenizer(CHINESE, config))


def transformer(kind: str = "bpe", *, seed: int = 0) -> Translator:
    """3 layers write, with 2 heads each."""
    pair = tokenizers(kind)
    torch.manual_seed(seed)
    config = TransformerConfig(
        width=8, heads=2, hidden=12, encoder_layers=1, decoder_layers=3, dropout=0.0, tie="target", limit=LIMIT
    )
    sizes = {"source_vocabulary": len(pair.source), "target_vocabulary": len(pair.target)}
    model = Transformer(config, **sizes, joint=False)
    oracles.shake(model, seed=seed + 1)
    return Translator(model, pair, langs=("en", "zh"), name="small")


class Diagonal(nn.Module):
    """Steps from word to word, as recurrent models do, with one head. Step t looks at source token t + `late`."""

    def __init__(self, late: int = 0, *, attends: bool = True) -> None:
        super().__init__()
        self.config, self.late, self.attends = SimpleNamespace(limit=LIMIT), late, attends
        self.align = Attends("decoder.align")
        self.unused = nn.Linear(1, 1)

    def forward(self, source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
        tap = self.align.tap()
        for step in range(target.shape[1]):
            places = (torch.full_like(lengths, step) + self.late).clamp(min=0).minimum(lengths - 1)
            weights = nn.functional.one_hot(places, source.shape[1]).float()[:, None, None]
            if tap is not None and self.attends:
                tap("weights", 0.9 * weights + 0.1 / lengths.float()[:, None, None, None])
        return target


def diagonal(late: int = 0, **options: Any) -> Translator:
    return Translator(Diagonal(late, **options), tokenizers("word"), langs=("en", "zh"), name="diagonal")
