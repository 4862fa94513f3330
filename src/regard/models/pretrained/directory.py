"""A model directory of others as the parts of one of ours: settings, tokenizer, network."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tokenizers import normalizers
from torch import Tensor

from regard.config import Tree
from regard.errors import BundleError
from regard.models.pretrained import sentences
from regard.models.pretrained.checkpoint import read_checkpoint
from regard.models.pretrained.gpt2 import read_gpt2
from regard.models.pretrained.networks import Network, read_bert
from regard.text import Tokenizer, bert_files, gpt2_files
from regard.text.bert_files import read_settings

CONFIG = "config.json"


class Reader(Protocol):
    """Makes a network of a config.json and its tensors."""

    def __call__(self, config: Mapping[str, Any], tensors: Mapping[str, Tensor], *, where: str) -> Network: ...


READERS: dict[str, Reader] = {"bert": read_bert, "gpt2": read_gpt2}
TOKENIZERS: dict[str, Callable[[Path], Tokenizer]] = {
    "bert": bert_files.read_tokenizer,
    "gpt2": gpt2_files.read_tokenizer,
}
"""By the model_type of config.json."""


@dataclass(frozen=True)
class Foreign:
    """A model of others. `config` is what the config.json of ours would say of it."""

    config: Tree
    tokenizer: Tokenizer
    network: Network


def is_foreign(directory: Path) -> bool:
    """Whether others made a directory: it has modules.json, or a config.json with a model_type."""
    return (directory / sentences.MODULES).exists() or "model_type" in read_settings(directory / CONFIG)


def read(directory: Path) -> Foreign:
    """The parts of a directory as transformers or sentence-transformers write it."""
    home = sentences.transformer(directory)
    config = read_settings(home / CONFIG)
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in READERS:
        raise BundleError(
            f"The model in {home} is of a kind that is not known here.",
            found=f"model_type {kind!r} in {home / CONFIG}",
            wanted=" or ".join(map(repr, READERS)),
        )
    tensors, path = read_checkpoint(home)
    network = READERS[kind](config, tensors, where=str(path))
    embedding = sentences.embedding(directory)
    tokenizer = TOKENIZERS[kind](home)
    if embedding.pop("lowercase", False):
        steps = [normalizers.Lowercase(), *filter(None, [tokenizer.backend.normalizer])]
        tokenizer.backend.normalizer = normalizers.Sequence(steps)
    _check_sizes(config, tokenizer, home)
    return Foreign(_tree(kind, network, embedding), tokenizer, network)


def _tree(kind: str, network: Network, embedding: Tree) -> Tree:
    """In our words."""
    return {
        "task": network.task,
        "model": {"name": kind, **network.settings},
        "tokenizer": {"joint": True},
        "data": {"language": ""},
        "parts": list(network.parts),
        "sides": [2, 1] if network.settings.get("segments", 1) > 1 else [1],
        "embedding": {**embedding, "limit": min(network.settings["limit"], embedding.get("limit", 10**9))},
    }


def _check_sizes(config: Tree, tokenizer: Tokenizer, home: Path) -> None:
    """A model may have more rows than the tokenizer has tokens, not fewer."""
    rows = int(config.get("vocab_size", len(tokenizer)))
    highest = max(tokenizer.backend.get_vocab().values(), default=0)
    if highest >= rows:
        raise BundleError(
            f"The tokenizer in {home} does not belong to its model.",
            found=f"a token with the number {highest}",
            wanted=f"numbers below {rows}, the vocab_size of {CONFIG}",
        )
