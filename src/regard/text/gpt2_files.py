"""GPT-2's tokenizer in the files of others: tokenizer.json, or vocab.json and merges.txt."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as Backend
from tokenizers import models, pre_tokenizers

from regard.errors import BundleError
from regard.files import write_text
from regard.text import bert_files
from regard.text.bert_files import CHOICES, WHOLE, read_settings
from regard.text.byte_bpe import byte_bpe
from regard.text.tokenizer import Tokenizer

ENTRIES, MERGES, VERSION = "vocab.json", "merges.txt", "#version: 0.2"
SPACE_FIRST = "add_prefix_space"
INPUTS = ["input_ids", "attention_mask"]
ROLES = {"bos_token": "end", "eos_token": "end", "unk_token": "unknown"}


def read_tokenizer(directory: Path) -> Tokenizer:
    """The tokenizer of a directory. Unlike in a model of ours, a mark that is written in a text is that mark. Some
    have BERT's tokenizer, Chinese ones for instance: those are read as BERT's are."""
    choices = read_settings(directory / CHOICES)
    if (directory / WHOLE).exists() or not (directory / ENTRIES).exists():
        tokenizer = bert_files.read_tokenizer(directory)
        _heed(tokenizer.backend, choices)
    else:
        backend = _read(directory, prefix_space=bool(choices.get(SPACE_FIRST, False)))
        tokenizer = Tokenizer(bert_files.with_added(backend, directory, choices))
        tokenizer.backend.encode_special_tokens = False
    return tokenizer


def write_tokenizer(directory: Path, tokenizer: Tokenizer, *, limit: int) -> None:
    """The files that transformers reads; `limit`: most tokens of a text."""
    parts = json.loads(tokenizer.backend.to_str())
    marks = {theirs: str(tokenizer.backend.id_to_token(getattr(tokenizer, role))) for theirs, role in ROLES.items()}
    choices = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": limit, "model_input_names": INPUTS}
    if _is_gpt2s(parts):
        choices |= {"tokenizer_class": "GPT2Tokenizer", SPACE_FIRST: parts["pre_tokenizer"][SPACE_FIRST]}
        _write(directory, parts["model"])
    write_text(directory / WHOLE, tokenizer.backend.to_str(pretty=True))
    write_text(directory / CHOICES, json.dumps(choices | marks, indent=2, ensure_ascii=False) + "\n")


def _read(directory: Path, *, prefix_space: bool) -> Backend:
    paths = [directory / ENTRIES, directory / MERGES]
    if absent := [path for path in paths if not path.exists()]:
        raise BundleError(f"{absent[0]} is missing.", wanted=f"{WHOLE}, or {ENTRIES} and {MERGES}")
    try:
        return byte_bpe(*models.BPE.read_file(*map(str, paths)), prefix_space=prefix_space)
    except Exception as error:  # the backend raises bare Exceptions
        told = f"{paths[0]} or {MERGES} is damaged, or they do not belong together."
        raise BundleError(told, found=str(error), do="copy both again") from None


def _write(directory: Path, model: Mapping[str, Any]) -> None:
    ordered = dict(sorted(model["vocab"].items(), key=lambda entry: entry[1]))
    write_text(directory / ENTRIES, json.dumps(ordered, ensure_ascii=False) + "\n")
    write_text(directory / MERGES, "\n".join([VERSION, *(" ".join(merge) for merge in model["merges"]), ""]))


def _heed(backend: Backend, choices: Mapping[str, Any]) -> None:
    """tokenizer_config.json has the last word, where tokenizer.json is GPT-2's."""
    if SPACE_FIRST in choices and _is_gpt2s(json.loads(backend.to_str())):
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=bool(choices[SPACE_FIRST]))


def _is_gpt2s(parts: Mapping[str, Any]) -> bool:
    kinds = [(parts[part] or {}).get("type") for part in ("model", "pre_tokenizer")]
    return kinds == ["BPE", "ByteLevel"] and parts["pre_tokenizer"].get("use_regex", True)
