"""BERT's tokenizer in the files of others: tokenizer.json, or vocab.txt with the choices of tokenizer_config.json."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as Backend

from regard.errors import BundleError
from regard.files import write_text
from regard.text.tokenizer import BERT, Tokenizer

WHOLE, WORDS, CHOICES, ADDED = "tokenizer.json", "vocab.txt", "tokenizer_config.json", "added_tokens.json"
PLAIN = re.compile(r"(\w*Bert|Electra)Tokenizer(Fast)?")
"""Classes that find words as BERT does."""
NORMALISATION = {
    "lowercase": "do_lower_case",
    "strip_accents": "strip_accents",
    "handle_chinese_chars": "tokenize_chinese_chars",
}
"""What the normaliser calls a choice, and what tokenizer_config.json calls it."""
DEFAULTS = {"lowercase": True, "strip_accents": None, "handle_chinese_chars": True}
"""strip_accents None: where capitals go, accents go too."""
FRAMES = {"single": "{0}:0 $A:0 {1}:0", "pair": "{0}:0 $A:0 {1}:0 $B:1 {1}:1"}
"""[CLS] text [SEP], and [CLS] text [SEP] second [SEP]; the number is the segment."""
INPUTS = ["input_ids", "token_type_ids", "attention_mask"]
ROLES = {"pad_token": "pad", "unk_token": "unknown", "cls_token": "start", "sep_token": "end", "mask_token": "mask"}


def read_tokenizer(directory: Path) -> Tokenizer:
    """The tokenizer of a directory. Unlike in a model of ours, a mark that is written in a text ("[MASK]") is that
    mark: so it is for all who use these models."""
    choices = read_settings(directory / CHOICES)
    if (directory / WHOLE).exists():
        tokenizer = Tokenizer.load(directory / WHOLE)
        _heed(tokenizer.backend, choices)
    elif (directory / WORDS).exists():
        _refuse_other_words(directory, choices)
        chosen = {ours: choices.get(theirs, DEFAULTS[ours]) for ours, theirs in NORMALISATION.items()}
        tokenizer = Tokenizer(with_added(wordpiece(read_vocabulary(directory / WORDS), chosen), directory, choices))
    else:
        raise BundleError(f"{directory} has no tokenizer.", wanted=f"{WHOLE} or {WORDS}", do="copy it there too")
    tokenizer.backend.no_truncation()  # some files ask for 128 tokens, no more and no fewer
    tokenizer.backend.no_padding()
    tokenizer.backend.encode_special_tokens = False
    return tokenizer


def _refuse_other_words(directory: Path, choices: Mapping[str, Any]) -> None:
    """Japanese BERTs have a vocabulary like others, but find their words by a dictionary."""
    kind = choices.get("tokenizer_class") or read_settings(directory / "config.json").get("tokenizer_class")
    words = choices.get("word_tokenizer_type", "basic")
    if (kind and not PLAIN.fullmatch(str(kind))) or words != "basic":
        raise BundleError(
            f"{directory} finds words in a way that is not known here.",
            found=f"tokenizer_class {kind}, word_tokenizer_type {words}",
            wanted=f"BERT's own, or a {WHOLE}",
        )


def with_added(backend: Backend, directory: Path, choices: Mapping[str, Any]) -> Backend:
    """With the tokens that somebody has added to a vocabulary: added_tokens.json, or tokenizer_config.json."""
    said, listed = choices.get("added_tokens_decoder") or {}, read_settings(directory / ADDED)
    try:
        added = {int(id): (token, False) for token, id in listed.items()}
        added |= {int(id): (str(one["content"]), bool(one.get("special"))) for id, one in said.items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise BundleError(f"{ADDED} or {CHOICES} in {directory} is damaged.", do="copy it again") from None
    for id, (token, special) in sorted(added.items()):
        if backend.token_to_id(token) != id:
            add = backend.add_special_tokens if special else backend.add_tokens
            add([AddedToken(token, normalized=False)])
        if backend.token_to_id(token) != id:
            raise BundleError(
                f"The tokens that were added to the vocabulary in {directory} do not fit it.",
                found=f"{token} with the number {id}",
                wanted=f"the number {backend.token_to_id(token)}",
            )
    return backend


def read_vocabulary(path: Path) -> dict[str, int]:
    """A token a line; its id is the number of the line, from 0."""
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BundleError(f"{path} is damaged.", found=str(error), do="copy it again") from None
    lines = text.removesuffix("\n").split("\n")  # not splitlines(): some vocabularies have odd line ends as tokens
    return {line.rstrip(): id for id, line in enumerate(lines)}


def wordpiece(vocabulary: Mapping[str, int], normalisation: Mapping[str, Any]) -> Backend:
    """BERT's tokenizer with this vocabulary: control characters go, capitals and accents too if so chosen, each
    Chinese character is a word, and so is each punctuation mark; words are spelt in the longest pieces."""
    backend = Backend(models.WordPiece(dict(vocabulary), unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(clean_text=True, **normalisation)
    backend.pre_tokenizer, backend.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    backend.add_special_tokens([mark for mark in BERT if mark in vocabulary])
    return backend


def write_tokenizer(directory: Path, tokenizer: Tokenizer, *, limit: int) -> None:
    """The files that transformers reads; `limit`: most tokens of a text, marks included."""
    backend = Backend.from_str(tokenizer.backend.to_str())
    marks = {theirs: mark for theirs, role in ROLES.items() if (mark := _mark(tokenizer, role)) is not None}
    frames = {kind: frame.format(marks["cls_token"], marks["sep_token"]) for kind, frame in FRAMES.items()}
    ends = [(marks["cls_token"], tokenizer.start), (marks["sep_token"], tokenizer.end)]
    backend.post_processor = processors.TemplateProcessing(**frames, special_tokens=ends)
    write_text(directory / WHOLE, backend.to_str(pretty=True))
    parts = json.loads(backend.to_str())
    choices = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": limit, "model_input_names": INPUTS}
    choices |= marks
    if _is_berts(parts):
        choices["tokenizer_class"] = "BertTokenizer"
        choices |= {theirs: parts["normalizer"][ours] for ours, theirs in NORMALISATION.items()}
        _write_vocabulary(directory / WORDS, parts["model"]["vocab"])
    write_text(directory / CHOICES, json.dumps(choices, indent=2, ensure_ascii=False) + "\n")


def _write_vocabulary(path: Path, vocabulary: Mapping[str, int]) -> None:
    """A line has no number: ids that leave one out are left to tokenizer.json."""
    words = sorted(vocabulary, key=vocabulary.__getitem__)
    if [vocabulary[word] for word in words] == list(range(len(words))):
        write_text(path, "".join(f"{word}\n" for word in words))


def read_settings(path: Path) -> dict[str, Any]:
    """A JSON object of others; {} if there is no such file."""
    content = read_json(path)
    if not isinstance(content, dict):
        raise BundleError(f"{path} is damaged.", found=type(content).__name__, wanted="a JSON object")
    return content


def read_json(path: Path) -> Any:
    """What a JSON file of others holds; {} if there is no such file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (ValueError, OSError) as error:
        raise BundleError(f"{path} is damaged.", found=str(error), do="copy it again") from None


def _heed(backend: Backend, choices: Mapping[str, Any]) -> None:
    """tokenizer_config.json has the last word, where tokenizer.json is BERT's."""
    parts = json.loads(backend.to_str())
    asked = {ours: choices[theirs] for ours, theirs in NORMALISATION.items() if theirs in choices}
    if asked and _is_berts(parts):
        now = {key: value for key, value in parts["normalizer"].items() if key != "type"}
        backend.normalizer = normalizers.BertNormalizer(**(now | asked))


def _is_berts(parts: Mapping[str, Any]) -> bool:
    kinds = [(parts[part] or {}).get("type") for part in ("model", "normalizer", "pre_tokenizer")]
    return kinds == ["WordPiece", "BertNormalizer", "BertPreTokenizer"]


def _mark(tokenizer: Tokenizer, role: str) -> str | None:
    id = getattr(tokenizer, role)
    return None if id is None else str(tokenizer.backend.id_to_token(id))
