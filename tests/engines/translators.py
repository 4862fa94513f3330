"""Translators for engines: one that has learned something, random ones of every kind."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import torch

import regard
from regard.engines.cache import kept
from regard.engines.conversion import specified
from regard.engines.ctranslate2 import CTranslate2Engine
from regard.engines.opening import Converted, Precision
from regard.models.transformer import Transformer, TransformerConfig
from regard.tasks.pairs import Tokenizers
from regard.tasks.searching import Habits
from regard.tasks.translator import Translator
from tests import oracles
from tests.runs import run_tree, tiny_tree, write_reversals
from tests.tasks.aligners import tokenizers
from tests.tasks.libraries import lines
from tests.unchecked import unchecked

TEXTS = [line for line in lines(24, seed=3) if line.strip()]
SIZES: dict[str, Any] = {
    "width": 24, "heads": 3, "hidden": 40, "encoder_layers": 2, "decoder_layers": 3, "dropout": 0.0, "limit": 40,
}  # fmt: skip
KINDS: dict[str, dict[str, Any]] = {
    "norm before": {"norm": "pre", "tie": "target"},
    "norm after, gelu": {"norm": "post", "activation": "gelu", "tie": "target"},
    "learned positions, untied": {"positions": "learned", "tie": "none", "activation": "gelu-tanh"},
    "no positions, not scaled": {"positions": "none", "scaled": False, "tie": "target", "norm": "pre"},
    "as Marian": {"positions": "halves", "activation": "swish", "output_bias": True, "tie": "target"},
}
"""Every choice of the Transformer that changes what it computes."""


def random(kind: str = "norm before", *, limit: int | None = 14, **habits: Any) -> Translator:
    """Of a kind; its weights are chance, so that it hardly ever ends before `limit` tokens."""
    pair = tokenizers("bpe")
    config = TransformerConfig.parse({**SIZES, **KINDS[kind]})
    with torch.random.fork_rng():
        torch.manual_seed(7)
        model = Transformer(config, source_vocabulary=len(pair.source), target_vocabulary=len(pair.target), joint=False)
    oracles.shake(model, seed=7)
    for parameter in model.parameters():
        parameter.data *= 1.5
    return Translator(model, pair, langs=("en", "zh"), name="random", habits=Habits(limit=limit, **habits))


def joint() -> Translator:
    """One vocabulary, one matrix for all."""
    both = tokenizers("bpe").source
    config = TransformerConfig.parse({**SIZES, "tie": "all"})
    model = Transformer(config, source_vocabulary=len(both), target_vocabulary=len(both))
    oracles.shake(model, seed=7)
    return Translator(model, Tokenizers(both, both), habits=Habits(limit=14))


@cache
def learned_directory() -> Path:
    """Of a model that has learned to turn some letters around, and when to stop."""
    place = Path(mkdtemp(prefix="regard-tests-"))
    tree = tiny_tree(place, updates=250, warmup=50, learning_rate=5e-3, validate_every=250, save_every=250)
    tree["model"] |= {"width": 32, "heads": 4, "hidden": 64, "encoder_layers": 2}
    tree["data"]["train"] = [str(write_reversals(place / "more.tsv", 3000, seed=5))]
    tree["batch"] = {"tokens": 600}
    with unchecked():
        run_tree(tree, place / "run")
    return place / "run"


def learned() -> Translator:
    """It, fresh from the disk."""
    found: Translator = regard.load(learned_directory())
    return found


def letters(count: int, tmp_path: Path) -> list[str]:
    """For it, some longer than any that it has seen."""
    rows = write_reversals(tmp_path / "letters.tsv", count, seed=11, longest=9).read_text(encoding="utf-8")
    return [row.split("\t")[0] for row in rows.splitlines()]


def engine(
    translator: Translator, place: Path, precision: Precision = "float32", say: Callable[[str], None] = print
) -> CTranslate2Engine:
    """That of a translator."""
    directory = kept("a test", place, lambda at: specified(translator).save(str(at)))
    return CTranslate2Engine(translator, Converted(directory, "Translator", precision), say)
