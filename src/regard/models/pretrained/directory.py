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
from regard.models.pretrained.marian import MODEL, read_marian
from regard.models.pretrained.marian_habits import read_habits
from regard.models.pretrained.networks import Network, read_bert
from regard.text import Tokenizer, bert_files, gpt2_files, marian_files
from regard.text.bert_files import read_settings

CONFIG = "config.json"


class Reader(Protocol):
    """Makes a network of a config.json and its tensors."""

    def __call__(self, config: Mapping[str, Any], tensors: Mapping[str, Tensor], *, where: str) -> Network: ...


READERS: dict[str, Reader] = {"bert": read_bert, "gpt2": read_gpt2, "marian": read_marian}
TOKENIZERS: dict[str, Callable[[Path], tuple[Tokenizer, ...]]] = {
    "bert": lambda home: (bert_files.read_tokenizer(home),),
    "gpt2": lambda home: (gpt2_files.read_tokenizer(home),),
    "marian": marian_files.read_tokenizers,
}
"""By the model_type of config.json."""


@dataclass(frozen=True)
class Foreign:
    """A model of others. `config` is what the config.json of ours would say of it; `tokenizers`: one, or those of
    source and target."""

    config: Tree
    tokenizers: tuple[Tokenizer, ...]
    network: Network

    @property
    def spelling(self) -> tuple[Any, ...]:
        """What the tokenizers of its task are made of."""
        sides = len(self.tokenizers)
        return self.tokenizers if sides == 1 else (*self.tokenizers, self.config["tokenizer"]["joint"])


def is_foreign(directory: Path) -> bool:
    """Whether others made a directory: it has modules.json, or a config.json with a model_type."""
    return (directory / sentences.MODULES).exists() or "model_type" in read_settings(directory / CONFIG)


def check(directory: Path) -> None:
    """Refuses a model by its settings, before its weights are fetched."""
    if is_foreign(directory):
        _kind(sentences.transformer(directory))
        sentences.embedding(directory)


def _kind(home: Path) -> str:
    """The model_type of a directory, if it is one of ours."""
    config = read_settings(home / CONFIG)
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in READERS:
        raise BundleError(
            f"The model in {home} is of a kind that is not known here.",
            found=f"model_type {kind!r} in {home / CONFIG}",
            wanted=" or ".join(map(repr, READERS)),
        )
    if "quantization_config" in config:
        raise BundleError(
            f"The weights in {home} are rounded in a way that is not known here.",
            found=f"quantization_config in {home / CONFIG}",
            do="give the model as it was before",
        )
    return kind


def read(directory: Path) -> Foreign:
    """The parts of a directory as transformers or sentence-transformers write it."""
    home = sentences.transformer(directory)
    kind, config = _kind(home), read_settings(home / CONFIG)
    tensors, path = read_checkpoint(home)
    network = READERS[kind](config, tensors, where=str(path))
    tokenizers = TOKENIZERS[kind](home)
    for tokenizer, vocabulary in zip(tokenizers, ("vocab_size", "decoder_vocab_size"), strict=False):
        _check_sizes(config, vocabulary, tokenizer, home)
    if kind == "gpt2":
        _check_end(config, tokenizers[0], home)
    describe = _translator if network.task == "translation" else _reader
    return Foreign(describe(directory, config, network, tokenizers), tokenizers, network)


def _reader(directory: Path, config: Tree, network: Network, tokenizers: tuple[Tokenizer, ...]) -> Tree:
    """In our words, what has one text to read."""
    embedding = sentences.embedding(directory)
    if embedding.pop("lowercase", False):
        (tokenizer,) = tokenizers
        steps = [normalizers.Lowercase(), *filter(None, [tokenizer.backend.normalizer])]
        tokenizer.backend.normalizer = normalizers.Sequence(steps)
    return {
        "task": network.task,
        "model": {"name": config["model_type"], **network.settings},
        "tokenizer": {"joint": True},
        "data": {"language": ""},
        "parts": list(network.parts),
        "sides": [2, 1] if network.settings.get("segments", 1) > 1 else [1],
        "embedding": {**embedding, "limit": min(network.settings["limit"], embedding.get("limit", 10**9))},
    }


def _translator(directory: Path, config: Tree, network: Network, tokenizers: tuple[Tokenizer, ...]) -> Tree:
    """The same of what reads one language and writes another. Its marks must be those of its tokenizers."""
    source, target = tokenizers
    wanted = {"pad_token_id": target.pad, "decoder_start_token_id": target.start, "eos_token_id": target.end}
    for key, mark in wanted.items():
        if (found := config.get(key, mark)) not in (mark, [mark]):
            told = f"The vocabulary in {directory} does not belong to its model."
            raise BundleError(told, found=f"{key} {found} in {CONFIG}", wanted=f"{mark}, as in the vocabulary")
    spelling = {"kind": type(source.backend.model).__name__.lower(), "size": len(source)}
    return {
        "task": network.task,
        "model": {"name": MODEL, **network.settings},
        "tokenizer": {**spelling, "joint": not marian_files.is_separate(directory)},
        "data": {"langs": list(marian_files.read_langs(directory))},
        "habits": read_habits(directory, config, target),
    }


def _check_end(config: Tree, tokenizer: Tokenizer, home: Path) -> None:
    """The mark between two documents must be the one that the model knows. (A number that it has no row for, or that
    is an ordinary piece, is what transformers writes where nobody has said.)"""
    found, marks = config.get("eos_token_id"), tokenizer.backend.get_added_tokens_decoder()
    if (
        isinstance(found, int)
        and found < int(config.get("vocab_size", 0))
        and found in marks
        and found != tokenizer.end
    ):
        raise BundleError(
            f"The tokenizer in {home} does not belong to its model.",
            found=f"eos_token_id {found} in {CONFIG}",
            wanted=f"{tokenizer.end}, which the tokenizer has",
            do="give the tokenizer that the model was trained with",
        )


def _check_sizes(config: Tree, key: str, tokenizer: Tokenizer, home: Path) -> None:
    """A model may have more rows than the tokenizer has tokens, not fewer."""
    rows = int(config.get(key) or config.get("vocab_size") or len(tokenizer))
    if len(tokenizer) > rows:
        raise BundleError(
            f"The tokenizer in {home} does not belong to its model.",
            found=f"a token with the number {len(tokenizer) - 1}",
            wanted=f"numbers below {rows}, the {key} of {CONFIG}",
        )
